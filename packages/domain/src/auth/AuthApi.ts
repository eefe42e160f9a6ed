import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound, TooManyRequests, Unauthorized } from "../Errors.ts"
import { Edge } from "../identity/Authorization.ts"
import { AcceptInvite, InvitePreview, InviteToken } from "../identity/Invite.ts"
import { NoStore } from "../NoStore.ts"
import * as MailEndpoints from "./MailEndpoints.ts"
import { SudoProof } from "./Passkey.ts"
import * as PasskeyEndpoints from "./PasskeyEndpoints.ts"
import { ListedSession, RevokedSessions, SignedIn, SignInMethods, SignInProof } from "./Session.ts"
import { OwnPages, SessionAuthorization } from "./SessionAuthorization.ts"
import { identityEndpoints, singleSignOnEndpoints } from "./SingleSignOnApi.ts"

const SessionRef = PathRef.annotate({
  description: "The session's id.",
  examples: ["0197a1b2-0000-7000-8000-0000000000d1"]
})

const ended = HttpApiSchema.NoContent.annotate({ description: "The session has ended." })
const cookieOnly = "Requires the cookie of a session; an API key is 401."
const failures =
  "A proof that is unknown, used, expired or of somebody else is 401 `sign_in_failed`. After 20 failures in an hour from one network address, every code and every further failure is 429; a link that is right works nevertheless."

/**
 * Signing in with a browser (docs/contract.md, Sessions). Where `BASE_URL` is http and not this computer, everything but
 * `methods` is 403 `insecure_base_url`.
 */
export class AuthApi extends HttpApiGroup.make("auth")
  .add(
    HttpApiEndpoint.get("session", "/auth/v1/session", { success: SignedIn }).annotateMerge(
      doc("read", "Get your session", `Returns who is signed in, and the workspaces they may act in. ${cookieOnly}`)
    ),
    HttpApiEndpoint.get("sessions", "/auth/v1/sessions", {
      success: Schema.Struct({ sessions: Schema.Array(ListedSession) }).annotate({
        identifier: "Sessions",
        description: "The sessions of the person, the one that was seen last first."
      })
    }).annotateMerge(
      doc(
        "read",
        "List your sessions",
        `Lists where you are signed in, the session that was seen last first. ${cookieOnly}`
      )
    ),
    HttpApiEndpoint.delete("endSession", "/auth/v1/sessions/:session", {
      params: { session: SessionRef },
      success: ended,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "write",
        "End one of your sessions",
        `Signs one of your browsers out, possibly this one. A session that is not yours or has ended is 404. A session that a workspace has blocked needs a fresh proof to end another one (403 \`sudo_required\`). ${cookieOnly}`
      )
    ),
    HttpApiEndpoint.post("endOtherSessions", "/auth/v1/sessions/revoke-others", {
      success: RevokedSessions,
      error: Forbidden
    }).annotateMerge(
      doc(
        "write",
        "End your other sessions",
        `Signs all your other browsers out. A session that a workspace has blocked needs a fresh proof (403 \`sudo_required\`). ${cookieOnly}`
      )
    ),
    HttpApiEndpoint.post("sudo", "/auth/v1/sudo", {
      payload: SudoProof,
      success: SignedIn,
      error: TooManyRequests
    }).annotateMerge(
      doc(
        "write",
        "Confirm that it is you",
        `Proves again that the session is yours, with another link or code of your own, or one of your passkeys. For 15 minutes it may then do what needs a fresh proof, which is 403 \`sudo_required\` otherwise. The session gets a new cookie, and the one before stops working. A mailed link without the cookie of the browser that asked for it is 403 \`other_browser\`. ${failures} ${cookieOnly}`
      )
    ),
    ...MailEndpoints.ofSession,
    ...PasskeyEndpoints.ofSession
  )
  .add(...identityEndpoints)
  .middleware(SessionAuthorization)
  .add(...singleSignOnEndpoints)
  .add(
    HttpApiEndpoint.get("methods", "/auth/v1/methods", { success: SignInMethods }).annotateMerge(
      doc("read", "Get the ways to sign in", "Returns how people can sign in to this server. No API key is needed.")
    ),
    HttpApiEndpoint.post("consumeLink", "/auth/v1/links/consume", {
      payload: SignInProof,
      success: SignedIn,
      error: [Unauthorized, Forbidden, TooManyRequests]
    })
      .middleware(OwnPages)
      .annotateMerge(
        doc(
          "write",
          "Sign in with a link or a code",
          `Uses a link or a code up, and sets the cookie of a new session. A session that the browser had ends. A printed link works anywhere. A mailed one works in the browser that asked for it, else it is 403 \`other_browser\` and stays good; so does a code, which can be tried 10 times. ${failures} The request must come from a page of the service (403 \`cross_site\`). No API key is needed.`
        )
      ),
    HttpApiEndpoint.post("acceptInvite", "/auth/v1/invites/accept", {
      payload: AcceptInvite,
      success: SignedIn.pipe(HttpApiSchema.status(201)),
      error: [NotFound, Conflict]
    })
      .middleware(OwnPages)
      .annotateMerge(
        doc(
          "write",
          "Accept an invite and sign in",
          "Joins the workspace as `POST /v1/invites/accept` does, and answers a session instead of a key. Without a session, this creates a person, signs them in and sets the cookie; if somebody has proven the address, they must sign in first (409 `sign_in_required`). With a session, its person joins, and the session goes on. The request must come from a page of the service (403 `cross_site`). No API key is needed.",
          {
            conflicts: {
              sign_in_required: "This address has an account. Sign in with it, or accept with one of its keys.",
              other_address: "The invite is for another address than yours.",
              already_member: "You are a member of the workspace already.",
              address_in_use: "An active member of the workspace has the same address."
            }
          }
        )
      ),
    HttpApiEndpoint.post("previewInvite", "/auth/v1/invites/preview", {
      payload: InviteToken,
      success: InvitePreview,
      error: NotFound
    })
      .middleware(OwnPages)
      .annotateMerge(
        doc(
          "read",
          "Look at an invite",
          "Returns who invites whom to which workspace, for whoever has the token, which stays good. A token that is unknown, used, revoked or expired is 404. The request must come from a page of the service (403 `cross_site`). No API key is needed."
        )
      ),
    HttpApiEndpoint.delete("signOut", "/auth/v1/session", { success: ended })
      .middleware(OwnPages)
      .annotateMerge(
        doc(
          "write",
          "Sign out",
          "Ends the session, if there is one, and clears its cookie. The request must come from a page of the service (403 `cross_site`). No API key is needed."
        )
      ),
    ...MailEndpoints.open,
    ...PasskeyEndpoints.open
  )
  .middleware(NoStore)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Signing in",
      description:
        "How people sign in with a browser, and what they are signed in with. Where `BASE_URL` is http and not this computer, all operations but the list of ways are 403 `insecure_base_url`."
    })
  ) {}
