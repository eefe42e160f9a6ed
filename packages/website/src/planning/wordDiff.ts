import { diffWordsWithSpace } from "diff"
import type { DiffPart } from "../ui/WordDiff.tsx"
import { shownOf } from "./mentionText.ts"

/** What changed between two texts, word by word. Pure. */

/** How much of what stays is shown beside what does not. */
const context = 160
/** Texts of which all words differ take long to compare: then they count as replaced. */
const maxEdits = 1_000

/** The last of a text up to a length, and the first: cut between words. */
const endOf = (text: string): string => text.slice(-context).replace(/^\S*\s/u, "")
const startOf = (text: string): string => text.slice(0, context).replace(/\s\S*$/u, "")

const shortened = (text: string, isFirst: boolean, isLast: boolean): string => {
  if (text.length <= (isFirst || isLast ? context : 2 * context) + 1) return text
  if (isFirst) return `…\u00a0${endOf(text)}`
  return isLast ? `${startOf(text)}\u00a0…` : `${startOf(text)}\n…\n${endOf(text)}`
}

export const wordsBetween = (before: string | null, after: string | null): ReadonlyArray<DiffPart> => {
  const [from, to] = [before ?? "", after ?? ""]
  const [shownFrom, shownTo] = [shownOf(from), shownOf(to)]
  // Where only whom a mention means has changed, it is seen in the Markdown alone.
  const [a, b] = shownFrom === shownTo ? [from, to] : [shownFrom, shownTo]
  const parts = diffWordsWithSpace(a, b, { maxEditLength: maxEdits }) ?? [
    { added: false, removed: true, value: a },
    { added: true, removed: false, value: b }
  ]
  return parts
    .filter(({ value }) => value !== "")
    .map(({ added, removed, value }, index, { length }): DiffPart => {
      if (added) return { kind: "added", text: value }
      if (removed) return { kind: "removed", text: value }
      return { kind: "same", text: shortened(value, index === 0, index === length - 1) }
    })
}
