import { OneOf } from "../Text.ts"

/** The five fixed categories, in board order (service document, TicketStatus). */
export const StatusCategory = OneOf(["backlog", "unstarted", "started", "completed", "canceled"]).annotate({
  identifier: "StatusCategory",
  description: "What a status means, whatever its name; it cannot change.",
  examples: ["started"]
})
export type StatusCategory = typeof StatusCategory.Type

/** The statuses that the template of every new workspace begins with (contract, section 8). */
export const templateStatuses: ReadonlyArray<{
  readonly name: string
  readonly category: StatusCategory
  readonly isDefault: boolean
}> = [
  { name: "Backlog", category: "backlog", isDefault: true },
  { name: "Todo", category: "unstarted", isDefault: false },
  { name: "In progress", category: "started", isDefault: false },
  { name: "Done", category: "completed", isDefault: false },
  { name: "Canceled", category: "canceled", isDefault: false }
]
