import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Archived } from "../Archived.ts"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { Ref } from "../Text.ts"
import { CreateDeployment, Deployment, UpdateDeployment } from "./Deployment.ts"

const path = `${workspacePath}/deployments` as const
const one = `${path}/:product/:environment` as const
const params = {
  slug: WorkspaceRef,
  product: PathRef.annotate({ description: "The slug or id of the product.", examples: ["shop"] }),
  environment: PathRef.annotate({ description: "The slug or id of the environment.", examples: ["staging"] })
}
const archived = "The product is archived."

/** Deployments (docs/contract.md, Deployments). Changes require a member. */
export class DeploymentsApi extends HttpApiGroup.make("deployments")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      query: {
        product: Schema.optionalKey(
          Ref.annotate({ description: "Only deployments of this product, by slug or id.", examples: ["shop"] })
        ),
        environment: Schema.optionalKey(
          Ref.annotate({ description: "Only deployments in this environment, by slug or id.", examples: ["staging"] })
        ),
        archived: Schema.optionalKey(
          Archived.annotate({
            description:
              "Whether the list leaves inactive deployments out (`exclude`), includes them (`include`), or lists only them (`only`)."
          })
        )
      },
      success: Schema.Struct({ deployments: Schema.Array(Deployment) }).annotate({
        identifier: "Deployments",
        description: "Deployments, by name of the product, then name of the environment."
      }),
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List deployments",
        "Lists deployments by name of the product, then name of the environment. Returns 404 if the product or environment of a filter does not exist. Any role may call this."
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateDeployment,
      success: Deployment.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Create a deployment",
        "Records that a product runs in an environment. A product has at most one deployment per environment: a second one is 409 `deployment_exists`. With a `version` it has a release, and `commits` says what that contains. Returns 400 if a website or API has no `baseUrl`, 404 if the product or environment does not exist, and 409 `archived` if one of them is archived. Requires the role `member` or higher.",
        {
          conflicts: {
            deployment_exists: "The product already has a deployment in this environment.",
            archived
          }
        }
      )
    ),
    HttpApiEndpoint.get("get", one, { params, success: Deployment, error: NotFound }).annotateMerge(
      doc("read", "Get a deployment", "Returns the deployment, active or not. Any role may call this.")
    ),
    HttpApiEndpoint.patch("update", one, {
      params,
      payload: UpdateDeployment,
      success: Deployment,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Update a deployment",
        "Changes the fields that are sent; `null` clears a field. The `baseUrl` of a website or API cannot be cleared (400). `versionUpdatedAt` moves only when `version` changes. Each change of `version`, also to `null`, is a release of the deployment; `commits` says what the version contains. While locked runs are under way, a change of `version` waits up to `waitMs` for them to end, and then answers 409 `run_in_progress` with their numbers in `runs`. At most 64 changes of one caller wait at a server process, and 1,000 in all: one more is answered so at once. With `force` it does not wait. Returns 409 `archived` if the product or environment is archived. Requires the role `member` or higher.",
        {
          conflicts: {
            archived,
            run_in_progress: {
              message: "Test run 12 holds the deployment: its version cannot change before the run ends.",
              runs: [12]
            }
          }
        }
      )
    ),
    HttpApiEndpoint.delete("delete", one, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "write",
        "Delete a deployment",
        "Deletes the deployment, even if its product or environment is archived. Values of secrets are kept, hidden, and come back when the product is deployed there again. Requires the role `member` or higher."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Deployments",
      description:
        "Which product runs in which environment: at which URL, with which Fixture API, and in which version."
    })
  ) {}
