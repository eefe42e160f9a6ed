import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Notification } from "@delivery/domain/agents/Notification"
import type { TicketNotification } from "@delivery/domain/planning/TicketNotification"
import { actorName } from "../api/actors.ts"
import { anchorOf, replyId } from "../planning/anchors.ts"

/** What the inbox shows: notifications about messages to agents and about tickets, below their tickets. Pure. */

export interface Notice {
  readonly id: string
  /** Which of the API's two kinds of notifications it is. */
  readonly source: "message" | "ticket"
  readonly ticket: { readonly id: string; readonly identifier: string; readonly title: string }
  /** Who did what, in words. */
  readonly what: string
  /** What of the page of the ticket it is about; nothing where it is the ticket. */
  readonly at?: string | undefined
  /** What was said, in Markdown. */
  readonly said: string
  readonly readAt: string | null
  readonly createdAt: string
  /** The message as it is now. */
  readonly message?: AgentMessage
}

/** What an agent is asked to do. */
export const asks = {
  draft: "draft the ticket",
  refine: "refine the ticket",
  plan: "plan it",
  build: "build it",
  mention: "look at a comment"
} as const

const whatOfMessage = ({ kind, message }: Notification): string => {
  const agent = message.agent.name
  switch (kind) {
    case "message_received":
      return `${message.sender.name} asks ${agent} to ${asks[message.ask]}`
    case "message_completed":
      return `${agent} replied`
    case "message_declined":
      return `${agent} declined`
  }
}

const whatOfTicket = ({ actor, kind }: TicketNotification): string => {
  const who = actorName(actor)
  switch (kind) {
    case "ticket_assigned":
      return `${who} assigned this to you`
    case "ticket_mentioned":
      return `${who} mentioned you`
    case "ticket_commented":
      return `${who} commented`
    case "ticket_mute_ended":
      return "The mute is over: the tests count again"
  }
}

const ofMessage = (one: Notification): Notice => ({
  id: one.id,
  source: "message",
  ticket: one.message.ticket,
  what: whatOfMessage(one),
  at: anchorOf(one.kind === "message_received" ? one.message.id : replyId(one.message.id)),
  said: (one.kind === "message_received" ? one.message.note : one.message.reply) ?? "",
  readAt: one.readAt,
  createdAt: one.createdAt,
  message: one.message
})

const ofTicket = (one: TicketNotification): Notice => ({
  id: one.id,
  source: "ticket",
  ticket: one.ticket,
  what: whatOfTicket(one),
  ...(one.comment === null ? {} : { at: anchorOf(one.comment.id) }),
  said: one.comment?.body ?? one.excerpt ?? "",
  readAt: one.readAt,
  createdAt: one.createdAt
})

/** Newest first. What the person asked of their own agents is no news to them. */
export const noticesOf = (
  me: string | undefined,
  ofMessages: ReadonlyArray<Notification>,
  ofTickets: ReadonlyArray<TicketNotification>
): ReadonlyArray<Notice> =>
  [
    ...ofMessages.filter(({ kind, message }) => kind !== "message_received" || message.sender.id !== me).map(ofMessage),
    ...ofTickets.map(ofTicket)
  ].toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt) || (a.id < b.id ? 1 : -1))

export const hasEnded = ({ status }: Pick<AgentMessage, "status">): boolean =>
  status === "completed" || status === "declined"

/** Whether it tells of a message to the person's agent that has ended since, and so waits for no answer. What an agent replied waits to be read. */
export const isAnswered = ({ at, message }: Notice): boolean =>
  message !== undefined && at === anchorOf(message.id) && hasEnded(message)

export type InboxRow =
  | { readonly kind: "ticket"; readonly key: string; readonly identifier: string; readonly title: string }
  | { readonly kind: "notification"; readonly key: string; readonly one: Notice }

/** The ticket with the newest notification first; below each ticket the newest first. */
export const rowsOf = (notices: ReadonlyArray<Notice>): ReadonlyArray<InboxRow> =>
  [...Map.groupBy(notices, ({ ticket }) => ticket.id)].flatMap(([id, ofTicket]) => {
    const { identifier, title } = ofTicket[0]!.ticket
    return [
      { kind: "ticket" as const, key: id, identifier, title },
      ...ofTicket.map((one) => ({ kind: "notification" as const, key: one.id, one }))
    ]
  })

const links = /!?\[([^\]\n]*)\]\([^)\n]*\)/g
/** One that the cut has left without its end. */
const cutLink = /!?\[([^\]\n]*)\]\([^)\n]*$/
const marks =
  /\*\*|__|~~|`+|(?<![\p{L}\p{N}*])\*(?=\S)|(?<=\S)\*(?![\p{L}\p{N}*])|(?<![\p{L}\p{N}_])_(?=\S)|(?<=\S)_(?![\p{L}\p{N}_])/gu
/** The lines of a table below its head, and lines across the page. */
const rules = /^[ \t]*(?:\|?[ \t]*:?-{3,}:?[ \t|:-]*|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/gm
const cells = /^[ \t]*\||\|[ \t]*$/gm
/** What a fence says of its code. */
const fences = /^[ \t]*(?:```|~~~)[^\n]*$/gm
const starts = /^\s*(?:#{1,6}|>|[-*+](?: \[[ xX]\])?|\d+\.)\s+/gm

/** The beginning of a text in Markdown as one line without its marks. */
export const lineOf = (markdown: string): string =>
  markdown
    .slice(0, 300)
    .replace(links, "$1")
    .replace(cutLink, "$1")
    .replace(fences, "")
    .replace(rules, "")
    .replace(cells, "")
    .replace(starts, "")
    .replace(marks, "")
    .replaceAll(/\s+/g, " ")
    .trim()
