import type { Notification } from "@delivery/domain/agents/Notification"
import { visible } from "../ui/format.ts"

/** What the rows of the inbox are: notifications below their tickets. */

export type InboxRow =
  | { readonly kind: "ticket"; readonly key: string; readonly identifier: string; readonly title: string }
  | { readonly kind: "notification"; readonly key: string; readonly one: Notification }

/** The ticket with the newest notification first; below each ticket the newest first. */
export const rowsOf = (notifications: ReadonlyArray<Notification>): ReadonlyArray<InboxRow> =>
  [...Map.groupBy(notifications, ({ message }) => message.ticket.id)].flatMap(([id, ofTicket]) => {
    const { identifier, title } = ofTicket[0]!.message.ticket
    return [
      { kind: "ticket" as const, key: id, identifier, title },
      ...ofTicket.map((one) => ({ kind: "notification" as const, key: one.id, one }))
    ]
  })

/** What an agent is asked to do. */
export const asks = {
  draft: "draft the ticket",
  refine: "refine the ticket",
  plan: "plan it",
  build: "build it",
  mention: "look at a comment"
} as const

/** Who did what, in words. */
export const whatOf = ({ kind, message }: Notification): string => {
  const agent = visible(message.agent.name)
  switch (kind) {
    case "message_received":
      return `${visible(message.sender.name)} asks ${agent} to ${asks[message.ask]}`
    case "message_completed":
      return `${agent} replied`
    case "message_declined":
      return `${agent} declined`
  }
}

/** What was said: the reply where there is one, else what was asked. */
export const saidOf = ({ kind, message }: Notification): string =>
  (kind === "message_received" ? message.note : message.reply) ?? ""
