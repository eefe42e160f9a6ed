import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Body } from "../Body.ts"
import { doc } from "../Doc.ts"
import { atLeast, atMost } from "../Text.ts"
import { Edge } from "../identity/Authorization.ts"

export const ReportToken = Body({
  token: Schema.String.check(atLeast(1), atMost(200)).annotate({ description: "The token, of any kind." })
}).annotate({
  identifier: "ReportToken",
  description: "A token that somebody has who should not.",
  examples: [{ token: "ctk_4fGhTz0sVq1Jm7Rk2Lx9Wc5Bn8Yd3Pa6Ue0H9aZk" }]
})
export type ReportToken = typeof ReportToken.Type

/** Tokens in wrong hands (docs/contract.md, Reported tokens). Anybody may call it. */
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
    )
  )
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({ title: "Reported tokens", description: "Ends tokens that are in the wrong hands." })
  ) {}
