import { diffArrays } from "diff"

/** What two people made of one text, line by line, as one text. Pure. */

/** Lines of the text that both began with, and what stands in their place; where there are none, what was written before `from`. */
interface Change {
  readonly from: number
  readonly to: number
  readonly lines: ReadonlyArray<string>
}

/** Texts of which all lines differ take long to compare: they are not merged. */
const maxEdits = 2_000

const linesOf = (text: string): Array<string> => text.split(/\r\n?|\n/)

const changesOf = (base: Array<string>, text: string): ReadonlyArray<Change> | undefined => {
  const parts = diffArrays(base, linesOf(text), { maxEditLength: maxEdits })
  if (parts === undefined) return undefined
  const changes: Array<Change> = []
  let at = 0
  for (const { added, removed, value } of parts) {
    const to = added ? at : at + value.length
    if (added || removed) {
      const change = { from: at, to, lines: added ? value : [] }
      const last = changes.at(-1)
      // Lines that went and those that came in their place are one change.
      if (last?.to === at) changes.push({ ...changes.pop()!, to, lines: [...last.lines, ...change.lines] })
      else changes.push(change)
    }
    at = to
  }
  return changes
}

const isSame = (a: Change, b: Change): boolean =>
  a.from === b.from &&
  a.to === b.to &&
  a.lines.length === b.lines.length &&
  a.lines.every((line, i) => line === b.lines[i])

/** Whether it matters whose change comes first: both changed a line, or both wrote in the same place. */
const isConflict = (a: Change, b: Change): boolean =>
  (a.from < b.to && b.from < a.to) || (a.from === b.from && a.to === b.to)

/** The text with what both made of it; undefined where they changed the same lines. */
export const mergedText = (base: string, mine: string, theirs: string): string | undefined => {
  const lines = linesOf(base)
  const [ours, others] = [changesOf(lines, mine), changesOf(lines, theirs)]
  if (ours === undefined || others === undefined) return undefined
  const changes = [...ours, ...others.filter((one) => !ours.some((other) => isSame(one, other)))].toSorted(
    (a, b) => a.from - b.from || a.to - b.to
  )
  if (changes.some((one, i) => i > 0 && isConflict(changes[i - 1]!, one))) return undefined
  return changes
    .toReversed()
    .reduce((merged, { from, lines, to }) => merged.toSpliced(from, to - from, ...lines), lines)
    .join("\n")
}
