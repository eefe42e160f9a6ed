import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "./Authorization.ts"
import { CreateWorkspace, UpdateWorkspace, Workspace } from "./Workspace.ts"

const params = { slug: WorkspaceRef }
const slugInUse = { conflicts: { slug_in_use: 'The slug "acme" is already in use.' } }

/** The workspaces of the caller (docs/contract.md, Identity). */
export class WorkspacesApi extends HttpApiGroup.make("workspaces")
  .add(
    HttpApiEndpoint.get("list", "/v1/workspaces", {
      success: Schema.Struct({ workspaces: Schema.Array(Workspace) }).annotate({
        identifier: "Workspaces",
        description: "Workspaces, by name."
      })
    }).annotateMerge(
      doc("read", "List workspaces", "Lists the workspaces in which you are an active member, by name.")
    ),
    HttpApiEndpoint.post("create", "/v1/workspaces", {
      payload: CreateWorkspace,
      success: Workspace.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Create a workspace",
        "Creates a workspace with you as its owner. Returns 409 `slug_in_use` if any workspace on the server has the slug. Account API keys cannot call this (403 `account_key`). On a server that lets only owners create workspaces, neither can who owns none (403 `not_allowed`).",
        slugInUse
      )
    ),
    HttpApiEndpoint.get("get", workspacePath, {
      params,
      success: Workspace,
      error: NotFound
    }).annotateMerge(
      doc("read", "Get a workspace", "Returns the workspace, with your role in it. Any role may call this.")
    ),
    HttpApiEndpoint.patch("update", workspacePath, {
      params,
      payload: UpdateWorkspace,
      success: Workspace,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Update a workspace",
        "Changes the fields that are sent. A new slug changes every path of the workspace; its id stays. `runDays` and `fileDays` say how long runs and their files are kept; what is older is erased within a minute or so, for good. Returns 409 `slug_in_use` if another workspace has the slug. Requires the role `admin` or `owner`.",
        slugInUse
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Workspaces",
      description:
        "A workspace holds everything that a company or team shares. People have a role in each of their workspaces."
    })
  ) {}
