import type { ListItem } from "mdast"

/** Lists of tasks in Markdown. Pure. */

const beginning = /^(?:[-*+]|\d{1,9}[.)])\s+\[[ xX]\]/

/** The text with the box of an item ticked, or not any more; the same where it has moved. */
export const ticked = (text: string, { checked, position }: ListItem): string => {
  const start = position?.start.offset ?? 0
  const box = beginning.exec(text.slice(start, position?.end.offset))
  if (box === null) return text
  const at = start + box[0].length - 2
  return `${text.slice(0, at)}${checked === true ? " " : "x"}${text.slice(at + 1)}`
}
