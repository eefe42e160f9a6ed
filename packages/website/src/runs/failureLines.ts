import { withoutColours } from "../ui/colours.ts"
import { firstLine } from "./failureRows.ts"

/** A failure in one line: what it says first, and what was expected and came, wherever it says so. Pure. */

/** What the labels of Playwright, Jest and others name. */
const telling = /^\s*((?:locator|selector|expected|received|actual)\b[^:]{0,40}:\s*\S.*)$/i

/** A line of the difference that Vitest and Jest print: but not its legend, nor what both have. */
const different = /^\s*([-+] (?!Expected\b|Received\b|Actual\b)\s*\S.*)$/

/** Where the stack begins, or the log of what led to the failure, or the source. */
const isEnd = (line: string): boolean => /^\s*(?:at |Call log:|\d+ \||> \d+ \|)/.test(line)

const shownDetails = 3

/** The note that assertions carry: which comparison it was says nothing that the assertion does not. */
const comparison = / \/\/ (?:Object\.is|deep|strict)\b.*$/

export const failureLines = (text: string): { readonly first: string; readonly details: string } => {
  const message = withoutColours(text)
  const first = firstLine(message)
  const lines = message.split("\n")
  const below = lines.slice(lines.findIndex((line) => line.trim() !== "") + 1)
  const end = below.findIndex(isEnd)
  const said = (end === -1 ? below : below.slice(0, end)).filter((line) => line.trim() !== "")
  const found = said.flatMap((line) => (telling.exec(line) ?? different.exec(line))?.[1] ?? [])
  const chosen = found.length > 0 ? found.slice(0, shownDetails) : said.slice(0, 1)
  return {
    first: first.replace(comparison, "").trim(),
    details: chosen.map((line) => line.trim().replaceAll(/\s+/g, " ").slice(0, 300)).join(" · ")
  }
}
