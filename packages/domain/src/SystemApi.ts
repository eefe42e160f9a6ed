import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc } from "./Doc.ts"
import { Edge } from "./identity/Authorization.ts"
import { Probe } from "./Endpoint.ts"

/** 503: the process runs, but cannot serve requests. */
export class Unavailable extends Schema.TaggedError<Unavailable>()(
  "Unavailable",
  { message: Schema.String.annotate({ examples: ["The database does not answer."] }) },
  {
    httpApiStatus: 503,
    identifier: "Unavailable",
    description: "The process runs, but cannot serve requests: its database does not answer or is not migrated."
  }
) {}

export const Health = Schema.Struct({ status: Schema.Literal("ok") }).annotate({
  identifier: "Health",
  description: "The server is well.",
  examples: [{ status: "ok" }]
})

/** The public keys of the tokens that the service signs (RFC 7517). */
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
  description: "The public keys of the tokens that the service signs (RFC 7517).",
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
    HttpApiEndpoint.get("health", "/health", { success: Health })
      .annotate(Probe, true)
      .annotateMerge(
        doc(
          "read",
          "Check that the process is up",
          "Answers as long as the process runs, whatever the state of the database. No API key is needed."
        )
      ),
    HttpApiEndpoint.get("ready", "/ready", { success: Health, error: Unavailable })
      .annotate(Probe, true)
      .annotateMerge(
        doc(
          "read",
          "Check that the server can serve",
          "Answers 200 if the database answers and is migrated, otherwise 503. Point load balancers here. No API key is needed."
        )
      ),
    HttpApiEndpoint.get("jwks", "/.well-known/jwks.json", { success: JsonWebKeySet }).annotateMerge(
      doc(
        "read",
        "Get the signing keys",
        "The public keys of fixture tokens, so that a deployment can verify them offline. No API key is needed."
      )
    )
  )
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "System",
      description: "The state of the server, and its public keys. These calls need no API key."
    })
  ) {}
