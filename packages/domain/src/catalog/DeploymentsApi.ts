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
  product: PathRef.annotate({ description: "The product's slug or id.", examples: ["shop"] }),
  environment: PathRef.annotate({ description: "The environment's slug or id.", examples: ["staging"] })
}
const archived = "The product is archived."

/** Deployments (docs/contract.md, Deployments). Changes need a member. */
export class DeploymentsApi extends HttpApiGroup.make("deployments")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: {
        product: Schema.optionalKey(Ref.annotate({ description: "A product's slug or id.", examples: ["shop"] })),
        environment: Schema.optionalKey(
          Ref.annotate({ description: "An environment's slug or id.", examples: ["staging"] })
        ),
        archived: Schema.optionalKey(
          Archived.annotate({ description: "Whether inactive deployments are left out, included, or the only ones." })
        )
      },
      success: Schema.Struct({ deployments: Schema.Array(Deployment) }).annotate({
        identifier: "Deployments",
        description: "Deployments, by product name, then environment name."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "List deployments",
        "By product name, then environment name. A product or environment that does not exist: 404. Every role."
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
        "Members and up. A product has at most one deployment per environment: a second one is 409 `deployment_exists`. Websites and APIs need a `baseUrl` (400). A product or environment that does not exist: 404; an archived one: 409 `archived`.",
        {
          conflicts: {
            deployment_exists: "The product already has a deployment in this environment.",
            archived
          }
        }
      )
    ),
    HttpApiEndpoint.get("get", one, { params, success: Deployment, error: NotFound }).annotateMerge(
      doc("Get a deployment", "Active or not. Every role.")
    ),
    HttpApiEndpoint.patch("update", one, {
      params,
      payload: UpdateDeployment,
      success: Deployment,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "Update a deployment",
        "Changes the fields sent; null clears, except the `baseUrl` of websites and APIs (400). `versionUpdatedAt` moves only when `version` changes. Members and up. An archived product or environment: 409 `archived`.",
        { conflicts: { archived } }
      )
    ),
    HttpApiEndpoint.delete("delete", one, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "Delete a deployment",
        "Also of an archived product or environment. Secret values are kept and return if the product is deployed again. Members and up."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Deployments",
      description: "Products in environments: at which URL, Fixture API and version."
    })
  ) {}
