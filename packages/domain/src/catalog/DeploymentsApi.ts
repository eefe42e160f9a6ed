import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Archived, doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { Ref } from "../Text.ts"
import { CreateDeployment, Deployment, UpdateDeployment } from "./Deployment.ts"

const path = `${workspacePath}/deployments` as const
const one = `${path}/:product/:environment` as const
const params = {
  slug: WorkspaceRef,
  product: PathRef.annotate({ description: "The product's slug or id." }),
  environment: PathRef.annotate({ description: "The environment's slug or id." })
}

/** Deployments (service document, Deployments). Changes need a member. */
export class DeploymentsApi extends HttpApiGroup.make("deployments")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: {
        product: Schema.optionalKey(Ref.annotate({ description: "A product's slug or id." })),
        environment: Schema.optionalKey(Ref.annotate({ description: "An environment's slug or id." })),
        archived: Schema.optionalKey(Archived)
      },
      success: Schema.Struct({ deployments: Schema.Array(Deployment) }).annotate({ identifier: "Deployments" }),
      error: NotFound
    }).annotateMerge(
      doc(
        "List deployments",
        "By product name, then environment name. `archived` speaks of inactive deployments. A product or environment that does not exist: 404."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateDeployment,
      success: Deployment.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Create a deployment",
        "Members and up. Websites and APIs need a `baseUrl` (400). A second deployment of a pair: 409 `deployment_exists`; an archived product or environment: 409 `archived`."
      )
    ),
    HttpApiEndpoint.get("get", one, { params, success: Deployment, error: NotFound }).annotateMerge(
      doc("Get a deployment", "Active or not.")
    ),
    HttpApiEndpoint.patch("update", one, {
      params,
      payload: UpdateDeployment,
      success: Deployment,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Update a deployment",
        "Changes the fields sent; null clears, except the `baseUrl` of websites and APIs (400). Members and up. An archived product or environment: 409 `archived`."
      )
    ),
    HttpApiEndpoint.delete("delete", one, {
      params,
      success: HttpApiSchema.NoContent,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc("Delete a deployment", "Secret values are kept and return if the product is deployed again. Members and up.")
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "Deployments", description: "Products in environments." }))
{}
