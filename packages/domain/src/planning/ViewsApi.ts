import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { Ref } from "../Text.ts"
import { TicketList } from "./Ticket.ts"
import { CreateView, maxPersonalViews, maxSharedViews, ReorderView, UpdateView, View } from "./View.ts"

const path = `${workspacePath}/views` as const
const one = `${path}/:view` as const
const params = {
  slug: WorkspaceRef,
  view: PathRef.annotate({ description: "The id of the view.", examples: ["0197a1b2-0000-7000-8000-000000000f21"] })
}
const error = [Forbidden, NotFound, Conflict] as const
const archived = "The project is archived."
const too_many_views = `The scope has ${maxSharedViews} shared views, which is the limit. Delete one first.`
const limits = `Returns 409 \`too_many_views\` where the scope has ${maxSharedViews} shared views, besides the first ones of a project, or you have ${maxPersonalViews} personal ones in the scope.`

/** Views (docs/contract.md, Views). Changes require a member. */
export class ViewsApi extends HttpApiGroup.make("views")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: {
        team: Schema.optionalKey(Ref.annotate({ description: "The views of this team, by key.", examples: ["ENG"] })),
        project: Schema.optionalKey(
          Ref.annotate({ description: "The views of this project, by slug.", examples: ["checkout"] })
        )
      },
      success: Schema.Struct({ views: Schema.Array(View) }).annotate({
        identifier: "Views",
        description: "The views of one scope, in their order."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List views",
        "Lists the views of one scope in their order, shared ones and your personal ones: of the workspace, of a `team`, or of a `project`, archived or not. Sending both is 400. Returns 404 if you cannot see the team or project. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateView,
      success: View.pipe(HttpApiSchema.status(201)),
      error
    }).annotateMerge(
      doc(
        "write",
        "Create a view",
        `Creates a view, last in its scope. Everybody who sees the scope sees the view; a \`personal\` one is seen, changed and deleted by you alone, with your agents. An account API key has no personal views: 403 \`account_key\`. Returns 404 if you cannot see the team or project of the scope, or an owner, tag, team or project in the filters. Names of statuses are stored as they are sent. Returns 409 \`archived\` if the team or project of the scope is archived. ${limits} Requires the role \`member\` or higher.`,
        { conflicts: { archived, too_many_views } }
      )
    ),
    HttpApiEndpoint.get("get", one, { params, success: View, error: NotFound }).annotateMerge(
      doc(
        "read",
        "Get a view",
        "Returns a view whose team or project you see. One that is personal to somebody else is 404. Any role may call this."
      )
    ),
    HttpApiEndpoint.patch("update", one, { params, payload: UpdateView, success: View, error }).annotateMerge(
      doc(
        "write",
        "Update a view",
        `Changes the fields that are sent. \`filters\` replaces all filters: one that is left out no longer restricts. Tags, teams and projects that you cannot see stay in the filters. Whoever made a shared view, or whose agent did, may make it \`personal\`; others get 403 \`not_creator\`, and an account API key 403 \`account_key\`. The first views of a project stay shared: 409 \`is_default\`. Returns 409 \`archived\` if the team or project of the scope is archived. ${limits} Requires the role \`member\` or higher.`,
        { conflicts: { is_default: "The first views of a project are shared.", archived, too_many_views } }
      )
    ),
    HttpApiEndpoint.delete("delete", one, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error
    }).annotateMerge(
      doc(
        "write",
        "Delete a view",
        "Deletes the view. Returns 409 `is_default` for one of the first views of a project, and 409 `archived` if the team or project of the scope is archived. Requires the role `member` or higher.",
        { conflicts: { is_default: "The first views of a project cannot be deleted.", archived } }
      )
    ),
    HttpApiEndpoint.post("reorder", `${one}/reorder`, {
      params,
      payload: ReorderView,
      success: View,
      error
    }).annotateMerge(
      doc(
        "write",
        "Reorder a view",
        "Moves the view directly before or after another view of its scope. `after: null` moves it to the first place. Nothing changes if it is there already. Returns 404 if you cannot see the other view, 400 if it is the same view, 409 `other_scope` if it has another scope, and 409 `archived` if the team or project of the scope is archived. Requires the role `member` or higher.",
        { conflicts: { other_scope: "The other view belongs to another scope.", archived } }
      )
    ),
    HttpApiEndpoint.get("listTickets", `${one}/tickets`, {
      params,
      success: TicketList,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List the tickets of a view",
        "Lists the tickets of the scope of the view that you see and that match one value of each filter that has any. They come in the order of the list of tickets, without plans. Any role may call this."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Views",
      description:
        "Saved ways to look at tickets, of the workspace, a team or a project. You see the views of the teams and projects that you see, but for those that are personal to others."
    })
  ) {}
