import type { PersonId, SignInId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import {
  type AuthorizationCodeRow,
  authorizationCodes,
  type AuthorizationRow,
  authorizations,
  AuthorizationsRepo
} from "./AuthorizationsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  AuthorizationsRepo,
  Effect.map(MemoryStorage, (memory) =>
    AuthorizationsRepo.of({
      insert: insert(memory),
      find: (id, now) => memory.read(find(id, now)),
      take: take(memory),
      insertCode: insertCode(memory),
      lockCode: (codeHash) => memory.read((database) => database.table(authorizationCodes).get(codeHash)),
      useCode: useCode(memory),
      endCode: endCode(memory),
      endCodes: endCodes(memory)
    })
  )
)

const insert = (memory: Memory) => (authorization: AuthorizationRow) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(authorizations)
      rows.deleteWhere(({ expiresAt }) => expiresAt <= authorization.createdAt)
      rows.set(authorization.id, authorization)
    })
  )

const find = (id: string, now: Timestamp) => (database: MemoryDatabase) => {
  const found = database.table(authorizations).get(id)
  return found !== undefined && found.expiresAt > now ? found : undefined
}

const take = (memory: Memory) => (id: string, now: Timestamp) =>
  memory.write((database) =>
    Effect.sync(() => {
      const found = find(id, now)(database)
      if (found !== undefined) database.table(authorizations).delete(id)
      return found
    })
  )

const insertCode = (memory: Memory) => (code: AuthorizationCodeRow, now: Timestamp) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(authorizationCodes)
      rows.deleteWhere(({ keptUntil }) => keptUntil <= now)
      rows.set(code.codeHash, code)
    })
  )

const useCode = (memory: Memory) => (codeHash: string, signInId: SignInId, keptUntil: Timestamp) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(authorizationCodes)
      const code = rows.get(codeHash)
      if (code !== undefined) rows.set(codeHash, { ...code, signInId, keptUntil })
    })
  )

const endCode = (memory: Memory) => (codeHash: string) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(authorizationCodes)
      const code = rows.get(codeHash)
      if (code === undefined || code.signInId !== null) return undefined
      rows.delete(codeHash)
      return code
    })
  )

const endCodes = (memory: Memory) => (workspaceId: WorkspaceId, personId: PersonId) =>
  memory.write((database) =>
    Effect.sync(() =>
      database
        .table(authorizationCodes)
        .deleteWhere((code) => code.workspaceId === workspaceId && code.personId === personId && code.signInId === null)
    )
  )
