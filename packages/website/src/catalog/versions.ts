import type { Release, ReleasedCommit } from "@delivery/domain/releases/Release"

/** How two deployments of a product stand to each other, by their releases, newest first. Pure. */

export interface Lead {
  /** The releases that the other deployment does not have yet, newest first. */
  readonly releases: ReadonlyArray<Release>
  /** Their commits, newest first, each once. */
  readonly commits: ReadonlyArray<ReleasedCommit>
}

/** What came since a version was here; undefined where it never was, or no release names it. */
export const since = (releases: ReadonlyArray<Release>, version: string | null): Lead | undefined => {
  const at = version === null ? -1 : releases.findIndex((release) => release.version === version)
  if (at < 0) return undefined
  const newer = releases.slice(0, at)
  const commits = new Map(newer.flatMap((release) => release.commits).map((commit) => [commit.sha, commit]))
  return { releases: newer, commits: [...commits.values()] }
}
