import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "./Authorization.ts"
import { CreateWorkspace, UpdateWorkspace, Workspace } from "./Workspace.ts"

const params = { slug: WorkspaceRef }
const slugInUse = { conflicts: { slug_in_use: 'The slug "acme" is already in use.' } }

/** Workspaces of the caller (docs/contract.md, Identity). */
export class WorkspacesApi extends HttpApiGroup.make("workspaces")
  .add(
    HttpApiEndpoint.get("list", "/v1/workspaces", {
      success: Schema.Struct({ workspaces: Schema.Array(Workspace) }).annotate({
        identifier: "Workspaces",
        description: "Workspaces, by name."
      })
    }).annotateMerge(doc("List workspaces", "The workspaces in which the caller is an active member, by name.")),
    HttpApiEndpoint.post("create", "/v1/workspaces", {
      payload: CreateWorkspace,
      success: Workspace.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, Conflict]
    }).annotateMerge(
      doc(
        "Create a workspace",
        "The creator becomes its owner. Account API keys act in one workspace and cannot create others (403). A slug in use anywhere on the server: 409 `slug_in_use`.",
        slugInUse
      )
    ),
    HttpApiEndpoint.get("get", workspacePath, {
      params,
      success: Workspace,
      error: NotFound
    }).annotateMerge(doc("Get a workspace", "One workspace with the caller's role in it. Every role.")),
    HttpApiEndpoint.patch("update", workspacePath, {
      params,
      payload: UpdateWorkspace,
      success: Workspace,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Update a workspace",
        "Changes the fields sent; a new slug changes every path below it, the id stays. Admins and owners. A slug in use: 409 `slug_in_use`.",
        slugInUse
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({ title: "Workspaces", description: "What a team shares, and the caller's role in it." })
  ) {}
