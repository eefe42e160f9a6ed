import { diffLines } from "diff"
import type { DiffLine } from "../ui/Diff.tsx"

/** What changed between two texts, line by line. Pure. */

/** Lines that stay are shown where they stand beside one that does not. */
const context = 1
/** Texts of which all lines differ take long to compare: then they count as replaced. */
const maxEdits = 2_000

const linesOf = (text: string): ReadonlyArray<string> => (text === "" ? [] : text.replace(/\n$/, "").split("\n"))

const shortened = (lines: ReadonlyArray<string>, isFirst: boolean, isLast: boolean): ReadonlyArray<string> => {
  const before = isFirst ? 0 : context
  const after = isLast ? 0 : context
  return lines.length <= before + after + 1
    ? lines
    : [...lines.slice(0, before), "…", ...lines.slice(lines.length - after)]
}

export const changesBetween = (before: string, after: string): ReadonlyArray<DiffLine> => {
  // The last line counts as the others, whether or not a line ends it.
  const ended = (text: string) => (text === "" ? "" : `${text}\n`)
  const [from, to] = [ended(before), ended(after)]
  const parts = diffLines(from, to, { maxEditLength: maxEdits }) ?? [
    { added: false, removed: true, value: from },
    { added: true, removed: false, value: to }
  ]
  return parts.flatMap(({ added, removed, value }, index): ReadonlyArray<DiffLine> => {
    const lines = linesOf(value)
    if (added) return lines.map((text) => ({ kind: "added", text }))
    if (removed) return lines.map((text) => ({ kind: "removed", text }))
    return shortened(lines, index === 0, index === parts.length - 1).map((text) => ({ kind: "same", text }))
  })
}
