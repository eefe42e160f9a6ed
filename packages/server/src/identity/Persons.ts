import { Conflict } from "@delivery/domain/Errors"
import type { PersonId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Email, isId } from "@delivery/domain/Text"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import type { PersonRow } from "../access/ActorRows.ts"
import { PersonsRepo } from "./PersonsRepo.ts"

/** Persons and the proof of their addresses (docs/contract.md, Persons). */
export class Persons extends Context.Service<
  Persons,
  {
    /**
     * Counts the person's address as proven: by the operator, by what the service itself mailed to the address, or by
     * an issuer that says so; never by what an inviter was shown. Whoever else has the address stays a stranger.
     */
    readonly prove: (id: PersonId) => Effect.Effect<void, Conflict>
    /**
     * Whom the operator of the host means by an address or an id. Several share an address that none of them has proven,
     * and then the id alone says who.
     */
    readonly named: (addressOrId: string) => Effect.Effect<ReadonlyArray<PersonRow>>
  }
>()("@delivery/server/identity/Persons") {
  static readonly layer = Layer.effect(
    Persons,
    Effect.gen(function* () {
      const repo = yield* PersonsRepo
      return Persons.of({
        named: Effect.fn("Persons.named")(function* (addressOrId: string) {
          if (isId(addressOrId)) {
            const person = yield* repo.find(addressOrId as PersonId)
            return person === undefined ? [] : [person]
          }
          const address = Schema.decodeUnknownOption(Email)(addressOrId)
          const found = Option.isNone(address) ? [] : yield* repo.ofAddress(address.value)
          return found[0]?.emailVerifiedAt == null ? found : found.slice(0, 1)
        }),
        prove: Effect.fn("Persons.prove")(function* (id: PersonId) {
          const now = timestamp(yield* Clock.currentTimeMillis)
          yield* repo
            .prove(id, now)
            .pipe(
              Effect.catchTag("UniqueViolation", () =>
                Effect.fail(
                  new Conflict({ message: "Another person has verified this address.", reason: "address_in_use" })
                )
              )
            )
        })
      })
    })
  )
}
