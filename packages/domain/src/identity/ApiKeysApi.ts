import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, PathRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { ApiKey, CreateApiKey, NewApiKey, Revoked } from "./ApiKey.ts"
import { Authorization, Edge } from "./Authorization.ts"

/** The caller's own API keys (service document, API keys). Account API keys: 403. */
export class ApiKeysApi extends HttpApiGroup.make("apiKeys")
  .add(
    HttpApiEndpoint.get("list", "/v1/api-keys", {
      success: Schema.Array(ApiKey).annotate({ identifier: "ApiKeys" }),
      error: Forbidden
    }).annotateMerge(doc("List your API keys", "The caller's keys that are not revoked, newest first.")),
    HttpApiEndpoint.post("create", "/v1/api-keys", {
      payload: CreateApiKey,
      success: NewApiKey,
      error: [Forbidden, Conflict]
    }).annotateMerge(
      doc(
        "Create an API key",
        "A key acts as its person, with their role in each workspace. At 20 active keys: 409 `too_many_keys`."
      )
    ),
    HttpApiEndpoint.post("revoke", "/v1/api-keys/:apiKeyId/revoke", {
      params: { apiKeyId: PathRef },
      success: Revoked,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc("Revoke an API key", "Later requests with the key are Unauthorized. Not the caller's or already revoked: 404.")
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "API keys", description: "Keys that act as their person." }))
{}
