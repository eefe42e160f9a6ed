import { compare } from "@delivery/domain/Order"
import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { UniqueViolation } from "../storage/Sql.ts"
import { identities, IdentitiesRepo, type IdentityRow } from "./IdentitiesRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  IdentitiesRepo,
  Effect.map(MemoryStorage, (memory) =>
    IdentitiesRepo.of({
      insert: insert(memory),
      findBySubject: (issuer, subject) =>
        memory.read((database) => database.table(identities).find(isAccount({ issuer, subject }))),
      ofPerson: (personId) =>
        memory.read((database) =>
          database
            .table(identities)
            .filter((row) => row.personId === personId)
            .toSorted((a, b) => compare(a.createdAt, b.createdAt) || compare(a.id, b.id))
        ),
      use: use(memory),
      delete: (id) => memory.write((database) => Effect.sync(() => database.table(identities).delete(id)))
    })
  )
)

const isAccount =
  ({ issuer, subject }: Pick<IdentityRow, "issuer" | "subject">) =>
  (row: IdentityRow) =>
    row.issuer === issuer && row.subject === subject

const insert =
  (memory: Memory): IdentitiesRepo["Service"]["insert"] =>
  (identity) =>
    memory.write((database) => {
      const rows = database.table(identities)
      return rows.find(isAccount(identity)) === undefined
        ? Effect.sync(() => rows.set(identity.id, identity))
        : Effect.fail(new UniqueViolation({ constraint: "identities_subject_key" }))
    })

const use =
  (memory: Memory): IdentitiesRepo["Service"]["use"] =>
  (change) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(identities)
        const row = rows.get(change.id)
        if (row !== undefined) rows.set(row.id, { ...row, ...change })
      })
    )
