import type { SignInMethod, SignInProof } from "@delivery/domain/auth/Session"
import { Forbidden, Unauthorized } from "@delivery/domain/Errors"
import type { PersonId } from "@delivery/domain/Ids"
import { Effect } from "effect"
import type { Browser } from "./Browser.ts"
import type { MailedProofs } from "./MailedProofs.ts"
import type { SignInLinks } from "./SignInLinks.ts"
import type { Throttled, Throttles } from "./Throttles.ts"

interface Dependencies {
  readonly links: SignInLinks["Service"]
  readonly mailed: MailedProofs["Service"]
}

/** A proof of who somebody is. Using it up, in a transaction, says who: of those who do so at once, one succeeds. */
export interface SignInProofFound {
  readonly method: SignInMethod
  readonly use: Effect.Effect<PersonId, Unauthorized>
}

/**
 * The proof, printed or mailed. A mailed link needs the cookie of the browser that asked for it, and stays good without. With
 * `only`, a proof of somebody else fails and stays good. Not in the transaction that uses it: a try of a code counts.
 */
export const findSignInProof = ({ links, mailed }: Dependencies) =>
  Effect.fnUntraced(function* (
    proof: SignInProof,
    browser: Browser,
    only?: PersonId
  ): Effect.fn.Return<SignInProofFound, Unauthorized | Forbidden> {
    const found = yield* mailed.find("sign_in", proof, browser.asked)
    if (found === undefined) {
      if (proof.token === undefined) return yield* Effect.fail(Unauthorized.signInFailed)
      return { method: "link", use: links.use(proof.token, only) }
    }
    const { id, isFromAsker, personId } = found
    if (only !== undefined && personId !== only) return yield* Effect.fail(Unauthorized.signInFailed)
    if (!isFromAsker) return yield* Effect.fail(Forbidden.otherBrowser)
    return { method: "mail", use: Effect.as(mailed.use(id), personId) }
  })

/** What a proof does, within the limits of its kind: a code can be guessed, the token of a link cannot. */
export const withinLimits =
  (throttles: Throttles["Service"], { token }: Pick<SignInProof, "token">, { address }: Browser) =>
  <A, E, R>(proof: Effect.Effect<A, E, R>): Effect.Effect<A, E | Throttled, R> =>
    token === undefined ? throttles.guess(address, proof) : throttles.prove(address, proof)
