import { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import { AttemptReport, RanReport, TestReport } from "@delivery/domain/runs/TestEntry"
import { CleanupReport } from "@delivery/domain/runs/TestRun"
import { Shard } from "@delivery/domain/runs/Shard"
import { FinishRetry, RetryTestReport } from "@delivery/domain/runs/TestRetry"

/**
 * What a report may make a parser build, found in its bytes: `JSON.parse` would make 1 GB of 31 MiB of `{}`.
 *
 * A retry needs at most 5 attempts of each of 5,000 tests. With 20 of each, which have all fields and a file, a report has
 * 1,430,000 opening brackets, commas and colons. An attempt lies six levels deep, with its files.
 */
export const maxParts = 1_500_000
const maxDepth = 6
/** What a property that is ignored counts for: a parser keeps even those of one name until their object ends. */
const ignoredParts = 10

const reports = [
  FinishTestRun,
  FinishRetry,
  TestReport,
  RetryTestReport,
  RanReport,
  CleanupReport,
  Shard,
  AttemptReport.members[0]
]
const known: ReadonlySet<string> = new Set(reports.flatMap(({ fields }) => Object.keys(fields)))
const longestName = Math.max(...Array.from(known, (name) => name.length))

const code = (character: string): number => character.charCodeAt(0)
const [quote, backslash, comma, colon] = [code('"'), code("\\"), code(","), code(":")]
const [openObject, closeObject, openArray, closeArray] = [code("{"), code("}"), code("["), code("]")]
const [space, zero] = [code(" "), code("0")]

/**
 * Whether the bytes of a report can be parsed without harm. Properties that no report knows are ignored, as everywhere: here
 * they are overwritten with `"": 0`, since names that are never the same cost a parser most. Whether it is JSON at all, the
 * parser says.
 */
export const isParsable = (bytes: Buffer): boolean => {
  let parts = 0
  let depth = 0
  let name: Span = { start: 0, end: 0 }
  /** The value that is ignored, and the depth of its object. */
  let ignored: { readonly start: number; readonly depth: number } | undefined
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === quote) {
      name = { start: at + 1, end: endOfString(bytes, at) }
      at = name.end
      continue
    }
    const isOpening = byte === openObject || byte === openArray
    const isClosing = byte === closeObject || byte === closeArray
    if (!isOpening && !isClosing && byte !== comma && byte !== colon) continue
    if (isOpening) depth++
    if (ignored !== undefined) {
      if ((isClosing || byte === comma) && depth === ignored.depth) {
        overwrite(bytes, ignored.start, at, zero)
        ignored = undefined
      }
    } else if (byte === colon && !isKnown(bytes, name)) {
      overwrite(bytes, name.start - 1, name.end + 1, quote, quote)
      ignored = { start: at + 1, depth }
      parts += ignoredParts
    }
    if (isClosing) depth--
    else if (parts > maxParts || (ignored === undefined && (++parts > maxParts || depth > maxDepth))) return false
  }
  // A value that does not end is no JSON: the parser need not build what there is of it to say so.
  if (ignored !== undefined) overwrite(bytes, ignored.start, bytes.length, zero)
  return true
}

/** What lies between the quotes of a string. */
interface Span {
  readonly start: number
  readonly end: number
}

const isKnown = (bytes: Buffer, { end, start }: Span): boolean => {
  // Each character may be written as an escape of six.
  if (end - start > 6 * longestName) return false
  const name = bytes.toString("latin1", start, end)
  return known.has(name.includes("\\") ? unescaped(name) : name)
}

const unescaped = (name: string): string => {
  try {
    return JSON.parse(`"${name}"`)
  } catch {
    return name
  }
}

/** Where the string that begins here ends: at its closing quote, or with the bytes. */
const endOfString = (bytes: Buffer, start: number): number => {
  let end = bytes.indexOf(quote, start + 1)
  while (end !== -1) {
    let backslashes = 0
    while (bytes[end - 1 - backslashes] === backslash) backslashes++
    if (backslashes % 2 === 0) return end
    end = bytes.indexOf(quote, end + 1)
  }
  return bytes.length
}

/** Puts these characters and blanks in the place of the bytes. */
const overwrite = (bytes: Buffer, start: number, end: number, ...characters: ReadonlyArray<number>): void => {
  if (end - start < characters.length) return
  bytes.fill(space, start, end)
  for (const [index, character] of characters.entries()) bytes[start + index] = character
}
