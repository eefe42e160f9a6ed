/** Tickets in a list that was pasted: a line is a ticket, and what is indented below it is its description. Pure. */

/** As many as are made at once. */
export const mostPasted = 100

/** The longest title, in characters. */
const longest = 200

const mark = /^(?:[-*+•]|\d{1,3}[.)])\s+/
const box = /^\[[ xX]\]\s+/

export interface Pasted {
  readonly title: string
  /** What is indented below the line, after what of the line is too long for a title; none is empty. */
  readonly description: string
  readonly isTooLong: boolean
  /** As it was pasted. */
  readonly source: string
}

const tab = 4
const indentOf = (line: string): number => {
  const space = /^\s*/.exec(line)![0]
  return Array.from(space).reduce((sum, one) => sum + (one === "\t" ? tab : 1), 0)
}

/** By how much a line stands in that belongs to the one above: one space is none. */
const least = 2

/** The lines without the space that all of them begin with. */
const dedented = (lines: ReadonlyArray<string>): string => {
  const full = lines.filter((line) => line.trim() !== "")
  const space = Math.min(...full.map((line) => line.length - line.trimStart().length))
  return lines
    .map((line) => line.slice(space))
    .join("\n")
    .trim()
}

/** The words that a title has room for, and the others. */
const divided = (text: string): { readonly title: string; readonly rest: string } => {
  const all = Array.from(text)
  if (all.length <= longest) return { title: text, rest: "" }
  const room = all.slice(0, longest - 1).join("")
  const space = room.lastIndexOf(" ")
  const title = (space > longest / 2 ? room.slice(0, space) : room).trimEnd()
  return { title: `${title}…`, rest: `…${text.slice(title.length).trimStart()}` }
}

const ticketOf = (lines: ReadonlyArray<string>): Pasted => {
  const [first = "", ...below] = lines
  const { rest, title } = divided(first.trim().replace(mark, "").replace(box, "").trim())
  const description = [rest, below.some((line) => line.trim() !== "") ? dedented(below) : ""]
  return {
    title,
    description: description.filter((part) => part !== "").join("\n\n"),
    isTooLong: rest !== "",
    source: lines.join("\n").trimEnd()
  }
}

export const ticketsOf = (text: string): ReadonlyArray<Pasted> => {
  const lines = text.split(/\r\n|\r|\n/)
  const base = Math.min(...lines.filter((line) => line.trim() !== "").map(indentOf))
  const tickets: Array<Array<string>> = []
  for (const line of lines) {
    const isBelow = line.trim() === "" || indentOf(line) >= base + least
    if (isBelow && tickets.length > 0) tickets.at(-1)!.push(line)
    else if (line.trim() !== "") tickets.push([line])
  }
  return tickets.map(ticketOf).filter(({ title }) => title !== "")
}
