import { firstCharacters } from "../Text.ts"
import type { Attempt } from "./TestEntry.ts"

/**
 * What failures have in common (docs/contract.md, Tests over time): two that differ in numbers, ids, paths and quoted text alone
 * say the same. Pure, and linear in the length of the text, whatever that is.
 */

/** How many characters of an error are looked at. A storage need not read more. */
export const comparedCharacters = 4_000

/** How many characters of an error are shown. */
const shownCharacters = 2_000

/** What a failed attempt says of its failure. */
export type FailureTexts = Pick<Attempt, "errorMessage" | "errorStack">

/** What a failure says: its message; where it has none, its stack. */
export const failureText = ({ errorMessage, errorStack }: FailureTexts): string =>
  errorMessage === null || errorMessage === "" ? (errorStack ?? "") : errorMessage

/** The text of a failure for people: without colours, and not too long. */
export const shownError = (text: string): string =>
  firstCharacters(withoutColours(firstCharacters(text, comparedCharacters)).trim(), shownCharacters)

/** The id of the group that a failure with this text is in. */
export const errorGroupOf = (text: string): string => fingerprint(foldError(text))

/** The text with what differs between failures of one group replaced. */
export const foldError = (text: string): string =>
  fold(message(withoutColours(firstCharacters(text, comparedCharacters))))

const escape = 0x1b

/** Without the sequences that colour text on terminals: an escape, `[`, parameters, and one final character. */
const withoutColours = (text: string): string => {
  if (!text.includes("\u001b[")) return text
  let plain = ""
  let from = 0
  for (let at = text.indexOf("\u001b["); at !== -1; at = text.indexOf("\u001b[", from)) {
    plain += text.slice(from, at)
    from = at + 2
    while (from < text.length && isBetween(text.charCodeAt(from), 0x20, 0x3f)) from++
    if (from < text.length && text.charCodeAt(from) !== escape) from++
  }
  return plain + text.slice(from)
}

const isBetween = (code: number, first: number, last: number): boolean => code >= first && code <= last

const isDigit = (code: number): boolean => isBetween(code, 0x30, 0x39)

/** Up to the stack, or the log of what led to the failure, whose length is another each time. */
const message = (text: string): string => {
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) {
    const line = text.slice(end + 1, end + 1 + maxIndent).trimStart()
    if (line.startsWith("at ") || line.startsWith("Call log:")) return text.slice(0, end)
  }
  return text
}

/** What stands before the first word of a line of a stack, and that word. */
const maxIndent = 40

/** Whatever closes what each of these opens. */
const closings: Readonly<Record<string, string>> = { '"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»" }

/** What characters are, as bits: one look-up tells all of it, and texts of others have millions of them. */
const Blank = 1
const Digit = 2
/** Letters of every script, and the underscore. */
const Letter = 4
const Bracket = 8
/** What may open a quotation. */
const Opening = 16
/** What closes one and opens none. */
const Closing = 32

/** All further characters are letters. */
const classified = 0x2100

const kinds = Uint8Array.from({ length: classified }, (_, code) => {
  const char = String.fromCharCode(code)
  const isLetter = isBetween(code, 0x61, 0x7a) || isBetween(code, 0x41, 0x5a) || code === 0x5f || code >= 0xc0
  return (
    (code <= 0x20 || "\u00a0\u2028\u2029".includes(char) ? Blank : 0) |
    (isDigit(code) ? Digit : 0) |
    (isLetter ? Letter : 0) |
    ("()[]{}<>".includes(char) ? Bracket : 0) |
    (Object.hasOwn(closings, char) ? Opening : 0) |
    ("”»".includes(char) ? Closing : 0)
  )
})

/** Behind the end of a text there is nothing. */
const is = (code: number, kind: number): boolean => ((code >= classified ? Letter : (kinds[code] ?? 0)) & kind) !== 0

const isWord = (code: number): boolean => is(code, Digit | Letter)

/** What ends a chunk: a blank, a quotation mark, a bracket; a comma or semicolon, unless it stands between digits. */
const endsChunk = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  if (code === 0x2c || code === 0x3b) return !(isDigit(text.charCodeAt(at - 1)) && isDigit(text.charCodeAt(at + 1)))
  return is(code, Blank | Bracket | Closing) || opensAt(text, at)
}

/** Whether a quotation may begin there. An apostrophe within a word begins none. */
const opensAt = (text: string, at: number): boolean =>
  is(text.charCodeAt(at), Opening) && !(at > 0 && isWord(text.charCodeAt(at - 1)))

