import { WayIn } from "@delivery/domain/auth/Session"
import { Conflict, type Forbidden, Unauthorized } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { PersonId } from "@delivery/domain/Ids"
import { Effect } from "effect"
import { notBlocked } from "../identity/BlockedCallers.ts"
import type { BlocksRepo } from "../identity/BlocksRepo.ts"
import type { Mail } from "../identity/Mail.ts"
import type { Makers } from "../identity/Makers.ts"
import type { PersonsRepo } from "../identity/PersonsRepo.ts"
import type { IdentitiesRepo } from "./IdentitiesRepo.ts"
import type { PasskeysRepo } from "./PasskeysRepo.ts"
import type { Providers } from "./Providers.ts"

interface Dependencies {
  readonly identities: IdentitiesRepo["Service"]
  readonly mail: Pick<Mail["Service"], "sendInvite">
  readonly passkeys: PasskeysRepo["Service"]
  readonly persons: PersonsRepo["Service"]
  readonly providers: Providers["Service"]
}

/** By what the person can sign in without the operator of the host. */
export const waysInOf = ({ identities, mail, passkeys, persons, providers }: Dependencies) =>
  Effect.fnUntraced(function* (personId: PersonId) {
    // Those of a provider that the settings no longer name sign nobody in.
    const isUsable = ({ issuer }: { readonly issuer: string }) => providers.all.some((one) => one.isIssuer(issuer))
    const person = yield* persons.find(personId)
    const has: Readonly<Record<WayIn, boolean>> = {
      passkey: (yield* passkeys.ofPerson(personId)).length > 0,
      identity: (yield* identities.ofPerson(personId)).some(isUsable),
      // A server that sends no mail sends no link either.
      mail: mail.sendInvite !== undefined && person?.emailVerifiedAt != null
    }
    return WayIn.literals.filter((way) => has[way])
  })

/**
 * Fails where a person could not sign in any more without the operator of the host. Called in the transaction that
 * removed a way in, which holds the row of the person (`PersonsRepo.lock`).
 */
export const keepsWayIn = (dependencies: Dependencies) => {
  const waysIn = waysInOf(dependencies)
  return Effect.fnUntraced(function* (personId: PersonId) {
    if ((yield* waysIn(personId)).length > 0) return
    return yield* new Conflict({
      message: "It is the last way in which you can sign in. Add another first.",
      reason: "last_method"
    })
  })
}

/**
 * Refuses a session that a workspace has blocked: by a new way in, whoever has it would come back with another one
 * (docs/contract.md, Credentials). Removing one takes a fresh proof, and no more.
 */
export const mayAddWaysIn = (dependencies: {
  readonly blocks: BlocksRepo["Service"]
}): Effect.Effect<void, Forbidden, Caller> => notBlocked(dependencies, "Sign in again to add a way to sign in.")

/**
 * In the transaction that changes ways in: nobody blocks or ends the session until that ends, and one that has ended is
 * refused. Called after the row of the person was locked.
 */
export const holdSession = ({
  makers
}: {
  readonly makers: Makers["Service"]
}): Effect.Effect<void, Unauthorized, Caller> => Effect.asVoid(Effect.mapError(makers.hold, () => Unauthorized.session))

/** The same for who adds one. */
export const holdToAdd = (dependencies: {
  readonly blocks: BlocksRepo["Service"]
  readonly makers: Makers["Service"]
}): Effect.Effect<void, Forbidden | Unauthorized, Caller> =>
  Effect.andThen(holdSession(dependencies), mayAddWaysIn(dependencies))
