import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Archived, doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { CreateEnvironment, Environment, UpdateEnvironment } from "./Environment.ts"

const path = `${workspacePath}/environments` as const
const params = {
  slug: WorkspaceRef,
  environment: PathRef.annotate({ description: "The environment's slug or id.", examples: ["staging"] })
}
const slugInUse = { conflicts: { slug_in_use: 'The slug "staging" is already in use.' } }

/** Environments (docs/contract.md, Catalog). Changes need an admin or owner. */
export class EnvironmentsApi extends HttpApiGroup.make("environments")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: { archived: Schema.optionalKey(Archived) },
      success: Schema.Struct({ environments: Schema.Array(Environment) }).annotate({
        identifier: "Environments",
        description: "Environments, by name."
      }),
      error: NotFound
    }).annotateMerge(doc("List environments", "By name. Every role.")),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateEnvironment,
      success: Environment.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Create an environment",
        "Admins and owners. A slug in use, by an archived environment too: 409 `slug_in_use`.",
        slugInUse
      )
    ),
    HttpApiEndpoint.get("get", `${path}/:environment`, { params, success: Environment, error: NotFound }).annotateMerge(
      doc("Get an environment", "Archived or not. Every role.")
    ),
    HttpApiEndpoint.patch("update", `${path}/:environment`, {
      params,
      payload: UpdateEnvironment,
      success: Environment,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Update an environment",
        "Changes the fields sent; archived environments too. Admins and owners. A slug in use: 409 `slug_in_use`. From production to non-production while it holds secret values, which would become readable: 409 `holds_secrets`.",
        {
          conflicts: {
            ...slugInUse.conflicts,
            holds_secrets: "The environment holds secret values, which nobody may come to read."
          }
        }
      )
    ),
    HttpApiEndpoint.post("archive", `${path}/:environment/archive`, {
      params,
      success: Environment,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "Archive an environment",
        "It leaves lists and its deployments become inactive; its slug stays taken. An archived environment stays as it is. Admins and owners."
      )
    ),
    HttpApiEndpoint.post("restore", `${path}/:environment/restore`, {
      params,
      success: Environment,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "Restore an environment",
        "Its deployments become active again, except those of archived products. An environment that is not archived stays as it is. Admins and owners."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "Environments", description: "Where products run." })) {}
