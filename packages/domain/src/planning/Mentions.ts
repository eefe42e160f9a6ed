import { groupBy } from "../Groups.ts"
import type { AgentId, PersonId } from "../Ids.ts"
import { firstCharacters, isId } from "../Text.ts"

/** Whom a text mentions: each once, in the order of the first mention. */
export interface Mentions {
  readonly users: ReadonlyArray<PersonId>
  readonly agents: ReadonlyArray<AgentId>
}

/**
 * The mentions in a Markdown text: links `[@Claude](agent:ID)` and `[@Ana](user:ID)` (docs/contract.md, Comments). As in
 * CommonMark, code spans, fenced code, images and escaped text contain no links. Indented code is read as text, because
 * text in lists is indented too.
 */
export const mentionsIn = (markdown: string): Mentions => {
  const users = new Set<PersonId>()
  const agents = new Set<AgentId>()
  for (const paragraph of paragraphsOf(markdown)) {
    for (const { id, kind } of linksIn(paragraph)) {
      if (kind === "user") users.add(id as PersonId)
      else agents.add(id as AgentId)
    }
  }
  return { users: [...users], agents: [...agents] }
}

/**
 * The line in which a Markdown text mentions a person first, and of a long one what is around that, in at most `most` characters;
 * undefined where it mentions them nowhere.
 */
export const lineMentioning = (markdown: string, personId: PersonId, most: number): string | undefined => {
  const at = markdown.indexOf(`(user:${personId})`)
  if (at < 0) return undefined
  const from = markdown.lastIndexOf("\n", at) + 1
  const line = (markdown.slice(from).split(/[\r\n]/, 1)[0] ?? "").trimEnd()
  const mention = Math.max(0, line.lastIndexOf("[@", at - from))
  const before = line.length <= most ? 0 : Math.max(0, mention - Math.floor(most / 3))
  // Not amid a character of two units.
  const start = /[\udc00-\udfff]/.test(line.charAt(before)) ? before + 1 : before
  return `${start === 0 ? "" : "…"}${firstCharacters(line.slice(start), start === 0 ? most : most - 1)}`.trim()
}

/** What may come before the text of a line: blanks, and the marks of quotations and list items. */
const prefix = /^(?:\s|>|[-*+](?=\s)|\d{1,9}[.)](?=\s))*/
const fenceMarker = /^(?:`{3,}(?=[^`]*$)|~{3,})/
const headingOrRow = /^(?:#{1,6}\s|\|)/

/** The paragraphs of a text without its fenced code. Code spans and links do not cross them. */
const paragraphsOf = (markdown: string): ReadonlyArray<string> => {
  const paragraphs: Array<string> = []
  let lines: Array<string> = []
  let fence: { readonly marker: string; readonly quotes: number } | undefined
  const end = () => {
    if (lines.length > 0) paragraphs.push(lines.join("\n"))
    lines = []
  }
  for (const line of markdown.split(/\r\n|\r|\n/)) {
    const before = prefix.exec(line)![0]
    const text = line.slice(before.length)
    const quotes = before.split(">").length - 1
    // Fenced code ends with the quotation that it is in.
    if (fence !== undefined && quotes < fence.quotes) fence = undefined
    if (fence !== undefined) {
      const marker = text.trimEnd()
      const closes = marker.length >= fence.marker.length && marker === fence.marker[0]!.repeat(marker.length)
      if (closes) fence = undefined
      continue
    }
    const marker = fenceMarker.exec(text)?.[0]
    const isOfItsOwn = headingOrRow.test(text)
    if (marker !== undefined || text === "" || isOfItsOwn || /[^\s>]/.test(before)) end()
    if (marker !== undefined) fence = { marker, quotes }
    else if (text !== "") lines.push(text)
    if (isOfItsOwn) end()
  }
  end()
  return paragraphs
}

const link = /\[@(?:[^[\]\\`]|\\.)*\]\((user|agent):([0-9a-f-]{36})\)/isy

const linksIn = (text: string): ReadonlyArray<{ readonly kind: string; readonly id: string }> => {
  const links: Array<{ readonly kind: string; readonly id: string }> = []
  const afterSpan = codeSpans(text)
  for (let at = 0; at < text.length;) {
    const character = text[at]
    link.lastIndex = at
    const match = character === "[" ? link.exec(text) : null
    if (match !== null) {
      links.push({ kind: match[1]!.toLowerCase(), id: match[2]!.toLowerCase() })
      at = link.lastIndex
    } else if (character === "`") at = afterSpan(at)
    else if (character === "\\" || (character === "!" && text[at + 1] === "[")) at += 2
    else at += 1
  }
  return links.filter(({ id }) => isId(id))
}

/** For backticks at a position: where their code span ends; or where they end, if no span begins. Call it in the order of the text. */
const codeSpans = (text: string): ((at: number) => number) => {
  const runs = groupBy(text.matchAll(/`+/g), (run) => run[0].length)
  const passed = new Map<number, number>()
  return (at) => {
    let length = 1
    while (text[at + length] === "`") length += 1
    const closings = runs.get(length) ?? []
    let next = passed.get(length) ?? 0
    while (closings[next] !== undefined && closings[next]!.index <= at) next += 1
    passed.set(length, next)
    return (closings[next]?.index ?? at) + length
  }
}
