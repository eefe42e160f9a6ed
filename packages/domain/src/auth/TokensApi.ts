import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Body } from "../Body.ts"
import { doc } from "../Doc.ts"
import { Unauthorized } from "../Errors.ts"
import { Edge } from "../identity/Authorization.ts"
import { ExchangedKey, ExchangeToken } from "../identity/TrustedPublisher.ts"
import { NoStore } from "../NoStore.ts"
import { atLeast, atMost } from "../Text.ts"

export const ReportToken = Body({
  token: Schema.String.check(atLeast(1), atMost(200)).annotate({ description: "The token, of any kind." })
}).annotate({
  identifier: "ReportToken",
  description: "A token that somebody has who should not.",
  examples: [{ token: "ctk_4fGhTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H9aZk" }]
})
export type ReportToken = typeof ReportToken.Type

/** Tokens in wrong hands, and tokens of CI (docs/contract.md, Reported tokens, Trusted publishers). Anybody may call it. */
export class TokensApi extends HttpApiGroup.make("tokens")
  .add(
    HttpApiEndpoint.post("report", "/v1/tokens/report", {
      payload: ReportToken,
      success: HttpApiSchema.NoContent.annotate({ description: "Whatever the token was, it does not work any more." })
    }).annotateMerge(
      doc(
        "write",
        "Report a token",
        "Ends a token of any kind that you found. No API key is needed: whoever holds a token may end it. An API key ends with all that was made with it, an access or refresh token with its sign-in, the token of a cookie with its session; an invite is revoked, and a sign-in link used up. The token of a deployment ends. Of a run token the run goes on. The answer is 204 whatever the token was. Each network address may send 20 reports an hour; above that nothing ends, and the answer is 429."
      )
    ),
    HttpApiEndpoint.post("exchange", "/v1/token-exchange", {
      payload: ExchangeToken,
      success: ExchangedKey,
      error: Unauthorized
    })
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "write",
          "Exchange a token of a CI",
          `Answers an account API key of the workspace that works for 15 minutes, for the ID token (OpenID Connect) of a CI job that a trusted publisher of the workspace stands for. No API key is needed. The key has the role and the scopes of the publisher, and is named after the workflow's file: runs that it publishes show that name.

The token must be signed by an issuer that the server takes, be for this server (\`aud\`), have not expired, and have a \`jti\`: it works once, here and in every workspace. Where several publishers match, the one with the most conditions counts, and of these the oldest.

Anything else is 401, and \`reason\` says what to look at: \`invalid_token\` (malformed, of another issuer, for another audience, or not signed as it should be), \`token_expired\`, \`token_used\`, \`not_trusted\` (there is no such publisher, or no such workspace) or \`issuer_unavailable\` (the issuer did not answer with its keys: try again with the same token). Refusals are limited like requests with a credential that is not valid: 60 a minute from an address, then 429. A token that is right is never refused for them.`
        )
      )
  )
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Tokens",
      description: "Ends tokens that are in the wrong hands, and exchanges tokens of CI for keys."
    })
  ) {}
