/** Short ids of commits, as people see and type them, and the versions that they stand for. Pure. */

/** The shortest beginning of a commit that stands for it. */
const short = /^[0-9a-f]{7,39}$/i
const whole = /^[0-9a-f]{40}([0-9a-f]{24})?$/i
const commit = /^[0-9a-f]{7,64}$/i

/** Whether a version may be a commit: its id or the beginning of that. */
export const isCommit = (version: string): boolean => commit.test(version)

/** The digits that each way to write a commit has in common. */
export const beginOf = (version: string): string => version.slice(0, 7).toLowerCase()

/**
 * Whether two versions are one commit: one begins with the other, in whatever case. A number is no beginning of another one, as those of
 * builds and days are: only of a whole id.
 */
export const isSameCommit = (one: string, other: string): boolean => {
  if (!isCommit(one) || !isCommit(other)) return false
  const [short, long] = (one.length <= other.length ? [one, other] : [other, one]).map((id) => id.toLowerCase())
  return long === short || (long!.startsWith(short!) && (whole.test(long!) || /[a-f]/.test(short!)))
}

/** Of each version those that are the same commit, itself among them. What begins commits that differ is none of them. */
export const spellingsAmong = (versions: Iterable<string>): ((version: string) => ReadonlyArray<string>) => {
  const all = [...new Set(versions)]
  const ids = [...new Set(all.filter(isCommit).map((id) => id.toLowerCase()))].toSorted((a, b) => a.length - b.length)
  const known = new Map<string, boolean>()
  /** Whether an id begins one commit alone: of those that it begins, each begins the next longer one. */
  const isOne = (id: string): boolean => {
    const found = known.get(id)
    if (found !== undefined) return found
    const those = ids.filter((one) => one.length >= id.length && isSameCommit(one, id))
    const isChain = those.every((one, index) => index === 0 || isSameCommit(those[index - 1]!, one))
    known.set(id, isChain)
    return isChain
  }
  const isSame = (one: string, other: string): boolean =>
    isSameCommit(one, other) &&
    (one.length === other.length || isOne((one.length < other.length ? one : other).toLowerCase()))
  return (version) => all.filter((one) => one === version || isSame(one, version))
}

/** A version, and those of the known ones that are the same commit. What begins commits that differ is none of them. */
export const spellingsOf = (known: Iterable<string>, version: string): ReadonlyArray<string> =>
  spellingsAmong([version, ...known])(version)

/** Whether a version may be the beginning of another one: of the id of a commit. */
export const isShort = (version: string): boolean => short.test(version)

/** Those of the known versions that begin with a short id. */
export const begunBy = (known: Iterable<string>, id: string): ReadonlyArray<string> =>
  [...new Set(known)].filter((one) => whole.test(one) && one.toLowerCase().startsWith(id.toLowerCase()))

/** The version that a short id is the beginning of, where that is one alone; else the text. */
export const wholeOf = (known: Iterable<string>, text: string): string => {
  if (!isShort(text)) return text
  const all = new Set(known)
  if (all.has(text)) return text
  const found = begunBy(all, text)
  return found.length === 1 ? found[0]! : text
}
