import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { type ApiKeyRow, apiKeys, isLive } from "../access/ActorRows.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { touchMemory } from "../storage/Touch.ts"
import { ApiKeysRepo, type Authenticated, type KeyOwnerId } from "./ApiKeysRepo.ts"
import { findPerson, findWorkspace, membershipOf, present } from "./Credentials.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  ApiKeysRepo,
  Effect.map(MemoryStorage, (memory) =>
    ApiKeysRepo.of({
      insert: (key) => memory.write((database) => Effect.sync(() => database.table(apiKeys).set(key.id, key))),
      ofPerson: (personId) => live(memory, (key) => key.personId === personId),
      ofWorkspace: (workspaceId) => live(memory, (key) => key.workspaceId === workspaceId),
      madeBy: madeBy(memory),
      end: end(memory),
      holdMaker: holdMaker(memory),
      holdFamily: () => Effect.void,
      ofToken: (tokenHash) =>
        memory.read((database) => database.table(apiKeys).find((row) => row.tokenHash === tokenHash)),
      authenticate: (tokenHash, workspace) =>
        Effect.flatMap(present, (now) => memory.read((database) => authenticate(database, tokenHash, workspace, now))),
      touch: touchMemory(memory, apiKeys, "lastUsedAt")
    })
  )
)

/** Keys that work, newest first. */
const live = (memory: Memory, isOwners: (key: ApiKeyRow) => boolean) =>
  Effect.flatMap(present, (now) =>
    memory.read((database) =>
      database
        .table(apiKeys)
        .filter((key) => isLive(key, now) && isOwners(key))
        .toSorted((a, b) => compare(b.createdAt, a.createdAt) || compare(b.id, a.id))
    )
  )

const madeBy = (memory: Memory) => (workspaceId: WorkspaceId, personId: PersonId) =>
  memory.read((database) => {
    const makers = new Set<string>([personId])
    const made: Array<ApiKeyRow> = []
    for (const maker of makers) {
      const keys = database
        .table(apiKeys)
        .filter((key) => key.workspaceId === workspaceId && key.createdById === maker && !makers.has(key.id))
      made.push(...keys)
      for (const { id } of keys) makers.add(id)
    }
    return made
  })

const isOf = (key: ApiKeyRow, owner: KeyOwnerId | "anyone"): boolean =>
  owner === "anyone" || ("personId" in owner ? key.personId === owner.personId : key.workspaceId === owner.workspaceId)

const end =
  (memory: Memory): ApiKeysRepo["Service"]["end"] =>
  (id, owner, { at, keepAccountKeys }) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(apiKeys)
        const first = rows.get(id)
        if (first === undefined || !isLive(first, at) || !isOf(first, owner)) return []
        const chain = new Set<string>([id])
        for (const maker of chain) {
          const made = rows.filter(
            ({ makerId, workspaceId }) => makerId === maker && !(keepAccountKeys && workspaceId !== null)
          )
          for (const key of made) chain.add(key.id)
        }
        const ended = rows
          .filter((key) => chain.has(key.id) && isLive(key, at))
          .map((key) => ({ ...key, revokedAt: at }))
        for (const key of ended) rows.set(key.id, key)
        return ended
      })
    )

const holdMaker = (memory: Memory) => (id: string) =>
  Effect.flatMap(present, (now) =>
    memory.read((database) => {
      const key = database.table(apiKeys).get(id)
      return key === undefined || !isLive(key, now)
        ? undefined
        : { id, family: key.familyId ?? id, expiresAt: key.expiresAt }
    })
  )

const authenticate = (
  database: MemoryDatabase,
  tokenHash: string,
  workspaceRef: string | undefined,
  now: Timestamp
): Authenticated | undefined => {
  const key = database.table(apiKeys).find((row) => row.tokenHash === tokenHash)
  if (key === undefined || !isLive(key, now)) return undefined
  const { id, name, scopes } = key
  const workspace = findWorkspace(database, workspaceRef ?? key.workspaceId)
  if (key.personId === null) {
    const role = key.workspaceId === workspace?.id ? key.role : null
    return {
      keyId: id,
      scopes,
      principal: { kind: "apiKey", id, name },
      membership: membershipOf(workspace, role)
    }
  }
  const { membership, person } = findPerson(database, key.personId, workspace)
  return { keyId: id, scopes, principal: { kind: "user", ...person }, membership }
}
