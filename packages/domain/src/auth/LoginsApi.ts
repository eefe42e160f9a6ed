import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound, TooManyRequests, Unauthorized } from "../Errors.ts"
import { NewApiKey } from "../identity/ApiKey.ts"
import { Edge } from "../identity/Authorization.ts"
import { NoStore } from "../NoStore.ts"
import { AskingProgram, DecidedLogin, DecideLogin, Login, RedeemLogin, StartedLogin, StartLogin } from "./Logins.ts"
import { NoOtherSites, OwnPages, SessionAuthorization } from "./SessionAuthorization.ts"

const path = "/auth/v1/cli/logins/:login" as const
const params = {
  login: PathRef.annotate({
    description: "The id of the login: what follows `#` in the address of the page `/cli`.",
    examples: ["0197a1b2-0000-7000-8000-0000000000e8"]
  })
}
const cookieOnly = "Requires the cookie of a session; an API key is 401."
const program = "A page of another site is 403 `cross_site`. No API key is needed."

/** How the command line gets a key through a browser (docs/contract.md, Sign-in of the command line). */
export class LoginsApi extends HttpApiGroup.make("logins")
  .add(
    HttpApiEndpoint.get("get", path, { params, success: Login, error: NotFound }).annotateMerge(
      doc(
        "read",
        "Get what the command line asks for",
        `Returns which key the command line asks for, and from where. A login that is unknown, decided or expired is 404. ${cookieOnly}`
      )
    ),
    HttpApiEndpoint.post("decide", path, {
      params,
      payload: DecideLogin,
      success: DecidedLogin,
      error: [Forbidden, NotFound, Conflict, TooManyRequests]
    }).annotateMerge(
      doc(
        "write",
        "Decide about the command line",
        `Gives the command line an API key of yours, or refuses it. The key is made when the command line fetches it: with at most the scopes that it asks for, and for at most as long (else 400). Where the answer has a \`location\`, send the browser there. Where the program is on another computer, \`userCode\` is what its terminal shows (else 400): who only followed a link of somebody else does not know it. After 20 wrong codes in an hour from one network address, every code is 429. Allowing it needs a fresh proof of who you are (403 \`sudo_required\`); refusing does not. A login that is unknown, decided or expired is 404. ${cookieOnly}`,
        { conflicts: { other_person: "Somebody else is signed in now than the person to whom this was shown." } }
      )
    )
  )
  .middleware(SessionAuthorization)
  .add(
    HttpApiEndpoint.post("start", "/auth/v1/cli/logins", {
      payload: StartLogin,
      success: StartedLogin.pipe(HttpApiSchema.status(201)),
      error: TooManyRequests
    })
      .middleware(NoOtherSites)
      .annotateMerge(
        doc(
          "write",
          "Ask for a key through a browser",
          `Begins a login of the command line, about which a person decides at \`url\` within 10 minutes. With a \`redirectUri\`, the browser brings a code there; without one, the person types \`userCode\`. The 21st login in an hour from one network address is 429. ${program}`
        )
      ),
    HttpApiEndpoint.get("program", `${path}/program`, { params, success: AskingProgram, error: NotFound })
      .middleware(OwnPages)
      .annotateMerge(
        doc(
          "read",
          "Get who asks for a key",
          "Returns which program asks, for the page on which its person signs in. A login that is unknown, decided or expired is 404. No API key is needed."
        )
      ),
    HttpApiEndpoint.post("redeem", `${path}/token`, {
      params,
      payload: RedeemLogin,
      success: NewApiKey,
      error: [Unauthorized, Forbidden, Conflict, TooManyRequests]
    })
      .middleware(NoOtherSites)
      .annotateMerge(
        doc(
          "write",
          "Fetch the key of a login",
          `Makes the API key that a person has allowed, and answers it, once. It needs the verifier and, if the login has a \`redirectUri\`, the code, which works for 60 seconds. Before somebody has decided it is 409 \`authorization_pending\`: wait \`interval\` seconds, and ask again. If they have refused, it is 403 \`access_denied\`. Anything else that does not work is one 401 \`sign_in_failed\`: a login that is unknown, expired or redeemed, a wrong verifier or code, or a session that has ended since. What fails uses nothing up; after 20 failures in an hour from one network address, the next is 429. ${program}`,
          {
            conflicts: {
              authorization_pending: "Nobody has decided yet. Ask again later.",
              too_many_keys: "You have 20 active API keys. Revoke one first."
            }
          }
        )
      )
  )
  .middleware(NoStore)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Sign-in of the command line",
      description: "How the command line gets an API key through the browser of a person."
    })
  ) {}
