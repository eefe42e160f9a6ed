import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { doc, PathRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { NoStore } from "../NoStore.ts"
import { ApiKey, CreateApiKey, NewApiKey, RevokeApiKey, Revoked } from "./ApiKey.ts"
import { Authorization, Edge } from "./Authorization.ts"

const ApiKeyRef = PathRef.annotate({
  description: "The key's id.",
  examples: ["0197a1b2-0000-7000-8000-0000000000b1"]
})

/** The caller's own API keys (docs/contract.md, API keys). Account API keys: 403. */
export class ApiKeysApi extends HttpApiGroup.make("apiKeys")
  .add(
    HttpApiEndpoint.get("list", "/v1/api-keys", {
      success: Schema.Array(ApiKey).annotate({ identifier: "ApiKeys", description: "API keys, newest first." }),
      error: Forbidden
    }).annotateMerge(
      doc(
        "read",
        "List your API keys",
        "Lists your keys that work (neither revoked nor expired), newest first, without their secrets. Account API keys cannot call this (403 `account_key`)."
      )
    ),
    HttpApiEndpoint.post("create", "/v1/api-keys", {
      payload: CreateApiKey,
      success: NewApiKey,
      error: [Forbidden, Conflict]
    })
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "admin",
          "Create an API key",
          "Creates a key that acts as you, with your role in each workspace. The secret is shown once, in this response; the server stores only its hash. `scopes` limits it to some operations, each of which says its scope as `x-scope`; a key that lacks the scope is refused with 403 `scope_missing`. A key that is limited itself makes no key with scopes that it does not have (403 `scope_missing`). From `expiresAt`, at most 2 years ahead (else 400), the key stops working. Returns 409 `too_many_keys` if you have 20 active keys. Account API keys cannot call this (403 `account_key`).",
          { conflicts: { too_many_keys: "You have 20 active API keys. Revoke one first." } }
        )
      ),
    HttpApiEndpoint.post("revoke", "/v1/api-keys/:apiKeyId/revoke", {
      params: { apiKeyId: ApiKeyRef },
      payload: [RevokeApiKey, Schema.Null],
      success: Revoked,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "write",
        "Revoke an API key",
        "Revokes one of your keys, possibly the key of this request. Later requests with it fail with 401. What was made with the key ends with it: keys, account API keys (unless the body says `accountApiKeys: keep`), sign-ins of agents, pending invites and trusted publishers, and what was made with those keys. Tokens of deployments stay. The body may be left out. A session that a workspace has blocked needs a fresh proof (403 `sudo_required`). Returns 404 if the key is not yours or is revoked already. Account API keys cannot call this (403 `account_key`).",
        { isBodyOptional: true }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "API keys",
      description: "Your own API keys. A key acts as its person, with their role in each workspace."
    })
  ) {}
