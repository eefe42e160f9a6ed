import { fewMarks } from "../Text.ts"

/**
 * The order of titles in lists that a database reads page by page. Their keys, compared character by character, give the order of
 * `byName` for titles in the letters of English, with or without accents: case does not matter, and numbers count as numbers.
 * Letters of other scripts come behind these, by their code. The Catalan l· is an l and a dot here.
 */

/** As the collator of `byName` has them; after these come digits, then letters. */
const marks = " _-–—,;:!¡?¿.·'‹›\"«»()[]{}§¶@*/\\&#%†‡•`^°©®←→↑↓+±÷×<=>¬|¦~✓✗¤¢$£¥€"

/** Marks that the collator takes for others. */
const alike: ReadonlyMap<string, string> = new Map([
  ["‘", "'"],
  ["’", "'"],
  ["‚", "'"],
  ["‛", "'"],
  ["“", '"'],
  ["”", '"'],
  ["„", '"'],
  ["‟", '"']
])

/** The first character of keys: behind the blanks. */
const firstWeight = 0x21

const weights: ReadonlyMap<string, string> = new Map(
  [...marks, "0", ..."abcdefghijklmnopqrstuvwxyz"].map((char, index) => [
    char,
    String.fromCharCode(firstWeight + index)
  ])
)

const ofDigit = weights.get("0")!

/** Characters of a key. Titles that do not differ before are alike. */
const maxLength = 200

/** From here on UTF-16 and UTF-8 would order characters differently. */
const firstSurrogate = 0xd800

/** Of what has no weight: behind all that has one, by its code. */
const other = (char: string): string => {
  const code = char.codePointAt(0)!
  if (code < firstSurrogate) return String.fromCharCode(Math.min(code + 0x100, firstSurrogate - 1))
  return String.fromCharCode(firstSurrogate - 1, firstWeight + (code >> 10), firstWeight + (code & 0x3ff))
}

/** The key of a title: at most 200 characters, of which none is a surrogate. */
export const titleKey = (title: string): string => {
  const letters = fewMarks(title)
    .normalize("NFKD")
    .replaceAll(/[\p{M}\p{Cc}\p{Cf}]+/gu, dropped)
    .toLowerCase()
  let key = ""
  for (const [piece] of letters.matchAll(/\d+|\D/gu)) {
    if (key.length >= maxLength) break
    key += /^\d/.test(piece) ? numberKey(piece) : (weights.get(alike.get(piece) ?? piece) ?? other(piece))
  }
  return key.slice(0, maxLength)
}

/** Accents and what cannot be seen count for nothing. Tabs and ends of lines are blanks. */
const dropped = (run: string): string => (/[\t-\r]/.test(run) ? " " : "")

/** A longer number is greater; of two as long, that with the greater digits. */
const numberKey = (digits: string): string => {
  const value = digits.replace(/^0+/, "")
  return ofDigit + String.fromCharCode(firstWeight + Math.min(value.length, maxLength)) + value
}
