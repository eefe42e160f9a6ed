import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { doc, PathRef } from "../Doc.ts"
import { Conflict, NotFound, TooManyRequests } from "../Errors.ts"
import { Asked, AskForLink, SignedIn, SignInProof } from "./Session.ts"
import { OwnPages } from "./SessionAuthorization.ts"

/** The endpoints of the group `auth` that concern mail, and invites to a proven address (docs/contract.md, Sessions). */

const InviteRef = PathRef.annotate({
  description: "The invite's id.",
  examples: ["0197a1b2-0000-7000-8000-0000000000c1"]
})

const asked = Asked.pipe(HttpApiSchema.status(202))
const noMail = { no_mail: "This server sends no mail." }
const tooManyMails =
  "In an hour one address, known or not, is sent 5 mails that were asked for from one network address, and 20 in all; the next is 429. What is asked for with a session is counted apart. So it is after 20 that were asked for from one network address and not used."
const cookieOnly = "Requires the cookie of a session; an API key is 401."

/** Those that take the cookie of a session. */
export const ofSession = [
  HttpApiEndpoint.post("askForProof", "/auth/v1/email", {
    success: asked,
    error: [Conflict, TooManyRequests]
  }).annotateMerge(
    doc(
      "write",
      "Ask for a mail that proves your address",
      `Mails a link and a code to your address, with which you show that it is yours. Returns 409 \`no_mail\` if the server sends no mail. ${tooManyMails} ${cookieOnly}`,
      { conflicts: noMail }
    )
  ),
  HttpApiEndpoint.post("proveAddress", "/auth/v1/email/consume", {
    payload: SignInProof,
    success: SignedIn,
    error: [Conflict, TooManyRequests]
  }).annotateMerge(
    doc(
      "write",
      "Prove your address",
      `Uses up the link or the code that was mailed to your address: it counts as proven then. The link works in any session of yours, the code in the one that asked for it. Returns 409 \`address_in_use\` if somebody else has proven the address. After 20 failures in an hour from one network address, every code and every further failure is 429. ${cookieOnly}`,
      { conflicts: { address_in_use: "Another person has verified this address." } }
    )
  ),
  HttpApiEndpoint.post("acceptReceivedInvite", "/auth/v1/invites/:invite/accept", {
    params: { invite: InviteRef },
    success: SignedIn,
    error: [NotFound, Conflict]
  }).annotateMerge(
    doc(
      "write",
      "Accept one of your invites",
      `Joins the workspace of an invite that the session shows in \`invites\`. Whoever was deactivated there has access again, with the role of the invite. Any other invite is 404. ${cookieOnly}`,
      {
        conflicts: {
          already_member: "You are a member of the workspace already.",
          address_in_use: "An active member of the workspace has the same address."
        }
      }
    )
  )
] as const

/** Those that need no credential. */
export const open = [
  HttpApiEndpoint.post("askForLink", "/auth/v1/links", {
    payload: AskForLink,
    success: asked,
    error: [Conflict, TooManyRequests]
  })
    .middleware(OwnPages)
    .annotateMerge(
      doc(
        "write",
        "Ask for a mail to sign in with",
        `Mails a link and a code to the address, if a person has proven it. The answer is the same if nobody has, and sets a cookie: the link and the code work in this browser, for 15 minutes, and whichever is used uses up the other. Returns 409 \`no_mail\` if the server sends no mail. ${tooManyMails} So is the 21st mail or failure in an hour of one network address. The request must come from a page of the service (403 \`cross_site\`). No API key is needed.`,
        { conflicts: noMail }
      )
    )
] as const
