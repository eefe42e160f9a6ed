import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { type ApiKeyRow, apiKeys, isLive } from "../access/ActorRows.ts"
import { resolveActor } from "../access/Actors.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { touchMemory } from "../storage/Touch.ts"
import { ApiKeysRepo, type Authenticated, type KeyOwnerId, type KeyWithActor } from "./ApiKeysRepo.ts"
import { isBlocked } from "./BlocksRepo.ts"
import { findPerson, findWorkspace, membershipOf, present } from "./Credentials.ts"
import { memberKey, members } from "./MembersRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  ApiKeysRepo,
  Effect.map(MemoryStorage, (memory) =>
    ApiKeysRepo.of({
      insert: (key) => memory.write((database) => Effect.sync(() => database.table(apiKeys).set(key.id, key))),
      ofPerson: (personId) => live(memory, (key) => key.personId === personId),
      ofWorkspace: (workspaceId) => liveWithActors(memory, (key) => key.workspaceId === workspaceId),
      actingIn: (workspaceId) =>
        liveWithActors(memory, (key, database) =>
          key.personId === null
            ? key.workspaceId === workspaceId
            : database.table(members).get(memberKey(workspaceId, key.personId))?.active === true
        ),
      madeBy: madeBy(memory),
      end: end(memory),
      endExpired: endExpired(memory),
      holdMaker: holdMaker(memory),
      holdFamily: () => Effect.void,
      holdChain: (id) => memory.read((database) => [...chainOf(database, id)]),
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
        .toSorted(newestFirst)
    )
  )

const newestFirst = (a: ApiKeyRow, b: ApiKeyRow): number => compare(b.createdAt, a.createdAt) || compare(b.id, a.id)

/** The same, with who made them. */
const liveWithActors = (memory: Memory, isOwners: (key: ApiKeyRow, database: MemoryDatabase) => boolean) =>
  Effect.flatMap(present, (now) =>
    memory.read((database): ReadonlyArray<KeyWithActor> =>
      database
        .table(apiKeys)
        .filter((key) => isLive(key, now) && isOwners(key, database))
        .toSorted(newestFirst)
        .map((key) => ({ ...key, createdBy: creatorOf(database, key) }))
    )
  )

const creatorOf = (database: MemoryDatabase, { createdById, createdByKind }: ApiKeyRow) =>
  createdByKind === null ? null : resolveActor(database, { kind: createdByKind, id: createdById } as ActorRef)

/** The credential, and the keys that were made with it and with those. */
const chainOf = (
  database: MemoryDatabase,
  id: string,
  isSpared: (key: ApiKeyRow) => boolean = () => false
): ReadonlySet<string> => {
  const chain = new Set([id])
  for (const maker of chain) {
    const made = database.table(apiKeys).filter((key) => key.makerId === maker && !isSpared(key))
    for (const key of made) chain.add(key.id)
  }
  return chain
}

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
        const chain = chainOf(database, id, ({ workspaceId }) => keepAccountKeys && workspaceId !== null)
        const ended = rows
          .filter((key) => chain.has(key.id) && isLive(key, at))
          .map((key) => ({ ...key, revokedAt: at }))
        for (const key of ended) rows.set(key.id, key)
        return ended
      })
    )

const endExpired =
  (memory: Memory): ApiKeysRepo["Service"]["endExpired"] =>
  (by, limit) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(apiKeys)
        const ended = rows
          .filter(({ expiresAt, revokedAt }) => revokedAt === null && expiresAt !== null && expiresAt <= by)
          .slice(0, limit)
          .map((key) => ({ ...key, revokedAt: key.expiresAt }))
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
  const asked = findWorkspace(database, workspaceRef ?? key.workspaceId)
  const workspace = isBlocked(database, asked?.id, id) ? undefined : asked
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
