import { type Commit, maxCommits } from "@delivery/domain/catalog/Commit"
import { firstCharacters } from "@delivery/domain/Text"
import { git } from "@delivery/publishing"
import { cwd } from "node:process"

/** What git knows of a version: the commits that it has and the version before had not. */

/** The commit that a version names; undefined if git knows none. A version is never taken for an option. */
export const commitOf = async (version: string): Promise<string | undefined> =>
  version.startsWith("-")
    ? undefined
    : (await git(cwd(), "rev-parse", "--verify", "--quiet", `${version}^{commit}`)) || undefined

/** Whether the working tree has changes that are in no commit, as runs say of theirs. */
export const hasChanges = async (): Promise<boolean> =>
  ((await git(cwd(), "status", "--porcelain", "--untracked-files=no")) ?? "") !== ""

/** The whole id of a commit whose short one was given, as screens and logs show it; any other version as it is. */
export const wholeCommit = async (version: string): Promise<string> =>
  /^[0-9a-f]{7,39}$/i.test(version) ? ((await commitOf(version)) ?? version) : version

const [field, record] = ["\u001f", "\u001e"]

const parsed = (line: string): Commit => {
  const [sha = "", author = "", at = "", ...subject] = line.split(field)
  return {
    sha,
    author: firstCharacters(author, 255).toWellFormed(),
    at,
    subject: firstCharacters(subject.join(field), 2_000).toWellFormed()
  }
}

export interface CommitsFound {
  /** Newest first; undefined if they cannot be told. */
  readonly commits: ReadonlyArray<Commit> | undefined
  /** What a person should know about it. */
  readonly note: string | undefined
}

/** The commits of `version` that `previous` does not have. */
export const commitsSince = async (previous: string | null, version: string): Promise<CommitsFound> => {
  if (previous === null) return { commits: undefined, note: "No commits are sent: there was no version before." }
  const [from, to] = await Promise.all([commitOf(previous), commitOf(version)])
  if (from === undefined || to === undefined) {
    const unknown = from === undefined ? previous : version
    return { commits: undefined, note: `No commits are sent: git knows no commit ${unknown} here.` }
  }
  const format = `--format=%H%x1f%an%x1f%aI%x1f%s%x1e`
  const log = await git(cwd(), "log", `--max-count=${maxCommits + 1}`, format, `${from}..${to}`)
  if (log === undefined) return { commits: undefined, note: "No commits are sent: git cannot list them." }
  const lines = log.split(record).map((line) => line.replace(/^\r?\n/, ""))
  const commits = lines.filter((line) => line !== "").map(parsed)
  return commits.length > maxCommits
    ? { commits: commits.slice(0, maxCommits), note: `Only the newest ${maxCommits} commits are sent.` }
    : { commits, note: undefined }
}
