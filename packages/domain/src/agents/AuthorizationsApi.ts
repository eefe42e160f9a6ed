import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { OwnPages, SessionAuthorization } from "../auth/SessionAuthorization.ts"
import { doc, PathRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Edge } from "../identity/Authorization.ts"
import { NoStore } from "../NoStore.ts"
import { AskingClient, Authorization, DecideAuthorization, DecidedAuthorization } from "./Authorizations.ts"

const path = "/auth/v1/authorizations/:authorization" as const
const params = {
  authorization: PathRef.annotate({
    description: "The id of the authorization: what follows `#` in the address of the page `/authorize`.",
    examples: ["0197a1b2-0000-7000-8000-0000000000e6"]
  })
}
const cookieOnly = "Requires the cookie of a session; an API key is 401."

/** What clients ask of people who sign them in by the server's URL (docs/contract.md, Sign-in by the server's URL). */
export class AuthorizationsApi extends HttpApiGroup.make("authorizations")
  .add(
    HttpApiEndpoint.get("get", path, { params, success: Authorization, error: NotFound }).annotateMerge(
      doc(
        "read",
        "Get what a client asks for",
        `Returns which client asks to act for you, where you would be sent, and where it may act. An authorization that is unknown, decided or expired is 404. ${cookieOnly}`
      )
    ),
    HttpApiEndpoint.post("decide", path, {
      params,
      payload: DecideAuthorization,
      success: DecidedAuthorization,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Decide about a client",
        `Lets the client act for you in a workspace, or refuses it. The answer says where to send the browser: with \`code\`, which the client exchanges at \`/agent/oauth/token\`, or with \`error=access_denied\`. The client gets no more than it asked for, and no more than your role allows. Letting it needs a fresh proof of who you are (403 \`sudo_required\`); refusing does not. An authorization that is unknown, decided or expired is 404, and so is a workspace that you are not active in, or that has blocked the session. ${cookieOnly}`,
        { conflicts: { other_person: "Somebody else is signed in now than the person to whom this was shown." } }
      )
    )
  )
  .middleware(SessionAuthorization)
  .add(
    HttpApiEndpoint.get("client", `${path}/client`, { params, success: AskingClient, error: NotFound })
      .middleware(OwnPages)
      .annotateMerge(
        doc(
          "read",
          "Get who asks for access",
          "Returns which client asks, for the page on which its person signs in. An authorization that is unknown, decided or expired is 404. No API key is needed."
        )
      )
  )
  .middleware(NoStore)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Consent",
      description: "What clients ask of people who sign them in by the server's URL."
    })
  ) {}
