import type { PersonId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Timestamp } from "@delivery/domain/Timestamp"
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
      ofAddress: (email) =>
        memory.read((database) =>
          database
            .table(persons)
            .filter((person) => person.email === email)
            .toSorted(inOrder)
        ),
      prove: prove(memory),
      list: memory.read((database) =>
        database
          .table(persons)
          .filter(() => true)
          .toSorted((a, b) => compare(a.email, b.email) || inOrder(a, b))
      ),
      lock: () => Effect.void,
      isEmpty: memory.read((database) => database.table(persons).find(() => true) === undefined)
    })
  )
)

/** Of one address: who has proven it first, then the oldest first. */
const inOrder = (a: PersonRow, b: PersonRow): number =>
  Number(a.emailVerifiedAt === null) - Number(b.emailVerifiedAt === null) ||
  compare(a.createdAt, b.createdAt) ||
  compare(a.id, b.id)

const put = (memory: Memory, id: PersonId, change: (present: PersonRow | undefined) => PersonRow) =>
  memory.write((database) => {
    const rows = database.table(persons)
    const person = change(rows.get(id))
    const isTaken = (other: PersonRow) =>
      other.id !== id && other.email === person.email && other.emailVerifiedAt !== null
    return person.emailVerifiedAt !== null && rows.find(isTaken) !== undefined
      ? Effect.fail(new UniqueViolation({ constraint: "persons_verified_email_key" }))
      : Effect.sync(() => rows.set(id, person))
  })

const insert = (memory: Memory) => (person: PersonRow) => put(memory, person.id, () => person)

const prove = (memory: Memory) => (id: PersonId, at: Timestamp) =>
  put(memory, id, (person) => ({ ...person!, emailVerifiedAt: person!.emailVerifiedAt ?? at }))
