import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Deployment } from "../catalog/Deployment.ts"
import { doc } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Edge } from "../identity/Authorization.ts"
import { NoStore } from "../NoStore.ts"
import { SecretRef } from "../vault/Secret.ts"
import { DeployMe, LoadedFile, LoadedSecret, LoadedSecrets, LoadFormat, SetVersion } from "./Deploy.ts"
import { DeployAuthorization } from "./DeployAuthorization.ts"

const header = (description: string, example: string) => ({
  description,
  required: true,
  schema: { type: "string" },
  example
})
const etag = {
  ETag: header("Another one whenever the answer changes. It says nothing of the values.", '"q0Jm7Rk2Lx9Wc5Bn8Yd3Pa"')
}
const noStore = { "Cache-Control": header("No cache may keep the response. Errors have this header too.", "no-store") }

const refused =
  "A deployment whose product or environment is archived is 403 `archived`, and a token that may not be used from the client's address 403 `address_not_allowed`."

/** What products call with the token of their deployment (docs/contract.md, Deployment tokens). */
export class DeployApi extends HttpApiGroup.make("deploy")
  .add(
    HttpApiEndpoint.get("me", "/deploy/v1/me", { success: DeployMe }).annotateMerge(
      doc("read", "Get the deployment of the token", `Returns which product the token is for, and where. ${refused}`, {
        responses: { 200: { headers: noStore } }
      })
    ),
    HttpApiEndpoint.get("secrets", "/deploy/v1/secrets", {
      headers: {
        "if-none-match": Schema.optionalKey(
          Schema.String.annotate({
            description: "An `ETag` that you have. The answer is 304 while it is current.",
            examples: ['"q0Jm7Rk2Lx9Wc5Bn8Yd3Pa"']
          })
        )
      },
      query: {
        format: Schema.optionalKey(
          LoadFormat.annotate({
            description:
              "`json` (unless told), `env` (a file that shells, Compose and Node's `--env-file` read) or `docker` (one for `docker run --env-file`).",
            examples: ["json"]
          })
        )
      },
      success: [LoadedSecrets, LoadedFile],
      error: Conflict
    }).annotateMerge(
      doc(
        "vault",
        "Load the deployment's secrets",
        `Returns the current values of all secrets that the product has in the environment, also in production. Secrets without a value are left out. With \`format=env\` or \`format=docker\`, the answer is a file of environment variables. Every reader of such a file gets each value back to the byte: if a name or a value cannot be written so, the answer is 409 \`not_environment_names\` with all such \`names\`, and nothing is left out. \`If-None-Match\` with the current \`ETag\` is answered with 304. Each read is in the audit. ${refused}`,
        {
          conflicts: {
            not_environment_names: {
              message: "These secrets cannot be written as environment variables: my-key.",
              names: ["my-key"]
            }
          },
          responses: {
            200: { headers: { ...etag, ...noStore } },
            304: {
              description: "The answer is the one that `If-None-Match` names. There is no body.",
              headers: { ...etag, ...noStore }
            }
          }
        }
      )
    ),
    HttpApiEndpoint.get("secret", "/deploy/v1/secrets/:name", {
      params: { name: SecretRef },
      success: LoadedSecret,
      error: NotFound
    }).annotateMerge(
      doc(
        "vault",
        "Load one secret",
        `Returns the current value of one secret of the product in the environment. One that has no value there is 404. Each read is in the audit. ${refused}`,
        { responses: { 200: { headers: noStore } } }
      )
    ),
    HttpApiEndpoint.put("setVersion", "/deploy/v1/version", {
      payload: SetVersion,
      success: Deployment,
      error: [Forbidden, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Say which version runs",
        `Sets the version of the deployment, as updating the deployment does: it is a release, \`commits\` says what it contains, and while locked runs are under way it waits up to \`waitMs\` and then is 409 \`run_in_progress\`, unless \`force\` is set. ${refused}`,
        {
          conflicts: {
            run_in_progress: {
              message: "Test run 12 holds the deployment: its version cannot change before the run ends.",
              runs: [12]
            }
          },
          responses: { 200: { headers: noStore } }
        }
      )
    )
  )
  .middleware(DeployAuthorization)
  .middleware(Edge)
  .middleware(NoStore)
  .annotateMerge(
    OpenApi.annotations({
      title: "Deployed products",
      description:
        "What a deployed product asks about itself, with the token of its deployment (`dtk_...`). All other credentials are rejected here, and the token is rejected everywhere else."
    })
  ) {}
