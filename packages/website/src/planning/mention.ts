import type { TicketOwner } from "@delivery/domain/planning/Ticket"
import { edited, mentionsOf, replaced, shownOf } from "./mentionText.ts"
import type { OwnerChoice } from "./owners.ts"

/** Mentions while they are typed. Pure. */

export interface Mention {
  /** Where the `@` stands. */
  readonly from: number
  /** What follows it, up to the caret. */
  readonly typed: string
}

/** The mention that is being typed before the caret. */
export const mentionAt = (text: string, caret: number): Mention | undefined => {
  const match = /(?:^|[\s(])@([\p{L}\p{N}._-]{0,40}(?: [\p{L}\p{N}._-]{1,40})?)$/u.exec(text.slice(0, caret))
  return match === null ? undefined : { from: caret - match[1]!.length - 1, typed: match[1]! }
}

const mostChoices = 6

/** Who may be meant: a word of the name begins with what was typed. */
export const choicesOf = (owners: ReadonlyArray<OwnerChoice>, typed: string): ReadonlyArray<OwnerChoice> => {
  const start = typed.toLowerCase()
  return owners
    .filter(({ label }) => {
      const name = label.toLowerCase()
      return name.startsWith(start) || name.split(/\s+/).some((word) => word.startsWith(start))
    })
    .slice(0, mostChoices)
}

/** What stands for it in Markdown. */
export const linkOf = ({ id, kind, name }: TicketOwner): string =>
  `[@${name.replaceAll(/[[\]\\`]/g, "\\$&")}](${kind}:${id})`

/** The Markdown with the mention that was typed where it is shown, and where the caret is then in what is shown. */
export const withMention = (
  text: string,
  { from, typed }: Mention,
  owner: TicketOwner
): { readonly text: string; readonly caret: number } => {
  const to = from + 1 + typed.length
  const link = linkOf(owner)
  const space = shownOf(text).startsWith(" ", to) ? "" : " "
  return { text: replaced(text, from, to, link + space), caret: from + shownOf(link).length + 1 }
}

/** What a field has seen of mentions: what was cut and is pasted, or deleted and undone, means the same person again. */
export interface SeenMentions {
  /** By how they are shown. */
  readonly known: Map<string, string>
  /** Texts before a mention of them was lost, by how they were shown. */
  readonly whole: Map<string, string>
}

/** How many such texts are kept. */
const mostWhole = 50

/** The Markdown after what is shown became `next`. */
export const typedText = (seen: SeenMentions, text: string, next: string, caret: number): string => {
  const mentions = mentionsOf(text)
  for (const [shown, source] of mentions) seen.known.set(shown, source)
  const { known, whole } = seen
  const typed = whole.get(next) ?? edited(text, next, caret, known)
  if (mentionsOf(typed).length < mentions.length) whole.set(shownOf(text), text)
  const [oldest] = whole.keys()
  if (whole.size > mostWhole && oldest !== undefined) whole.delete(oldest)
  return typed
}
