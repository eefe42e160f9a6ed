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
  status: PathRef.annotate({ description: "The id of the status.", examples: ["0197a1b2-0000-7000-8000-000000000e11"] })
}
/** The statuses of a team or of the template. */
export const TicketStatuses = Schema.Struct({ statuses: Schema.Array(TicketStatus) }).annotate({
  identifier: "TicketStatuses",
  description: "The statuses of a team or of the template, in board order: by category, then position."
})
/** The query of a list of statuses. */
export const statusQuery = {
  team: Schema.optionalKey(
    Ref.annotate({ description: "The team, by key. Leave it out for the template.", examples: ["ENG"] })
  )
}

const nameInUse = 'The name "In review" is already in use.'

/** Ticket statuses (docs/contract.md, Ticket statuses). Changes require an admin or owner. */
export class TicketStatusesApi extends HttpApiGroup.make("ticketStatuses")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: statusQuery,
      success: TicketStatuses,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List ticket statuses",
        "Lists the statuses of a team in board order: by category, then by position. Without `team`, lists the template, of which each new team gets a copy. Any role may call this. Returns 404 if you cannot see the team."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateTicketStatus,
      success: TicketStatus.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Create a ticket status",
        "Adds a status, last in its category. A status of the template reaches only teams that are created later. Returns 409 `name_in_use` if the team (or the template) has a status of this name, in any case. Requires the role `admin` or `owner`.",
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
        "admin",
        "Update a ticket status",
        "Changes the fields that are sent. `isDefault: true` makes this the default status; `false` is refused (400): make another status the default instead. Only a `backlog` or `unstarted` status can be the default (409 `category_cannot_be_default`). Returns 409 `name_in_use` if the team (or the template) has another status of this name, in any case. Filters of views follow a new name; if the view can show another team that has a status of the old name, they have both names. Requires the role `admin` or `owner`.",
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
            description: "Another status of the team, by id, which the tickets get.",
            examples: ["0197a1b2-0000-7000-8000-000000000e12"]
          })
        )
      },
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Delete a ticket status",
        "Deletes the status. Its tickets get the status `moveTo` and keep their order; their `startedAt`, `completedAt` and `canceledAt` follow the category. Returns 404 if `moveTo` is a status of another team, and 400 if it is the same status. Returns 409 `is_default` for the default status, 409 `last_in_category` for the last status of its category, and 409 `has_tickets` if it has tickets and `moveTo` is missing. Filters of views lose the name, unless the view can show another team that has a status of it. Requires the role `admin` or `owner`.",
        {
          conflicts: {
            is_default: "The default status cannot be deleted. Make another one the default first.",
            last_in_category: "Every category keeps at least one status.",
            has_tickets: "Tickets have this status. Use moveTo to name the status that they get."
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
        "admin",
        "Reorder a ticket status",
        "Moves the status directly before or after another one of its category. The response lists all statuses of the team (or the template). Returns 404 if the other status belongs to another team, 400 if it is the same status, and 409 `other_category` if it has another category. Requires the role `admin` or `owner`.",
        { conflicts: { other_category: "A status can be ordered only within its category." } }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Ticket statuses",
      description:
        "The steps in the workflow of a team, in five fixed categories. Each team has its own statuses, copied from the template of the workspace when the team is created."
    })
  ) {}
