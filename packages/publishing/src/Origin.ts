import type { Git, Machine } from "@delivery/client"
import { execFile } from "node:child_process"
import { hostname, platform } from "node:os"
import { promisify } from "node:util"
import { pullRequestOf } from "./Ci.ts"

/** Where a run comes from: the commit and the machine. */

const run = promisify(execFile)

/** The output of a git command, or undefined where there is no git, no repository or no commit. */
export const git = (cwd: string, ...args: ReadonlyArray<string>): Promise<string | undefined> =>
  run("git", args, { cwd, timeout: 10_000, maxBuffer: 64 * 1024 * 1024 }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined
  )

const firstOf = (...values: ReadonlyArray<string | undefined>): string | undefined =>
  values.find((value) => value !== undefined && value !== "")

const truncate = (text: string, length: number): string => text.replaceAll("\0", "").slice(0, length).toWellFormed()

/**
 * The commit of the working tree at `cwd`. git is asked first, because it knows what is checked out. The variables of the CI
 * name the branch, which a checkout by commit does not have. Of a pull request that the CI has merged for the tests, it is the head.
 */
export const readGit = async (
  cwd: string,
  environment: Readonly<Record<string, string | undefined>>,
  override: Partial<Git>
): Promise<Git> => {
  const [checkedOut, head, status, pullRequest] = await Promise.all([
    git(cwd, "rev-parse", "--verify", "HEAD"),
    git(cwd, "symbolic-ref", "--quiet", "--short", "HEAD"),
    git(cwd, "status", "--porcelain", "--untracked-files=no"),
    pullRequestOf(environment)
  ])
  const merged = pullRequest?.head ?? null
  const ofHead = merged !== null && (checkedOut ?? merged.merge) === merged.merge ? merged : null
  const sha = ofHead?.sha ?? checkedOut
  // A shallow checkout of the merge commit has no commit of the pull request.
  const subject = (await git(cwd, "log", "-1", "--format=%s", sha ?? "HEAD")) ?? ofHead?.title
  const branch = firstOf(
    head,
    environment["GITHUB_HEAD_REF"],
    environment["GITHUB_REF_NAME"],
    environment["CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"],
    environment["CI_COMMIT_REF_NAME"]
  )
  return {
    sha: truncate(
      firstOf(override.sha, sha, environment["GITHUB_SHA"], environment["CI_COMMIT_SHA"]) ?? "unknown",
      100
    ),
    branch: truncate(override.branch ?? branch ?? "unknown", 500),
    dirty: override.dirty ?? (status !== undefined && status !== ""),
    subject: truncate(override.subject ?? firstOf(subject, environment["CI_COMMIT_TITLE"]) ?? "", 2_000),
    ...(override.pullRequest === undefined
      ? pullRequest !== null && { pullRequest: pullRequest.number }
      : { pullRequest: override.pullRequest })
  }
}

export const readMachine = (): Machine => ({ hostname: truncate(hostname(), 255), platform: platform() })
