import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { Ref } from "../Text.ts"
import { CreateTicketStatus, ReorderTicketStatus, TicketStatus, UpdateTicketStatus } from "./TicketStatus.ts"

const path = `${workspacePath}/ticket-statuses` as const
const params = {
  slug: WorkspaceRef,
  status: PathRef.annotate({ description: "The status's id.", examples: ["0197a1b2-0000-7000-8000-000000000e11"] })
}
/** The statuses of a team or of the template. */
export const TicketStatuses = Schema.Struct({ statuses: Schema.Array(TicketStatus) }).annotate({
  identifier: "TicketStatuses",
  description: "The statuses of a team or of the template, in board order: by category, then position."
})
/** Whose statuses a list holds. */
export const statusQuery = {
  team: Schema.optionalKey(Ref.annotate({ description: "The team's key; without it the template.", examples: ["ENG"] }))
}

const nameInUse = 'The name "In review" is already in use.'

/** Ticket statuses (docs/contract.md, Ticket statuses). Changes need an admin or owner. */
export class TicketStatusesApi extends HttpApiGroup.make("ticketStatuses")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: statusQuery,
      success: TicketStatuses,
      error: NotFound
    }).annotateMerge(
      doc(
        "List ticket statuses",
        "Those of a team, or of the template that new teams begin with a copy of. In board order. Every role that sees the team."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateTicketStatus,
      success: TicketStatus.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Create a ticket status",
        "It goes last in its category. One added to the template reaches only teams created afterwards. A name in use in the team or template, in any case: 409 `name_in_use`. Admins and owners.",
        { conflicts: { name_in_use: nameInUse } }
      )
    ),
    HttpApiEndpoint.patch("update", `${path}/:status`, {
      params,
      payload: UpdateTicketStatus,
      success: TicketStatus,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Update a ticket status",
        "Changes the fields sent. `isDefault: true` moves the default here; only a backlog or unstarted status can be it (409 `category_cannot_be_default`), and `false` is refused (400). A name in use in the team or template, in any case: 409 `name_in_use`. Filters of saved views follow a new name: where the view can show another team that has a status of the old name, they hold both. Admins and owners.",
        {
          conflicts: {
            name_in_use: nameInUse,
            category_cannot_be_default: "Only a backlog or unstarted status can be the default."
          }
        }
      )
    ),
    HttpApiEndpoint.delete("delete", `${path}/:status`, {
      params,
      query: {
        moveTo: Schema.optionalKey(
          Ref.annotate({
            description: "The id of another status of the team, which the tickets go to.",
            examples: ["0197a1b2-0000-7000-8000-000000000e12"]
          })
        )
      },
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Delete a ticket status",
        "Its tickets go to `moveTo`, in the order they have; `startedAt`, `completedAt` and `canceledAt` follow the category. `moveTo` of another team: 404; the same status: 400. The default: 409 `is_default`; the last of its category: 409 `last_in_category`; tickets and no `moveTo`: 409 `has_tickets`. Filters of saved views lose the name, unless the view can show another team that has a status of it. Admins and owners.",
        {
          conflicts: {
            is_default: "The default status cannot be deleted. Make another one the default first.",
            last_in_category: "Every category keeps at least one status.",
            has_tickets: "Tickets have this status: say with moveTo where they go."
          }
        }
      )
    ),
    HttpApiEndpoint.post("reorder", `${path}/:status/reorder`, {
      params,
      payload: ReorderTicketStatus,
      success: TicketStatuses,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Reorder a ticket status",
        "Beside another status of its category; answers with all of the team or template. Send `before` or `after`. One of another team: 404; itself: 400; one of another category: 409 `other_category`. Admins and owners.",
        { conflicts: { other_category: "A status is ordered within its category." } }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Ticket statuses",
      description:
        "The steps of a team's workflow, in five fixed categories. Each team has its own, copied from the workspace's template when the team is created."
    })
  ) {}
