import { Schema } from "effect"
import { Body } from "../Body.ts"
import { TicketStatusId } from "../Ids.ts"
import { compare } from "../Order.ts"
import { Name, OneOf, Ref, undocumented } from "../Text.ts"
import { Place } from "./Reorder.ts"

/** The five fixed categories, in board order (docs/contract.md, Ticket statuses). */
export const StatusCategory = OneOf(["backlog", "unstarted", "started", "completed", "canceled"]).annotate({
  identifier: "StatusCategory",
  description: "What a status means, whatever its name. The category of a status never changes.",
  examples: ["started"]
})
export type StatusCategory = typeof StatusCategory.Type

/** The statuses in the template of a new workspace (docs/contract.md, Ticket statuses). */
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

/** Only a backlog or unstarted status can be the default, which new tickets get (docs/contract.md, Ticket statuses). */
export const canBeDefault = (category: StatusCategory): boolean => category === "backlog" || category === "unstarted"

/** A step in the workflow of a team, or in the template of the workspace (docs/contract.md, Ticket statuses). */
export const TicketStatus = Schema.Struct({
  id: TicketStatusId,
  name: Schema.String,
  category: StatusCategory,
  position: Schema.Int.annotate({
    description: "The place of the status in its category; the lowest comes first. There may be gaps."
  }),
  isDefault: Schema.Boolean.annotate({ description: "Whether new tickets get this status by default." })
}).annotate({
  identifier: "TicketStatus",
  description: "A step in the workflow of a team, or in the template of the workspace.",
  examples: [
    {
      id: TicketStatusId.make("0197a1b2-0000-7000-8000-000000000e11"),
      name: "In progress",
      category: "started",
      position: 0,
      isDefault: false
    }
  ]
})
export type TicketStatus = typeof TicketStatus.Type

/** Board order: by category, then by position. */
export const inBoardOrder = (
  a: Pick<TicketStatus, "id" | "category" | "position">,
  b: Pick<TicketStatus, "id" | "category" | "position">
): number =>
  StatusCategory.literals.indexOf(a.category) - StatusCategory.literals.indexOf(b.category) ||
  a.position - b.position ||
  compare(a.id, b.id)

export const CreateTicketStatus = Body({
  team: Schema.optionalKey(
    Schema.NullOr(Ref).annotate({
      description: "The team of the status, by key. Leave it out, or send null, for the template."
    })
  ),
  name: Name(40),
  category: StatusCategory
}).annotate({
  identifier: "CreateTicketStatus",
  description: "The fields of a new status.",
  examples: [{ team: "ENG", name: "In review", category: "started" }]
})
export type CreateTicketStatus = typeof CreateTicketStatus.Type

export const UpdateTicketStatus = Body({
  name: Schema.optionalKey(Name(40)),
  isDefault: Schema.optionalKey(
    Schema.Boolean.check(
      Schema.makeFilter<boolean>((isDefault) => isDefault || "Expected true: make another status the default instead", {
        toJsonSchema: undocumented
      })
    ).annotate({ description: "`true` makes this the default status, in place of the present one." })
  )
}).annotate({
  identifier: "UpdateTicketStatus",
  description: "The fields to change. The category of a status cannot change.",
  examples: [{ name: "Doing" }, { isDefault: true }]
})
export type UpdateTicketStatus = typeof UpdateTicketStatus.Type

/** The new place of a status in its category. */
export const ReorderTicketStatus = Place("id", "ReorderTicketStatus", "0197a1b2-0000-7000-8000-000000000e11")
export type ReorderTicketStatus = typeof ReorderTicketStatus.Type
