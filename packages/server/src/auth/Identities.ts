import type { Identity } from "@delivery/domain/auth/SingleSignOn"
import { type Conflict, type Forbidden, NotFound, type Unauthorized } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { Context, Effect, Layer } from "effect"
import { freshProof, sessionPersonId } from "../access/Access.ts"
import { Mail } from "../identity/Mail.ts"
import { Makers } from "../identity/Makers.ts"
import { PersonsRepo } from "../identity/PersonsRepo.ts"
import { Storage } from "../storage/Storage.ts"
import { IdentitiesRepo } from "./IdentitiesRepo.ts"
import { PasskeysRepo } from "./PasskeysRepo.ts"
import { Providers } from "./Providers.ts"
import { SignInAudit } from "./SignInAudit.ts"
import { holdSession, keepsWayIn } from "./WaysIn.ts"

/** The accounts at providers by which the caller signs in (docs/contract.md, Single sign-on). */
export class Identities extends Context.Service<
  Identities,
  {
    /** The oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<Identity>, never, Caller>
    readonly remove: (id: string) => Effect.Effect<void, Unauthorized | Forbidden | NotFound | Conflict, Caller>
  }
>()("@delivery/server/auth/Identities") {
  static readonly layer = Layer.effect(
    Identities,
    Effect.gen(function* () {
      const repo = yield* IdentitiesRepo
      const persons = yield* PersonsRepo
      const storage = yield* Storage
      const audit = yield* SignInAudit
      const makers = yield* Makers
      const keepWayIn = keepsWayIn({
        identities: repo,
        mail: yield* Mail,
        passkeys: yield* PasskeysRepo,
        persons,
        providers: yield* Providers
      })
      return Identities.of({
        list: Effect.map(Effect.flatMap(sessionPersonId, repo.ofPerson), (rows) =>
          rows.map(({ personId: _, ...identity }) => identity)
        ).pipe(Effect.withSpan("Identities.list")),
        remove: Effect.fn("Identities.remove")(function* (id) {
          yield* freshProof
          const personId = yield* sessionPersonId
          const removed = Effect.gen(function* () {
            // Of two who remove the last two ways in at once, the second sees that it is the last.
            yield* persons.lock(personId)
            yield* holdSession({ makers })
            const identity = (yield* repo.ofPerson(personId)).find((identity) => identity.id === id)
            if (identity === undefined) return yield* NotFound.of("identity", id)
            yield* repo.delete(identity.id)
            yield* keepWayIn(personId)
            const subject = { type: "identity", id: identity.id, label: identity.provider }
            yield* audit.wayIn(personId, "identity_removed", subject)
          })
          yield* storage.transaction(removed)
        })
      })
    })
  )
}
