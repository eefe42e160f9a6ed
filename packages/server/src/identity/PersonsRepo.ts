import type { Person } from "@delivery/domain/identity/Actor"
import type { PersonId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, failOnDuplicate, UniqueViolation } from "../storage/Sql.ts"

export interface PersonRow extends Person {
  readonly createdAt: Timestamp
}

/** Stores persons; an email belongs to one person. */
export class PersonsRepo extends Context.Service<
  PersonsRepo,
  {
    readonly insert: (person: PersonRow) => Effect.Effect<void, UniqueViolation>
    readonly findByEmail: (email: string) => Effect.Effect<Person | undefined>
    /** Holds the person's row until the transaction ends, so that what depends on it is decided one by one. */
    readonly lock: (id: PersonId) => Effect.Effect<void>
    /** Whether there is nobody. Until the transaction ends, whoever else asks waits. */
    readonly isEmpty: Effect.Effect<boolean>
  }
>()("@delivery/server/identity/PersonsRepo") {
  static readonly layerSql = Layer.effect(
    PersonsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return PersonsRepo.of({
        insert: (person) =>
          failOnDuplicate(
            Effect.asVoid(sql`insert into persons (id, name, email, created_at)
            values (${person.id}, ${person.name}, ${person.email}, ${date(person.createdAt)})`)
          ),
        findByEmail: (email) =>
          dieOnSqlError(
            Effect.map(sql<Person>`select id, name, email from persons where email = ${email}`, (rows) => rows[0])
          ),
        lock: (id) => dieOnSqlError(Effect.asVoid(sql`select 1 from persons where id = ${id} for update`)),
        isEmpty: dieOnSqlError(
          Effect.andThen(
            sql`select pg_advisory_xact_lock(hashtextextended('persons', 0))::text`,
            Effect.map(sql`select 1 from persons limit 1`, (rows) => rows.length === 0)
          )
        )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    PersonsRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      return PersonsRepo.of({
        insert: (person) =>
          memory.write((database) => {
            const persons = database.table<PersonRow>("persons")
            return persons.find((other) => other.email === person.email) !== undefined
              ? Effect.fail(new UniqueViolation({ constraint: "persons_email_key" }))
              : Effect.sync(() => persons.set(person.id, person))
          }),
        findByEmail: (email) =>
          memory.read((database): Person | undefined => {
            const person = database.table<PersonRow>("persons").find((person) => person.email === email)
            return person && { id: person.id, name: person.name, email: person.email }
          }),
        lock: () => Effect.void,
        isEmpty: memory.read((database) => database.table("persons").find(() => true) === undefined)
      })
    })
  )
}
