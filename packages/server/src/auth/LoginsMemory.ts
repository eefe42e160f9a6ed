import type { LoginId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { type LoginRow, logins, LoginsRepo } from "./LoginsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  LoginsRepo,
  Effect.map(MemoryStorage, (memory) => {
    const find = (id: LoginId, now: Timestamp) => memory.read(findIn(id, now))
    return LoginsRepo.of({
      insert: insert(memory),
      find,
      lock: find,
      decide: decide(memory),
      delete: (id) => memory.write((database) => Effect.sync(() => void database.table(logins).delete(id))),
      endCode: endCode(memory)
    })
  })
)

const insert = (memory: Memory) => (login: LoginRow) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(logins)
      rows.deleteWhere(({ expiresAt }) => expiresAt <= login.createdAt)
      rows.set(login.id, login)
    })
  )

const findIn = (id: LoginId, now: Timestamp) => (database: MemoryDatabase) => {
  const found = database.table(logins).get(id)
  return found !== undefined && found.expiresAt > now ? found : undefined
}

const decide =
  (memory: Memory): LoginsRepo["Service"]["decide"] =>
  (decided) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(logins)
        const login = rows.get(decided.id)
        if (login !== undefined) rows.set(login.id, { ...login, ...decided })
      })
    )

const endCode = (memory: Memory) => (codeHash: string) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(logins)
      const login = rows.find((row) => row.codeHash === codeHash)
      if (login !== undefined) rows.delete(login.id)
      return login
    })
  )
