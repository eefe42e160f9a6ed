import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Revoked } from "../identity/ApiKey.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { NoStore } from "../NoStore.ts"
import { CreateDeploymentToken, DeploymentToken, NewDeploymentToken, RotateDeploymentToken } from "./DeploymentToken.ts"

const path = `${workspacePath}/deployments/:product/:environment/tokens` as const
const params = {
  slug: WorkspaceRef,
  product: PathRef.annotate({ description: "The slug or id of the product.", examples: ["shop"] }),
  environment: PathRef.annotate({ description: "The slug or id of the environment.", examples: ["production"] })
}
const one = {
  ...params,
  token: PathRef.annotate({
    description: "The token's id.",
    examples: ["0197a1b2-0000-7000-8000-0000000000c1"]
  })
}

const archived = "The product is archived."
const who = "Requires the role `admin` or `owner`; account API keys cannot call this (403 `account_key`)."
const making =
  "A session needs a fresh proof (403 `sudo_required`), and an API key the scopes `read`, `write` and `vault` beside `admin`, since the token has these (403 `scope_missing`)."

/** Tokens with which products read their own secrets (docs/contract.md, Deployment tokens). Admins and owners. */
export class DeploymentTokensApi extends HttpApiGroup.make("deploymentTokens")
  .add(
    HttpApiEndpoint.get("list", path, {
      params,
      success: Schema.Struct({ tokens: Schema.Array(DeploymentToken) }).annotate({
        identifier: "DeploymentTokens",
        description: "Tokens of a deployment, newest first."
      }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "List a deployment's tokens",
        `Lists the tokens that work, newest first: neither revoked nor expired. Rotated ones are in it until their overlap ends. ${who}`
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params,
      payload: CreateDeploymentToken,
      success: NewDeploymentToken.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "admin",
          "Create a deployment token",
          `Creates a token with which the product reads its secrets in the environment, also in production, and may say its version. It is shown once, in this response; the server stores only its hash. It belongs to the deployment, not to who made it: it goes on working when their access ends, or the key that it was made with, and ends when the deployment is deleted. A deployment has at most 5 tokens, rotated ones not counted (409 \`too_many_tokens\`). ${making} ${who}`,
          {
            conflicts: {
              too_many_tokens: "The deployment has 5 tokens, which is the limit. Revoke one first.",
              archived
            }
          }
        )
      ),
    HttpApiEndpoint.post("rotate", `${path}/:token/rotate`, {
      params: one,
      payload: [RotateDeploymentToken, Schema.Null],
      success: NewDeploymentToken.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "admin",
          "Rotate a deployment token",
          `Makes a new token of this one, with the same name, addresses and \`expiresAt\`. The old one goes on working for \`overlapSeconds\`, a day unless told. The body may be left out. One that was rotated already is 409 \`rotated\`; any other that does not work is 404. ${making} ${who}`,
          {
            conflicts: { rotated: "The token was rotated already.", archived },
            isBodyOptional: true
          }
        )
      ),
    HttpApiEndpoint.post("revoke", `${path}/:token/revoke`, {
      params: one,
      success: Revoked,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "Revoke a deployment token",
        `Ends the token: later requests with it fail with 401. One that does not work is 404. ${who}`
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Deployment tokens",
      description: "Tokens with which deployed products read their own secrets, and say which version of them runs."
    })
  ) {}
