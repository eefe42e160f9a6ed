import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { doc, PathRef } from "../Doc.ts"
import { Conflict, NotFound, TooManyRequests, Unauthorized } from "../Errors.ts"
import {
  AddPasskey,
  maxPasskeys,
  Passkey,
  PasskeyCreationOptions,
  PasskeyProof,
  PasskeyRequestOptions,
  RenamePasskey
} from "./Passkey.ts"
import { SignedIn } from "./Session.ts"
import { OwnPages } from "./SessionAuthorization.ts"

/** The endpoints of the group `auth` that concern passkeys (docs/contract.md, Passkeys). */

const PasskeyRef = PathRef.annotate({
  description: "The passkey's id.",
  examples: ["0197a1b2-0000-7000-8000-0000000000e1"]
})

const cookieOnly = "Requires the cookie of a session; an API key is 401."
const freshProof =
  "The session must have proven in the last 15 minutes who its person is, else it is 403 `sudo_required`."
const unblocked = "If a workspace has blocked the session, it is 403 `session_blocked`."
const tooMany = `You have ${maxPasskeys} passkeys, which is the limit. Remove one first.`

/** Those that take the cookie of a session. */
export const ofSession = [
  HttpApiEndpoint.get("passkeys", "/auth/v1/passkeys", {
    success: Schema.Struct({ passkeys: Schema.Array(Passkey) }).annotate({
      identifier: "Passkeys",
      description: "The passkeys of the person, by name."
    })
  }).annotateMerge(doc("read", "List your passkeys", `Lists your passkeys by name. ${cookieOnly}`)),
  HttpApiEndpoint.post("passkeyOptions", "/auth/v1/passkeys/options", {
    success: PasskeyCreationOptions,
    error: Conflict
  }).annotateMerge(
    doc(
      "write",
      "Begin to add a passkey",
      `Returns what the browser makes a passkey by. Its challenge works once, for 5 minutes. ${freshProof} ${unblocked} ${cookieOnly}`,
      { conflicts: { too_many_passkeys: tooMany } }
    )
  ),
  HttpApiEndpoint.post("addPasskey", "/auth/v1/passkeys/verify", {
    payload: AddPasskey,
    success: Passkey.pipe(HttpApiSchema.status(201)),
    error: Conflict
  }).annotateMerge(
    doc(
      "write",
      "Add a passkey",
      `Stores the passkey that the browser made. One that is not as it was asked for, or whose challenge is unknown, used or expired, is 400. ${freshProof} ${unblocked} ${cookieOnly}`,
      { conflicts: { passkey_exists: "The passkey is known already.", too_many_passkeys: tooMany } }
    )
  ),
  HttpApiEndpoint.patch("renamePasskey", "/auth/v1/passkeys/:passkey", {
    params: { passkey: PasskeyRef },
    payload: RenamePasskey,
    success: Passkey,
    error: NotFound
  }).annotateMerge(
    doc("write", "Rename a passkey", `Changes what you call a passkey. One that is not yours is 404. ${cookieOnly}`)
  ),
  HttpApiEndpoint.delete("removePasskey", "/auth/v1/passkeys/:passkey", {
    params: { passkey: PasskeyRef },
    success: HttpApiSchema.NoContent.annotate({ description: "The passkey is removed." }),
    error: [NotFound, Conflict]
  }).annotateMerge(
    doc(
      "write",
      "Remove a passkey",
      `Removes a passkey, unless you could not sign in any more without it. One that is not yours is 404. ${freshProof} ${cookieOnly}`,
      {
        conflicts: {
          last_method: "It is the last way in which you can sign in. Add another first."
        }
      }
    )
  ),
  HttpApiEndpoint.post("sudoOptions", "/auth/v1/sudo/options", { success: PasskeyRequestOptions }).annotateMerge(
    doc(
      "write",
      "Begin to confirm with a passkey",
      `Returns what the browser asks one of your passkeys for. Its challenge works once, for 5 minutes. ${cookieOnly}`
    )
  )
] as const

/** Those that need no credential. */
export const open = [
  HttpApiEndpoint.post("passkeySignInOptions", "/auth/v1/passkeys/sign-in/options", {
    success: PasskeyRequestOptions,
    error: TooManyRequests
  })
    .middleware(OwnPages)
    .annotateMerge(
      doc(
        "write",
        "Begin to sign in with a passkey",
        "Returns what the browser asks any passkey of this service for. Its challenge works once, for 5 minutes. The 601st request in an hour from one network address is 429. The request must come from a page of the service (403 `cross_site`). No API key is needed."
      )
    ),
  HttpApiEndpoint.post("signInWithPasskey", "/auth/v1/passkeys/sign-in/verify", {
    payload: PasskeyProof,
    success: SignedIn,
    error: [Unauthorized, TooManyRequests]
  })
    .middleware(OwnPages)
    .annotateMerge(
      doc(
        "write",
        "Sign in with a passkey",
        "Signs in whose passkey it is, and sets the cookie of a new session. A session that the browser had ends. A proof that does not work, whatever is wrong with it, is 401 `sign_in_failed`. After 20 failures in an hour from one network address, every further one is 429; a proof that is right works nevertheless. The request must come from a page of the service (403 `cross_site`). No API key is needed."
      )
    )
] as const
