import type { ApiKeyId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { type ApiKeyRow, apiKeys, isLive } from "../access/ActorRows.ts"
import { resolveActor } from "../access/Actors.ts"
import { type MemoryDatabase, MemoryStorage, type MemoryTable } from "../storage/MemoryStorage.ts"
import { touchMemory } from "../storage/Touch.ts"
import { ApiKeysRepo, type Authenticated, type KeyOwnerId, type KeyWithActor } from "./ApiKeysRepo.ts"
import { isBlocked } from "./BlocksRepo.ts"
import { findPerson, findWorkspace, membershipOf, present } from "./Credentials.ts"
import { memberKey, members } from "./MembersRepo.ts"
import { trustedPublishers } from "./TrustedPublishersRepo.ts"

type Memory = MemoryStorage["Service"]
type ApiKeyRows = MemoryTable<ApiKeyRow>

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
      cutOff: (ids, keptBy) => memory.write((database) => Effect.sync(() => cutOff(database, ids, keptBy))),
      madeWith: (maker) => live(memory, (key) => key.makerId === maker),
      publisherOf: (id) =>
        memory.read((database) => {
          const makerId = database.table(apiKeys).find((key) => key.id === id)?.makerId
          return database.table(trustedPublishers).find((publisher) => publisher.id === makerId)?.id
        }),
      endExpired: endExpired(memory),
      holdMaker: holdMaker(memory),
      holdFamilies: () => Effect.void,
      holdFamilyOf: (id) => memory.read((database) => familyOf(database.table(apiKeys), id)),
      holdChain: (id) => memory.read((database) => [...wholeChainOf(database, id)]),
      ofToken: (tokenHash) =>
        memory.read((database) => database.table(apiKeys).find((row) => row.tokenHash === tokenHash)),
      authenticate: (tokenHash, workspace) =>
        Effect.flatMap(present, (now) => memory.read((database) => authenticate(database, tokenHash, workspace, now))),
      state: (asked) =>
        Effect.flatMap(present, (now) =>
          memory.read((database) =>
            JSON.stringify(
              asked.map(({ tokenHash, workspace }) => authenticate(database, tokenHash, workspace, now) ?? null)
            )
          )
        ),
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

/** The credential, and the keys and trusted publishers that were made with it and with those. */
const wholeChainOf = (database: MemoryDatabase, id: string): ReadonlySet<string> => {
  const chain = new Set([id])
  for (const maker of chain) for (const made of madeWith(database, maker)) chain.add(made)
  return chain
}

const madeWith = (database: MemoryDatabase, maker: string): ReadonlyArray<string> =>
  [apiKeys, trustedPublishers].flatMap((table) =>
    database
      .table<{ readonly id: string; readonly makerId: string | null }>(table)
      .filter(({ makerId }) => makerId === maker)
      .map(({ id }) => id)
  )

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
  (id, owner, { at, keptBy }) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(apiKeys)
        const first = rows.get(id)
        if (first === undefined || !isLive(first, at) || !isOf(first, owner)) return []
        const isKept = ({ workspaceId }: ApiKeyRow) => keptBy !== undefined && workspaceId !== null
        const chain = chainOf(database, id, isKept)
        if (keptBy !== undefined) {
          const kept = rows.filter((key) => isKept(key) && key.makerId !== null && chain.has(key.makerId))
          cutOff(
            database,
            kept.map((key) => key.id),
            keptBy
          )
        }
        const ended = rows
          .filter((key) => chain.has(key.id) && isLive(key, at))
          .map((key) => ({ ...key, revokedAt: at }))
        for (const key of ended) rows.set(key.id, key)
        return ended
      })
    )

const familyOf = (rows: ApiKeyRows, id: string): string => rows.get(id)?.familyId ?? id

const cutOff = (database: MemoryDatabase, ids: ReadonlyArray<ApiKeyId>, keptBy: string): void => {
  const rows = database.table(apiKeys)
  const own = familyOf(rows, keptBy)
  const cut = (id: string, root: ApiKeyId): void => {
    const isRoot = id === root
    const key = rows.get(id)
    if (key !== undefined) {
      rows.set(id, { ...key, makerId: isRoot ? null : key.makerId, familyId: isRoot ? null : root })
    }
    for (const made of madeWith(database, id)) if (!(ids as ReadonlyArray<string>).includes(made)) cut(made, root)
  }
  for (const id of ids.filter((id) => familyOf(rows, id) !== own)) cut(id, id)
}

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
