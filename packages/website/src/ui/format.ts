/** How times, durations, counts and names are written. Pure. */

const thin = "\u2009"
const space = "\u00a0"

const plain = new Intl.NumberFormat("en", { useGrouping: true, maximumFractionDigits: 0 })

/** As many characters as a wide heading shows in its line. */
export const oneLine = 70

/** A count with thin spaces between its thousands: `12 345`. */
export const formatCount = (count: number): string => plain.format(count).replaceAll(",", thin)

/** A count with its noun: `1 test`, `1 234 tests`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${formatCount(count)}${space}${count === 1 ? noun : plural}`

const steps = [
  [60, "s", 1],
  [3_600, "m", 60],
  [86_400, "h", 3_600],
  [7 * 86_400, "d", 86_400]
] as const

const dayOfYear = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" })
const dayOfAnyYear = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" })

/** An instant beside now, in the units of durations: `now`, `5 m ago`, `in 3 d`; beyond a week the day: `Nov 3`. */
export const formatRelative = (at: Date, now: Date): string => {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1_000)
  const size = Math.abs(seconds)
  if (size < 10) return "now"
  for (const [limit, unit, length] of steps) {
    if (size >= limit) continue
    const text = `${Math.trunc(size / length)}${space}${unit}`
    return seconds < 0 ? `${text}${space}ago` : `in${space}${text}`
  }
  return at.getFullYear() === now.getFullYear() ? dayOfYear.format(at) : dayOfAnyYear.format(at)
}

const absolute = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "long" })

/** An instant with its zone, in full. */
export const formatAbsolute = (at: Date): string => absolute.format(at)

/** The start of a SHA. Other versions stay as they are. */
export { shortened as shortSha } from "@delivery/domain/catalog/ShortVersion"

/** A text in two parts, of which the second must not be cut: `src/checkout/` and `pay.spec.ts`. */
export const splitEnd = (text: string, end = 14): readonly [start: string, end: string] => {
  const slash = text.lastIndexOf("/")
  const from = slash > 0 && text.length - slash <= 40 ? slash : Math.max(0, text.length - end)
  return text.length <= end ? ["", text] : [text.slice(0, from), text.slice(from)]
}

/** Control characters that could hide or turn text, made visible: `\u{202E}`. Line breaks and tabs stay. */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character === "\n" || character === "\t" || character === "\u200d"
      ? character
      : `\\u{${character.codePointAt(0)!.toString(16).toUpperCase()}}`
  )
