import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc } from "./Doc.ts"
import { Edge } from "./identity/Authorization.ts"

/** 503: the server runs and cannot serve. */
export class Unavailable extends Schema.TaggedError<Unavailable>()(
  "Unavailable",
  { message: Schema.String.annotate({ examples: ["The database does not answer."] }) },
  { httpApiStatus: 503, identifier: "Unavailable", description: "The server runs and cannot serve." }
) {}

export const Health = Schema.Struct({ status: Schema.Literal("ok") }).annotate({
  identifier: "Health",
  description: "All is well.",
  examples: [{ status: "ok" }]
})

/** The public keys of tokens that the service signs (RFC 7517). */
export const JsonWebKeySet = Schema.Struct({
  keys: Schema.Array(
    Schema.Struct({
      kty: Schema.String,
      crv: Schema.String,
      x: Schema.String,
      kid: Schema.String,
      alg: Schema.String,
      use: Schema.String
    })
  )
}).annotate({
  identifier: "JsonWebKeySet",
  description: "The public keys of tokens that the service signs (RFC 7517).",
  examples: [
    {
      keys: [
        {
          kty: "OKP",
          crv: "Ed25519",
          x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
          kid: "0197a1b2-0000-7000-8000-0000000000aa",
          alg: "EdDSA",
          use: "sig"
        }
      ]
    }
  ]
})
export type JsonWebKeySet = typeof JsonWebKeySet.Type

/** The server itself (docs/contract.md, Running the server). No key needed. */
export class SystemApi extends HttpApiGroup.make("system")
  .add(
    HttpApiEndpoint.get("health", "/health", { success: Health }).annotateMerge(
      doc("Tell whether the process is up", "Answers as long as the process does. No key needed.")
    ),
    HttpApiEndpoint.get("ready", "/ready", { success: Health, error: Unavailable }).annotateMerge(
      doc("Tell whether the server can serve", "Whether the database answers and is migrated. No key needed.")
    ),
    HttpApiEndpoint.get("jwks", "/.well-known/jwks.json", { success: JsonWebKeySet }).annotateMerge(
      doc(
        "Get the signing keys",
        "The public keys of fixture tokens, so that a deployment verifies them without asking. No key needed."
      )
    )
  )
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "System", description: "The server itself. No key needed." })) {}
