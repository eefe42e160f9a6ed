/** Versions of which some are one commit, and a plain rule of which, that knows nothing of the service's own. */

const one = "abcdef1234567890abcdef1234567890abcdef12"
const other = `abcdef1f${one.slice(8)}`

/** The 7 digits that both begin with are neither, once both are known; a number begins no other one. */
export const spelledVersions = [
  one,
  one.toUpperCase(),
  one.slice(0, 12),
  other,
  other.slice(0, 10),
  "abcdef1",
  "20261130",
  "202611301",
  "v1",
  null
]

const commitOf = (version: string): string | undefined =>
  [one, other].find((commit) => version.length > 7 && commit.startsWith(version.toLowerCase()))

/** Whether two of them are one commit, where all those are known. */
export const isOneVersion =
  (known: ReadonlyArray<string | null>) =>
  (a: string | null, b: string | null): boolean => {
    if (a === null || b === null || a === b) return a !== null && a === b
    const commits = new Set(known.flatMap((version) => (version === null ? [] : (commitOf(version) ?? []))))
    // The shortest one stands for the only commit that there is.
    const meant = (version: string) =>
      version === "abcdef1" && commits.size === 1 ? [...commits][0] : commitOf(version)
    return meant(a) !== undefined && meant(a) === meant(b)
  }
