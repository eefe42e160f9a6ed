/** Short ids of commits, as people see and type them, and the versions that they stand for. Pure. */

/** The shortest beginning of a commit that stands for it. */
const short = /^[0-9a-f]{7,39}$/i
const whole = /^[0-9a-f]{40}([0-9a-f]{24})?$/i

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
