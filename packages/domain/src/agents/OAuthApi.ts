import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc } from "../Doc.ts"
import { Internal, TooManyRequests } from "../Errors.ts"
import { Edge } from "../identity/Authorization.ts"
import { NoStore } from "../NoStore.ts"
import {
  maxState,
  AuthorizationServerMetadata,
  ClientRegistration,
  CodeRequest,
  OAuthError,
  ProtectedResourceMetadata,
  RegisteredClient,
  RevocationRequest,
  TokenRequest,
  Tokens
} from "./OAuth.ts"

const form = HttpApiSchema.asFormUrlEncoded()
const badRequest = OAuthError.pipe(HttpApiSchema.status(400))
const noKey = "No API key is needed."

/**
 * The authorization server of agents (docs/contract.md, Agent sign-in). Errors have the form of RFC 6749, so the
 * service itself checks the form of these bodies.
 */
export class OAuthApi extends HttpApiGroup.make("oauth")
  .add(
    HttpApiEndpoint.get("authorizationServer", "/.well-known/oauth-authorization-server", {
      success: AuthorizationServerMetadata
    }).annotateMerge(
      doc(
        "read",
        "Get the authorization server's metadata",
        `Returns what the OAuth endpoints support (RFC 8414). ${noKey}`
      )
    ),
    HttpApiEndpoint.get("protectedResource", "/.well-known/oauth-protected-resource", {
      success: ProtectedResourceMetadata
    }).annotateMerge(
      doc(
        "read",
        "Get the protected resource's metadata",
        `Returns the resource that access tokens are for (RFC 9728). ${noKey}`
      )
    ),
    HttpApiEndpoint.get("mcpProtectedResource", "/.well-known/oauth-protected-resource/agent/mcp", {
      success: ProtectedResourceMetadata
    }).annotateMerge(
      doc(
        "read",
        "Get the MCP endpoint's metadata",
        `Returns the same document, at the path that RFC 9728 derives from the path of the resource. ${noKey}`
      )
    )
  )
  .middleware(Edge)
  .add(
    HttpApiEndpoint.get("authorize", "/agent/oauth/authorize", {
      success: HttpApiSchema.Empty(303).annotate({ description: "The page where the person decides, or the client." }),
      error: [badRequest, TooManyRequests, Internal]
    }).annotateMerge(
      doc(
        "read",
        "Ask a person for access",
        `Where a client sends the browser of a person who signs it in by the server's URL (RFC 6749, section 4.1.1). Answers 303 to the page \`/authorize\`, where the person has 10 minutes to decide. A client or a redirect that is not known is 400, and never a redirect. Whatever else is wrong is answered by 303 to the redirect, with \`error\`, \`state\` and \`iss\` (RFC 9207), if the redirect leads to the person's own computer or the client is built in, and by 400 otherwise. ${noKey}`,
        {
          query: {
            response_type: { description: "Always `code`.", required: true },
            client_id: {
              description: "The id of the client: the URL of its document, or the id that it registered by.",
              required: true
            },
            redirect_uri: {
              description: "A redirect of the client, exactly; on the person's own computer at any port (RFC 8252).",
              required: true
            },
            code_challenge: { description: "The SHA-256 of the verifier, in base64url (RFC 7636).", required: true },
            code_challenge_method: { description: "Always `S256`.", required: true },
            scope: { description: "`read write`, or `read`. By default `read write`." },
            state: { description: `Sent back as it is: at most ${maxState} visible ASCII characters.` },
            resource: {
              description:
                "The resource that the access is for (RFC 8707): `{BASE_URL}/agent/mcp`, which is the default."
            }
          },
          responses: {
            303: { headers: { Location: { description: "Where to go.", schema: { type: "string" }, required: true } } },
            400: {
              description:
                "The client or the redirect is not known, or something else is wrong and the redirect leads elsewhere."
            }
          }
        }
      )
    ),
    HttpApiEndpoint.post("token", "/agent/oauth/token", {
      payload: [CodeRequest.pipe(form), TokenRequest.pipe(form)],
      success: Tokens,
      error: [badRequest, OAuthError.pipe(HttpApiSchema.status(401)), TooManyRequests, Internal]
    }).annotateMerge(
      doc(
        "write",
        "Get tokens",
        "Exchanges a code for the tokens of a new sign-in, or the last refresh token of a sign-in for the next pair (RFC 6749). The body is form-encoded. The code or the refresh token is the only credential.\n\nA code works once, within 60 seconds, for the client, the redirect and the verifier that it was made for; an exchange that fails does not use it up. If it is exchanged a second time, the sign-in ends (`invalid_grant`).\n\nThe refresh token of a sign-in that was made with the server URL may be sent again within 60 minutes of its first use, and gives another pair each time, while all tokens keep working: the processes of one computer share it. Later, it ends the sign-in (`invalid_grant`). What follows is of sign-ins that were made by registering an agent.\n\nA refresh token works once. If the response got lost, the same refresh token may be sent again within 60 seconds, as long as its successor has not been used: it then gives a fresh pair, and the lost one stops working; sending the lost one after all ends the whole sign-in, since two hold it. Any other use of a used refresh token ends the whole sign-in (`invalid_grant`).\n\nTokens that are unknown, expired, or belong to another client are `invalid_grant` too. While the workspace has blocked the sign-in, the answer is 401 `invalid_client`. `scope` says what the new access token allows: `read` while the member is a viewer. Earlier access tokens keep working until they expire.",
        {
          responses: {
            200: { description: "A pair of tokens." },
            400: { description: "Why the request failed." },
            401: { description: "The workspace has blocked the sign-in." }
          }
        }
      )
    ),
    HttpApiEndpoint.post("revoke", "/agent/oauth/revoke", {
      payload: RevocationRequest.pipe(form),
      success: HttpApiSchema.Empty(200).annotate({ description: "The token does not work." }),
      error: [badRequest, TooManyRequests, Internal]
    }).annotateMerge(
      doc(
        "write",
        "Revoke a token",
        "Revokes a token (RFC 7009). The body is form-encoded. A refresh token ends the whole sign-in, an access token ends only itself. An unknown token is 200 too. If `client_id` is sent and is not that of the sign-in, the answer is `invalid_grant` and nothing ends. The token is the only credential.",
        { responses: { 400: { description: "Why the request failed." } } }
      )
    )
  )
  .add(
    HttpApiEndpoint.post("register", "/agent/oauth/register", {
      payload: ClientRegistration,
      success: RegisteredClient.pipe(HttpApiSchema.status(201)),
      error: [badRequest, TooManyRequests, Internal]
    }).annotateMerge(
      doc(
        "write",
        "Register a client",
        `Registers a client that signs in by the server's URL (RFC 7591). It is public: there is no secret, and \`token_endpoint_auth_method\` is \`none\` whatever was asked for. Redirects must be of https, of http to the user's own computer, or of an app's scheme with a dot, without a fragment or a user: else \`invalid_redirect_uri\`. A client that nobody signs in with is deleted after 24 hours. From one network address, 20 clients an hour can be registered (429). ${noKey}`,
        { responses: { 201: { description: "The client." }, 400: { description: "Why the request failed." } } }
      )
    )
  )
  .middleware(NoStore)
  .annotateMerge(
    OpenApi.annotations({
      title: "Agent sign-ins",
      description:
        "The OAuth endpoints of agents: making sign-ins by the server's URL, refreshing and ending sign-ins. The plugin's sign-ins are made by registering an agent."
    })
  ) {}
