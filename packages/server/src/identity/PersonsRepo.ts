import type { PersonId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { PersonRow } from "../access/ActorRows.ts"
import type { UniqueViolation } from "../storage/Sql.ts"

/** Stores persons. An email, in lower case, belongs to one person among those who have proven it. */
export class PersonsRepo extends Context.Service<
  PersonsRepo,
  {
    readonly insert: (person: PersonRow) => Effect.Effect<void, UniqueViolation>
    readonly find: (id: PersonId) => Effect.Effect<PersonRow | undefined>
    /** Who has the address: whoever has proven it first, then the others, oldest first. */
    readonly ofAddress: (email: string) => Effect.Effect<ReadonlyArray<PersonRow>>
    /** Stores that the person has proven their address. Once proven, nothing changes. */
    readonly prove: (id: PersonId, at: Timestamp) => Effect.Effect<void, UniqueViolation>
    /** All persons, by email; those of one address as `ofAddress` has them. */
    readonly list: Effect.Effect<ReadonlyArray<PersonRow>>
    /** Holds the person's row until the transaction ends, so that what depends on it is decided one by one. */
    readonly lock: (id: PersonId) => Effect.Effect<void>
    /** Whether there is nobody. Until the transaction ends, whoever else asks waits. */
    readonly isEmpty: Effect.Effect<boolean>
  }
>()("@delivery/server/identity/PersonsRepo") {}
