import { Schema } from "effect"
import { Body } from "../Body.ts"
import { exampleTokens, tokenFields } from "./Agent.ts"

/** How long an access token works: seconds (docs/contract.md, Agent sign-in). */
export const accessTokenSeconds = 3_600

/** How long a refresh token works: milliseconds (docs/contract.md, Agent sign-in). */
export const refreshTokenMillis = 30 * 86_400_000

/** How long the last refresh token may be sent again, in case its answer was lost: milliseconds (docs/contract.md, Agent sign-in). */
export const refreshAgainMillis = 60_000

/** How long the value of `state` may be, in characters. */
export const maxState = 4_000

const clientId = Schema.String.annotate({
  description:
    "The `clientId` of the sign-in, from registering the agent; of a sign-in by the server's URL, the client's id."
})
const resource = Schema.optionalKey(
  Schema.String.annotate({
    description: "The resource that the token is for (RFC 8707): `{BASE_URL}/agent/mcp` is the only one."
  })
)

/** A request to exchange a code for the tokens of a new sign-in (RFC 6749, section 4.1.3), form-encoded. */
export const CodeRequest = Schema.Struct({
  grant_type: Schema.Literal("authorization_code"),
  client_id: Schema.String.annotate({
    description: "The id of the client: the URL of its document, or as it registered."
  }),
  code: Schema.String.annotate({ description: "The code (`otk_...`). It works once, within 60 seconds." }),
  redirect_uri: Schema.String.annotate({ description: "The redirect by which the code came." }),
  code_verifier: Schema.String.annotate({ description: "The text whose SHA-256 is the `code_challenge` (RFC 7636)." }),
  resource
}).annotate({
  identifier: "CodeRequest",
  description: "A request to exchange a code for the tokens of a new sign-in (RFC 6749, section 4.1.3).",
  examples: [
    {
      grant_type: "authorization_code",
      client_id: "https://claude.ai/oauth/claude-code-client-metadata",
      code: "otk_2Lx9Wc5Bn8Yd3Pa6Ue0H4fGhTz0sVq1Jm7Rk4e7Y1a",
      redirect_uri: "http://localhost:53682/callback",
      code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    }
  ]
})

/** A request for the next tokens of a sign-in (RFC 6749, section 6), form-encoded. */
export const TokenRequest = Schema.Struct({
  grant_type: Schema.Literal("refresh_token"),
  client_id: clientId,
  refresh_token: Schema.String.annotate({ description: "The last refresh token of the sign-in." }),
  scope: Schema.optionalKey(
    Schema.String.annotate({ description: "Send `read` to get an access token that may only read." })
  ),
  resource
}).annotate({
  identifier: "TokenRequest",
  description: "A request for the next tokens of a sign-in (RFC 6749, section 6).",
  examples: [
    {
      grant_type: "refresh_token",
      client_id: "0197a1b2-0000-7000-8000-0000000000e3",
      refresh_token: exampleTokens.refresh_token
    }
  ]
})

/** The next pair of tokens (RFC 6749, section 5.1). */
export const Tokens = Schema.Struct(tokenFields).annotate({
  identifier: "Tokens",
  description: "The next pair of tokens (RFC 6749, section 5.1).",
  examples: [exampleTokens]
})
export type Tokens = typeof Tokens.Type

/** A token to revoke (RFC 7009), form-encoded. */
export const RevocationRequest = Schema.Struct({
  token: Schema.String.annotate({ description: "An access token or a refresh token." }),
  token_type_hint: Schema.optionalKey(
    Schema.String.annotate({ description: "Ignored: the prefix of a token says what it is." })
  ),
  client_id: Schema.optionalKey(clientId)
}).annotate({
  identifier: "RevocationRequest",
  description: "A token to revoke (RFC 7009).",
  examples: [{ token: exampleTokens.refresh_token, client_id: "0197a1b2-0000-7000-8000-0000000000e3" }]
})

/** A client that registers itself (RFC 7591). */
export const ClientRegistration = Body({
  redirect_uris: Schema.Array(Schema.String).annotate({
    description:
      "Where people may be sent back to: 1 to 10 URLs of https, of http to `localhost`, `127.0.0.1` or `[::1]` (there at any port), or of an app's scheme with a dot."
  }),
  client_name: Schema.optionalKey(Schema.String.annotate({ description: "The name of the client, for people." })),
  grant_types: Schema.optionalKey(
    Schema.Array(Schema.String).annotate({ description: "If sent, with `authorization_code`." })
  ),
  response_types: Schema.optionalKey(Schema.Array(Schema.String).annotate({ description: "If sent, with `code`." }))
}).annotate({
  identifier: "ClientRegistration",
  description: "A client that registers itself (RFC 7591). Other metadata is ignored.",
  examples: [{ redirect_uris: ["http://localhost/callback"], client_name: "Zed" }]
})

