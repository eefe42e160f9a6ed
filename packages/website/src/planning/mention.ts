import type { TicketOwner } from "@delivery/domain/planning/Ticket"
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
const linkOf = ({ id, kind, name }: TicketOwner): string => `[@${name.replaceAll(/[[\]\\`]/g, "\\$&")}](${kind}:${id})`

/** The text with the mention, and where the caret is then. */
export const withMention = (
  text: string,
  { from, typed }: Mention,
  owner: TicketOwner
): { readonly text: string; readonly caret: number } => {
  const rest = text.slice(from + 1 + typed.length)
  const link = `${linkOf(owner)}${rest.startsWith(" ") ? "" : " "}`
  return { text: text.slice(0, from) + link + rest, caret: from + link.length + (rest.startsWith(" ") ? 1 : 0) }
}
