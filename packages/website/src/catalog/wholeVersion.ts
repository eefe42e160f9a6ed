/** Short ids of commits, as people see and type them, and the versions that they stand for. Pure. */

/** The shortest beginning of a commit that stands for it. */
const short = /^[0-9a-f]{7,39}$/i
const whole = /^[0-9a-f]{40}([0-9a-f]{24})?$/i

/** The version that a short id is the beginning of, where that is one alone; else the text. */
export const wholeOf = (known: Iterable<string>, text: string): string => {
  if (!short.test(text)) return text
  const all = new Set(known)
  if (all.has(text)) return text
  const found = [...all].filter((one) => whole.test(one) && one.toLowerCase().startsWith(text.toLowerCase()))
  return found.length === 1 ? found[0]! : text
}