/** A client that has registered itself (RFC 7591, section 3.2.1). */
export const RegisteredClient = Schema.Struct({
  client_id: Schema.String,
  client_id_issued_at: Schema.Int.annotate({ description: "When it registered: seconds since 1970." }),
  client_name: Schema.String.annotate({
    description: "The name as people are shown it: at most 100 characters, those that cannot be seen as `\\u{202E}`."
  }),
  redirect_uris: Schema.Array(Schema.String),
  grant_types: Schema.Array(Schema.String),
  response_types: Schema.Array(Schema.String),
  token_endpoint_auth_method: Schema.Literal("none")
}).annotate({
  identifier: "RegisteredClient",
  description: "A client that has registered itself (RFC 7591).",
  examples: [
    {
      client_id: "0197a1b2-0000-7000-8000-0000000000e4",
      client_id_issued_at: 1_763_717_400,
      client_name: "Zed",
      redirect_uris: ["http://localhost/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none"
    }
  ]
})
export type RegisteredClient = typeof RegisteredClient.Type

/** Why a token request failed (RFC 6749, section 5.2). */
export const OAuthError = Schema.Struct({
  error: Schema.String.annotate({
    description:
      "The kind of error: `invalid_request`, `invalid_grant`, `invalid_scope`, `invalid_target` or `unsupported_grant_type`; `invalid_client` with 401, and for an unknown client; of a request for access `unsupported_response_type` or `temporarily_unavailable`, too; of a registration `invalid_redirect_uri` or `invalid_client_metadata`."
  }),
  error_description: Schema.String.annotate({ description: "What went wrong, written for people." })
}).annotate({
  identifier: "OAuthError",
  description: "Why a token request failed (RFC 6749, section 5.2).",
  examples: [{ error: "invalid_grant", error_description: "The refresh token does not work any more." }]
})

/** The metadata of the authorization server (RFC 8414). */
export const AuthorizationServerMetadata = Schema.Struct({
  issuer: Schema.String,
  authorization_endpoint: Schema.String,
  token_endpoint: Schema.String,
  revocation_endpoint: Schema.String,
  registration_endpoint: Schema.String,
  grant_types_supported: Schema.Array(Schema.String),
  response_types_supported: Schema.Array(Schema.String),
  response_modes_supported: Schema.Array(Schema.String),
  code_challenge_methods_supported: Schema.Array(Schema.String),
  authorization_response_iss_parameter_supported: Schema.Boolean,
  client_id_metadata_document_supported: Schema.Boolean,
  token_endpoint_auth_methods_supported: Schema.Array(Schema.String),
  revocation_endpoint_auth_methods_supported: Schema.Array(Schema.String),
  scopes_supported: Schema.Array(Schema.String),
  service_documentation: Schema.String
}).annotate({
  identifier: "AuthorizationServerMetadata",
  description:
    "What the OAuth endpoints support (RFC 8414). Clients are public, and described by a document at their id (the documents of known clients are built in) or by registering themselves.",
  examples: [
    {
      issuer: "https://delivery.example",
      authorization_endpoint: "https://delivery.example/agent/oauth/authorize",
      token_endpoint: "https://delivery.example/agent/oauth/token",
      revocation_endpoint: "https://delivery.example/agent/oauth/revoke",
      registration_endpoint: "https://delivery.example/agent/oauth/register",
      grant_types_supported: ["authorization_code", "refresh_token"],
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      token_endpoint_auth_methods_supported: ["none"],
      revocation_endpoint_auth_methods_supported: ["none"],
      scopes_supported: ["read", "write"],
      service_documentation: "https://delivery.example/docs"
    }
  ]
})
export type AuthorizationServerMetadata = typeof AuthorizationServerMetadata.Type

/** The metadata of the protected resource (RFC 9728). */
export const ProtectedResourceMetadata = Schema.Struct({
  resource: Schema.String,
  authorization_servers: Schema.Array(Schema.String),
  scopes_supported: Schema.Array(Schema.String),
  bearer_methods_supported: Schema.Array(Schema.String),
  resource_name: Schema.String,
  resource_documentation: Schema.String
}).annotate({
  identifier: "ProtectedResourceMetadata",
  description: "The resource that access tokens are for (RFC 9728).",
  examples: [
    {
      resource: "https://delivery.example/agent/mcp",
      authorization_servers: ["https://delivery.example"],
      scopes_supported: ["read", "write"],
      bearer_methods_supported: ["header"],
      resource_name: "Workspace Delivery Service",
      resource_documentation: "https://delivery.example/docs"
    }
  ]
})
export type ProtectedResourceMetadata = typeof ProtectedResourceMetadata.Type
