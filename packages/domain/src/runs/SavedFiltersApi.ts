import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import {
  CreateSavedFilter,
  maxPersonalFilters,
  maxSharedFilters,
  SavedFilter,
  ScreenFilter,
  UpdateSavedFilter
} from "./SavedFilter.ts"

const path = `${workspacePath}/saved-filters` as const
const one = `${path}/:filter` as const
const params = {
  slug: WorkspaceRef,
  filter: PathRef.annotate({
    description: "The id of the saved filter.",
    examples: ["0197a1b2-0000-7000-8000-000000000f31"]
  })
}
const conflicts = {
  too_many_filters: `The list of runs has ${maxSharedFilters} shared filters, which is the limit. Delete one first.`
}
const limits = `Returns 409 \`too_many_filters\` where the list has ${maxSharedFilters} shared filters in the workspace, or you have ${maxPersonalFilters} personal ones of it.`
const missing = "Returns 404 if the product or environment of the filter does not exist."

/** Saved filters (docs/contract.md, Saved filters). Changes require a member. */
export class SavedFiltersApi extends HttpApiGroup.make("savedFilters")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: {
        screen: Schema.optionalKey(ScreenFilter)
      },
      success: Schema.Struct({ savedFilters: Schema.Array(SavedFilter) }).annotate({
        identifier: "SavedFilters",
        description: "Saved filters, by name."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List saved filters",
        "Lists the saved filters of the list of runs and of those of tests, by name: shared ones and your personal ones. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateSavedFilter,
      success: SavedFilter.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Save a filter",
        `Saves filters of the list of runs, or of that of the tests of a \`product\`, under a name. Everybody in the workspace sees it; a \`personal\` one is seen, changed and deleted by you alone, with your agents. An account API key has no personal filters: 403 \`account_key\`. A filter that the list does not have is 400. ${missing} ${limits} Requires the role \`member\` or higher.`,
        { conflicts }
      )
    ),
    HttpApiEndpoint.get("get", one, { params, success: SavedFilter, error: NotFound }).annotateMerge(
      doc(
        "read",
        "Get a saved filter",
        "Returns a saved filter. One that is personal to somebody else is 404. Any role may call this."
      )
    ),
    HttpApiEndpoint.patch("update", one, {
      params,
      payload: UpdateSavedFilter,
      success: SavedFilter,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Update a saved filter",
        `Changes the fields that are sent. \`query\` replaces all filters: one that is left out no longer filters. Whoever made a shared filter, or whose agent did, may make it \`personal\`; others get 403 \`not_creator\`, and an account API key 403 \`account_key\`. ${missing} ${limits} Requires the role \`member\` or higher.`,
        { conflicts }
      )
    ),
    HttpApiEndpoint.delete("delete", one, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "write",
        "Delete a saved filter",
        "Deletes the saved filter. Runs and tests stay. Requires the role `member` or higher."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Saved filters",
      description:
        "Filters of the list of runs and of the tests of a product, under a name. You see those of the workspace, but for those that are personal to others. Saved ways to look at tickets are views."
    })
  ) {}
