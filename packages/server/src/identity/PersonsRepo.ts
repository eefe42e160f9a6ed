import type { Person } from "@delivery/domain/identity/Actor"
import type { PersonId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { PersonRow } from "../access/ActorRows.ts"
import type { UniqueViolation } from "../storage/Sql.ts"

/** Stores persons. An email belongs to one person. */
export class PersonsRepo extends Context.Service<
  PersonsRepo,
  {
    readonly insert: (person: PersonRow) => Effect.Effect<void, UniqueViolation>
    readonly find: (id: PersonId) => Effect.Effect<PersonRow | undefined>
    readonly findByEmail: (email: string) => Effect.Effect<Person | undefined>
    /** All persons, by email. */
    readonly list: Effect.Effect<ReadonlyArray<PersonRow>>
    /** Holds the person's row until the transaction ends, so that what depends on it is decided one by one. */
    readonly lock: (id: PersonId) => Effect.Effect<void>
    /** Whether there is nobody. Until the transaction ends, whoever else asks waits. */
    readonly isEmpty: Effect.Effect<boolean>
  }
>()("@delivery/server/identity/PersonsRepo") {}
