import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, InvalidInput, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { atLeast, Ref, Text } from "../Text.ts"
import { Drift } from "./Drift.ts"
import { Readiness } from "./Readiness.ts"
import { ReadinessPolicy, SetReadinessPolicy } from "./ReadinessPolicy.ts"

const one = `${workspacePath}/deployments/:product/:environment` as const
const params = {
  slug: WorkspaceRef,
  product: PathRef.annotate({ description: "The slug or id of the product.", examples: ["shop"] }),
  environment: PathRef.annotate({ description: "The slug or id of the environment.", examples: ["production"] })
}
const archived = "The product is archived."

/** Whether a version may go out (docs/contract.md, Readiness). */
export class ReadinessApi extends HttpApiGroup.make("readiness")
  .add(
    HttpApiEndpoint.get("get", `${one}/readiness`, {
      params,
      query: {
        version: Schema.optionalKey(
          Text(200)
            .check(atLeast(1))
            .annotate({
              description:
                "The version that is to go out, or the first 7 or more digits of it where it is the id of a commit. By default the one that runs in the environment of the policy's `from`, else the one that runs here.",
              examples: ["9fceb02"]
            })
        )
      },
      success: Readiness,
      error: [NotFound, Conflict]
    }).annotateMerge(
      doc(
        "read",
        "Get the readiness of a deployment",
        "Says whether a version may go out to the deployment, by its policy, as of now: `ready` is true if no reason has the severity `block`. Each reason names what it is about. A ticket that you do not see blocks all the same, without its name. Where you name no version, and none is known to run where the policy says that versions come from, or here where it says nothing, a reason blocks: `version_missing`; the answer is about what runs here. Each run that decided comes with what it rests on: how many tests passed and were skipped, which failures were muted, and which other run is running or was interrupted. Of the runs of the version with a coverage that decides which finished last: where the policy says from which environment versions come, and that has one, no run of another environment does. Runs decide whose deployment did not change while they ran; erased ones do not. What failed in a run stays failed where its retry tested another release or address, or had uncommitted changes. Nothing is kept from going out by this: ask before you deploy. Returns 409 `archived` if the product or environment is archived. Any role may call this.",
        { conflicts: { archived } }
      )
    ),
    HttpApiEndpoint.get("policy", `${one}/readiness-policy`, {
      params,
      success: ReadinessPolicy,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "Get the readiness policy of a deployment",
        "Returns what must hold before a version may go out; the default where nobody has set it. Any role may call this."
      )
    ),
    HttpApiEndpoint.put("setPolicy", `${one}/readiness-policy`, {
      params,
      payload: SetReadinessPolicy,
      success: ReadinessPolicy,
      error: [InvalidInput, Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Set the readiness policy of a deployment",
        "Replaces what must hold before a version may go out: what is left out gets its default. The policy belongs to the product and the environment, and stays when the deployment is deleted and made again. Returns 404 if the environment of `from` does not exist, 400 if it is the deployment's own, and 409 `archived` if the product or environment is archived. With `expected`, nothing is set if the policy is another one by now: 409 `policy_changed`, unless it is as asked already. Requires the role `admin` or `owner`.",
        { conflicts: { archived, policy_changed: "Somebody has changed the policy." } }
      )
    ),
    HttpApiEndpoint.get("drift", `${one}/drift`, {
      params,
      query: {
        beside: Schema.optionalKey(
          Ref.annotate({
            description:
              "Another environment, by slug or id: what has a value there and none here is `missing`. By default the policy's `from`.",
            examples: ["staging"]
          })
        )
      },
      success: Drift,
      error: [InvalidInput, NotFound]
    }).annotateMerge(
      doc(
        "read",
        "Get the drift of a deployment",
        "Names the secrets that changed since the product loaded them with a deployment token, cleared and deleted ones too, and those that have a value in another environment and none in this one. A product that has read secrets one by one has loaded those alone. A secret that was only renamed has not changed, and one that was deleted is named for 30 days. Never a value. Returns 404 if the other environment does not exist, and 400 if it is this one. Any role may call this."
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Readiness",
      description: "Whether a version may go out to a deployment, and what says so."
    })
  ) {}
