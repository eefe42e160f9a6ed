import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { mailedProofs, MailedProofsRepo } from "./MailedProofsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  MailedProofsRepo,
  Effect.map(MemoryStorage, (memory) =>
    MailedProofsRepo.of({
      insert: insert(memory),
      findByToken: (purpose, tokenHash, now) =>
        memory.read((database) =>
          database
            .table(mailedProofs)
            .find((row) => row.tokenHash === tokenHash && row.purpose === purpose && row.expiresAt > now)
        ),
      tryCode: tryCode(memory),
      personsOf: personsOf(memory),
      use: use(memory)
    })
  )
)

const insert =
  (memory: Memory): MailedProofsRepo["Service"]["insert"] =>
  (proof) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(mailedProofs)
        rows.deleteWhere(({ expiresAt }) => expiresAt <= proof.createdAt)
        rows.set(proof.id, proof)
      })
    )

const tryCode =
  (memory: Memory): MailedProofsRepo["Service"]["tryCode"] =>
  (purpose, browserHash, now, most) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(mailedProofs)
        const tried = rows
          .filter(
            (row) =>
              row.browserHash === browserHash && row.purpose === purpose && row.expiresAt > now && row.tries < most
          )
          .map((row) => ({ ...row, tries: row.tries + 1 }))
        for (const row of tried) rows.set(row.id, row)
        return tried
      })
    )

const personsOf =
  (memory: Memory): MailedProofsRepo["Service"]["personsOf"] =>
  (purpose, { browserHash, tokenHash }) =>
    memory.read((database) => {
      const mailed = database
        .table(mailedProofs)
        .filter((row) => row.purpose === purpose && (row.tokenHash === tokenHash || row.browserHash === browserHash))
      return [...new Set(mailed.flatMap(({ personId }) => (personId === null ? [] : [personId])))]
    })

const use =
  (memory: Memory): MailedProofsRepo["Service"]["use"] =>
  (id, now) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(mailedProofs)
        const proof = rows.get(id)
        if (proof === undefined || proof.expiresAt <= now) return undefined
        rows.delete(id)
        return proof
      })
    )
