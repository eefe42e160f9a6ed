import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "./Authorization.ts"
import { CreateWorkspace, UpdateWorkspace, Workspace } from "./Workspace.ts"

const params = { slug: WorkspaceRef }

/** Workspaces of the caller (contract, section 3). */
export class WorkspacesApi extends HttpApiGroup.make("workspaces")
  .add(
    HttpApiEndpoint.get("list", "/v1/workspaces", {
      success: Schema.Struct({ workspaces: Schema.Array(Workspace) }).annotate({ identifier: "Workspaces" })
    }).annotateMerge(doc("List workspaces", "The workspaces in which the caller is active, by name.")),
    HttpApiEndpoint.post("create", "/v1/workspaces", {
      payload: CreateWorkspace,
      success: Workspace.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, Conflict]
    }).annotateMerge(
      doc(
        "Create a workspace",
        "The creator becomes its owner. Account API keys act in one workspace and cannot create others (403). A slug in use: 409 `slug_in_use`."
      )
    ),
    HttpApiEndpoint.get("get", workspacePath, {
      params,
      success: Workspace,
      error: NotFound
    }).annotateMerge(doc("Get a workspace", "One workspace with the caller's role in it.")),
    HttpApiEndpoint.patch("update", workspacePath, {
      params,
      payload: UpdateWorkspace,
      success: Workspace,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc("Update a workspace", "Changes the fields sent. Admins and owners. A slug in use: 409 `slug_in_use`.")
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "Workspaces", description: "Workspaces and the caller's role in them." }))
{}
