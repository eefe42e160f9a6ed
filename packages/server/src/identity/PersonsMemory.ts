import type { Person } from "@delivery/domain/identity/Actor"
import { compare } from "@delivery/domain/Order"
import { Effect, Layer } from "effect"
import { type PersonRow, persons } from "../access/ActorRows.ts"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { UniqueViolation } from "../storage/Sql.ts"
import { PersonsRepo } from "./PersonsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  PersonsRepo,
  Effect.map(MemoryStorage, (memory) =>
    PersonsRepo.of({
      insert: insert(memory),
      find: (id) => memory.read((database) => database.table(persons).get(id)),
      findByEmail: findByEmail(memory),
      list: memory.read((database) =>
        database
          .table(persons)
          .filter(() => true)
          .toSorted((a, b) => compare(a.email, b.email))
      ),
      lock: () => Effect.void,
      isEmpty: memory.read((database) => database.table(persons).find(() => true) === undefined)
    })
  )
)

const insert = (memory: Memory) => (person: PersonRow) =>
  memory.write((database) => {
    const rows = database.table(persons)
    return rows.find((other) => other.email === person.email) !== undefined
      ? Effect.fail(new UniqueViolation({ constraint: "persons_email_key" }))
      : Effect.sync(() => rows.set(person.id, person))
  })

const findByEmail = (memory: Memory) => (email: string) =>
  memory.read((database): Person | undefined => {
    const person = database.table(persons).find((row) => row.email === email)
    return person && { id: person.id, name: person.name, email: person.email }
  })