const fold = (text: string): string => {
  const parts: Array<string> = []
  /** For each mark, up to where it is known that nothing closes it. */
  const unclosed: Record<string, number> = {}
  let isSpaced = false
  let at = 0
  const add = (part: string) => {
    if (isSpaced && parts.length > 0) parts.push(" ")
    isSpaced = false
    parts.push(part)
  }
  while (at < text.length) {
    if (is(text.charCodeAt(at), Blank)) {
      isSpaced = true
      at++
      continue
    }
    const closed = opensAt(text, at) ? closingOf(text, at, unclosed) : -1
    if (closed !== -1) {
      add("<text>")
      at = closed + 1
      continue
    }
    let end = at + 1
    if (!endsChunk(text, at)) while (end < text.length && !endsChunk(text, end)) end++
    add(foldChunk(text.slice(at, end)))
    at = end
  }
  return parts.join("")
}

/** Where the quotation ends that begins at `at`; -1 where it does not end on its line. */
const closingOf = (text: string, at: number, unclosed: Record<string, number>): number => {
  const opening = text[at]!
  if ((unclosed[opening] ?? -1) > at) return -1
  const closing = closings[opening]!
  let end = at + 1
  for (; end < text.length && text[end] !== "\n"; end++) {
    if (text[end] === "\\") end++
    else if (text[end] === closing && !(closing === "'" && isWord(text.charCodeAt(end + 1)))) return end
  }
  unclosed[opening] = end
  return -1
}

const foldChunk = (chunk: string): string =>
  isPath(chunk) ? "<path>" : /^-\d/.test(chunk) ? foldWords(chunk.slice(1)) : foldWords(chunk)

/** A URL, the path of a file, or what else has parts between slashes. */
const isPath = (chunk: string): boolean => (chunk.includes("/") || chunk.includes("\\")) && /[\p{L}\p{N}]/u.test(chunk)

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const uuidLength = 36

const foldWords = (chunk: string): string => {
  const parts: Array<string> = []
  for (let at = 0; at < chunk.length;) {
    if (!isWord(chunk.charCodeAt(at))) {
      parts.push(chunk[at]!)
      at++
      continue
    }
    if (
      chunk[at + 8] === "-" &&
      uuid.test(chunk.slice(at, at + uuidLength)) &&
      !isWord(chunk.charCodeAt(at + uuidLength))
    ) {
      parts.push("<id>")
      at += uuidLength
      continue
    }
    const end = wordEnd(chunk, at)
    parts.push(foldWord(chunk.slice(at, end)))
    at = end
  }
  return parts.join("")
}

/** The end of the word that begins at `at`. A number goes on behind a point or comma, if another digit follows. */
const wordEnd = (chunk: string, at: number): number => {
  let end = at
  let isNumber = true
  while (end < chunk.length) {
    const code = chunk.charCodeAt(end)
    if (isWord(code)) isNumber &&= isDigit(code)
    else if (!(isNumber && (code === 0x2e || code === 0x2c) && isDigit(chunk.charCodeAt(end + 1)))) break
    end++
  }
  return end
}

const foldWord = (word: string): string => {
  let hasDigit = false
  let isNumber = true
  let isHex = true
  let changes = 0
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at)
    const digit = isDigit(code)
    hasDigit ||= digit
    isNumber &&= isOfNumber(code)
    isHex &&= digit || isBetween(code | 0x20, 0x61, 0x66)
    if (at > 0 && digit !== isDigit(word.charCodeAt(at - 1))) changes++
  }
  if (!hasDigit) return word
  if (isNumber) return "<n>"
  // Letters and digits that take turns, or a hash. What has one number, such as `12ms` or `order12`, is a word with a number.
  if (changes > 1 && !isNumberWithUnit(word)) return "<id>"
  if (isHex && word.length >= minHash) return "<id>"
  return word.replaceAll(/\d[\d.,]*/g, "<n>")
}

const minHash = 8

/** Such as `1.5s`: the point is within a number. */
const isNumberWithUnit = (word: string): boolean => {
  let at = 0
  while (at < word.length && isOfNumber(word.charCodeAt(at))) at++
  if (at === 0) return false
  while (at < word.length && !isOfNumber(word.charCodeAt(at))) at++
  return at === word.length
}

const isOfNumber = (code: number): boolean => isDigit(code) || code === 0x2e || code === 0x2c

/** 64 bits of a hash of the text, in hexadecimal. */
const fingerprint = (text: string): string => {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 2_654_435_761)
    b = Math.imul(b ^ code, 1_597_334_677)
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909)
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909)
  return hex(b) + hex(a)
}

const hex = (bits: number): string => (bits >>> 0).toString(16).padStart(8, "0")
