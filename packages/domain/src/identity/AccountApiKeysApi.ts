import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { NoStore } from "../NoStore.ts"
import { AccountApiKey, CreateAccountApiKey, maxAccountApiKeys, NewAccountApiKey } from "./AccountApiKey.ts"
import { RevokeApiKey, Revoked } from "./ApiKey.ts"
import { Authorization, Edge } from "./Authorization.ts"

const AccountApiKeyRef = PathRef.annotate({
  description: "The key's id.",
  examples: ["0197a1b2-0000-7000-8000-0000000000b2"]
})

/** Account API keys of a workspace (docs/contract.md, API keys). Admins and owners. */
export class AccountApiKeysApi extends HttpApiGroup.make("accountApiKeys")
  .add(
    HttpApiEndpoint.get("list", `${workspacePath}/account-api-keys`, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({ accountApiKeys: Schema.Array(AccountApiKey) }).annotate({
        identifier: "AccountApiKeys",
        description: "Account API keys, newest first."
      }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "List account API keys",
        "Lists the account API keys that work (neither revoked nor expired), newest first, without their secrets. Requires the role `admin` or `owner`."
      )
    ),
    HttpApiEndpoint.post("create", `${workspacePath}/account-api-keys`, {
      params: { slug: WorkspaceRef },
      payload: CreateAccountApiKey,
      success: NewAccountApiKey.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    })
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "admin",
          "Create an account API key",
          `Creates a key that acts in this workspace only, with the given role. It belongs to no person, and goes on working when people leave, but for who made it: deactivating that member revokes it, and so does a role of theirs below its own, unless the body of that request says \`{"accountApiKeys": "keep"}\`. Whatever ends the credential that it was made with ends it too, until it is kept. \`scopes\` and \`expiresAt\` limit it, as those of a person's key. The secret is shown once, in this response; the server stores only its hash. Returns 409 \`too_many_keys\` if ${maxAccountApiKeys} work; those that trusted publishers are given do not count. Requires the role \`admin\` or \`owner\`.`,
          {
            conflicts: {
              too_many_keys: `The workspace has ${maxAccountApiKeys} account API keys, which is the limit. Revoke one first.`
            }
          }
        )
      ),
    HttpApiEndpoint.post("revoke", `${workspacePath}/account-api-keys/:apiKeyId/revoke`, {
      params: { slug: WorkspaceRef, apiKeyId: AccountApiKeyRef },
      payload: [RevokeApiKey, Schema.Null],
      success: Revoked,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "Revoke an account API key",
        "Revokes the key. Later requests with it fail with 401. What was made with the key ends with it: other account API keys (unless the body says `accountApiKeys: keep`), pending invites and trusted publishers, and what was made with those keys. The body may be left out. Returns 404 if the key is revoked already. Requires the role `admin` or `owner`.",
        { isBodyOptional: true }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Account API keys",
      description: "API keys that belong to a workspace and not to a person, for CI and other automation."
    })
  ) {}
