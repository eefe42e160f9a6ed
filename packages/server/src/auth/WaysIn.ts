import { Conflict } from "@delivery/domain/Errors"
import type { PersonId } from "@delivery/domain/Ids"
import { Effect } from "effect"
import type { Mail } from "../identity/Mail.ts"
import type { PersonsRepo } from "../identity/PersonsRepo.ts"
import type { PasskeysRepo } from "./PasskeysRepo.ts"

interface Dependencies {
  readonly mail: Pick<Mail["Service"], "sendInvite">
  readonly passkeys: PasskeysRepo["Service"]
  readonly persons: PersonsRepo["Service"]
}

/**
 * Fails where a person could not sign in any more without the operator of the host. Called in the transaction that
 * removed a way in, which holds the row of the person (`PersonsRepo.lock`).
 */
export const keepsWayIn = ({ mail, passkeys, persons }: Dependencies) =>
  Effect.fnUntraced(function* (personId: PersonId) {
    if ((yield* passkeys.ofPerson(personId)).length > 0) return
    // A server that sends no mail sends no link either.
    const person = yield* persons.find(personId)
    if (mail.sendInvite !== undefined && person?.emailVerifiedAt != null) return
    return yield* new Conflict({
      message: "It is the last way in which you can sign in. Add another first.",
      reason: "last_method"
    })
  })
