import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc } from "../Doc.ts"
import { Internal, TooManyRequests } from "../Errors.ts"
import { Edge } from "../identity/Authorization.ts"
import { NoStore } from "../NoStore.ts"
import {
  AuthorizationServerMetadata,
  OAuthError,
  ProtectedResourceMetadata,
  RevocationRequest,
  TokenRequest,
  Tokens
} from "./OAuth.ts"

const form = HttpApiSchema.asFormUrlEncoded()
const badRequest = OAuthError.pipe(HttpApiSchema.status(400))
const noKey = "No key needed."

/**
 * The authorization server of agents (docs/contract.md, Agent sign-in). Errors have the form of RFC 6749, so the form of these
 * bodies is judged by the service alone.
 */
export class OAuthApi extends HttpApiGroup.make("oauth")
  .add(
    HttpApiEndpoint.get("authorizationServer", "/.well-known/oauth-authorization-server", {
      success: AuthorizationServerMetadata
    }).annotateMerge(
      doc("Get the authorization server's metadata", `What the OAuth endpoints support (RFC 8414). ${noKey}`)
    ),
    HttpApiEndpoint.get("protectedResource", "/.well-known/oauth-protected-resource", {
      success: ProtectedResourceMetadata
    }).annotateMerge(doc("Get the protected resource's metadata", `What access tokens are for (RFC 9728). ${noKey}`)),
    HttpApiEndpoint.get("mcpProtectedResource", "/.well-known/oauth-protected-resource/agent/mcp", {
      success: ProtectedResourceMetadata
    }).annotateMerge(
      doc(
        "Get the MCP endpoint's metadata",
        `The same document, at the place that RFC 9728 derives from the resource's path. ${noKey}`
      )
    )
  )
  .middleware(Edge)
  .add(
    HttpApiEndpoint.post("token", "/agent/oauth/token", {
      payload: TokenRequest.pipe(form),
      success: Tokens,
      error: [badRequest, OAuthError.pipe(HttpApiSchema.status(401)), TooManyRequests, Internal]
    }).annotateMerge(
      doc(
        "Refresh tokens",
        "Gives the next pair of a sign-in for its last refresh token, form-encoded (RFC 6749). A refresh token works once. The last one that was used, sent again within 60 seconds and before its successor, gives a fresh pair in place of the one that was lost, whose refresh token dies. Any other use of a used one ends the whole sign-in: `invalid_grant`, as for whatever is unknown, expired or another client's. While the member is inactive: 401 `invalid_client`. `scope` is what the token may do now: `read` while the member is a viewer. Earlier access tokens live on until they expire. The refresh token is the credential; no other is needed.",
        {
          responses: {
            200: { description: "The next pair." },
            400: { description: "Why the request fails." },
            401: { description: "The member is inactive." }
          }
        }
      )
    ),
    HttpApiEndpoint.post("revoke", "/agent/oauth/revoke", {
      payload: RevocationRequest.pipe(form),
      success: HttpApiSchema.Empty(200).annotate({ description: "The token works no more, or never did." }),
      error: [badRequest, TooManyRequests, Internal]
    }).annotateMerge(
      doc(
        "Revoke a token",
        "Ends the whole sign-in of a refresh token, or one access token, form-encoded (RFC 7009). A token that is unknown: 200. With a `client_id` that is not the sign-in's: `invalid_grant`, and nothing ends. The token is the credential; no other is needed.",
        { responses: { 400: { description: "Why the request fails." } } }
      )
    )
  )
  .middleware(NoStore)
  .annotateMerge(
    OpenApi.annotations({
      title: "Agent sign-ins",
      description:
        "The OAuth endpoints of agents: refreshing and ending sign-ins. Registering an agent makes one; the website makes those with the server URL."
    })
  ) {}
