import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { Ref } from "../Text.ts"
import { TicketList } from "./Ticket.ts"
import { CreateView, ReorderView, UpdateView, View } from "./View.ts"

const path = `${workspacePath}/views` as const
const one = `${path}/:view` as const
const params = {
  slug: WorkspaceRef,
  view: PathRef.annotate({ description: "The view's id.", examples: ["0197a1b2-0000-7000-8000-000000000f21"] })
}
const error = [Forbidden, NotFound, Conflict] as const
const archived = "The project is archived."

/** Views (docs/contract.md, Views). Changes need a member. */
export class ViewsApi extends HttpApiGroup.make("views")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: {
        team: Schema.optionalKey(Ref.annotate({ description: "A team's key.", examples: ["ENG"] })),
        project: Schema.optionalKey(Ref.annotate({ description: "A project's slug.", examples: ["checkout"] }))
      },
      success: Schema.Struct({ views: Schema.Array(View) }).annotate({
        identifier: "Views",
        description: "The views of one scope, in their order."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "List views",
        "Those of the workspace, of a team or of a project, archived or not, in their order. Both a team and a project: 400; one that does not exist for you: 404. Every role."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateView,
      success: View.pipe(HttpApiSchema.status(201)),
      error
    }).annotateMerge(
      doc(
        "Create a view",
        "It goes last in its scope, and everybody who sees the scope sees it. Members and up. A team or project of the scope, or an owner, tag, team or project of the filters, that does not exist for you: 404. Names of statuses are kept as they are sent. An archived team or project of the scope: 409 `archived`.",
        { conflicts: { archived } }
      )
    ),
    HttpApiEndpoint.patch("update", one, { params, payload: UpdateView, success: View, error }).annotateMerge(
      doc(
        "Update a view",
        "Changes the fields sent. `filters` replaces all filters: those left out no longer restrict; tags, teams and projects that you do not see stay. Members and up. An archived team or project of the scope: 409 `archived`.",
        { conflicts: { archived } }
      )
    ),
    HttpApiEndpoint.delete("delete", one, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error
    }).annotateMerge(
      doc(
        "Delete a view",
        "Members and up. One of a project's first views: 409 `is_default`. An archived team or project of the scope: 409 `archived`.",
        { conflicts: { is_default: "The first views of a project stay.", archived } }
      )
    ),
    HttpApiEndpoint.post("reorder", `${one}/reorder`, {
      params,
      payload: ReorderView,
      success: View,
      error
    }).annotateMerge(
      doc(
        "Reorder a view",
        "Moves it directly before or after another of its scope, or, after null, to the first place. Where it stands there already, nothing changes. Members and up. Another that does not exist for you: 404; itself: 400; one of another scope: 409 `other_scope`. An archived team or project of the scope: 409 `archived`.",
        { conflicts: { other_scope: "The other view is of another scope.", archived } }
      )
    ),
    HttpApiEndpoint.get("listTickets", `${one}/tickets`, {
      params,
      success: TicketList,
      error: NotFound
    }).annotateMerge(
      doc(
        "List the tickets of a view",
        "Those of its scope that match one value of each filter that has any, and that you see; in the order of the list of tickets, without plans. Every role."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Views",
      description:
        "Saved ways to look at tickets, of the workspace, a team or a project. Those of a team or project that you do not see do not exist for you."
    })
  ) {}
