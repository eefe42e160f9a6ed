import { compare } from "@delivery/domain/Order"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { apiKeys, isLive } from "../access/ActorRows.ts"
import { resolveActor } from "../access/Actors.ts"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { type TrustedPublisherRow, trustedPublishers, TrustedPublishersRepo } from "./TrustedPublishersRepo.ts"

export const layer = Layer.effect(
  TrustedPublishersRepo,
  Effect.map(MemoryStorage, (memory) =>
    TrustedPublishersRepo.of({
      insert: (publisher) =>
        memory.write((database) => Effect.sync(() => database.table(trustedPublishers).set(publisher.id, publisher))),
      list: (workspaceId) =>
        memory.read((database) =>
          database
            .table(trustedPublishers)
            .filter((row) => row.workspaceId === workspaceId)
            .toSorted((a, b) => oldestFirst(b, a))
            .map((row) => ({
              ...row,
              createdBy: resolveActor(database, { kind: row.createdByKind, id: row.createdById } as ActorRef)
            }))
        ),
      ofRepository: (workspaceId, { issuer, ownerId, repositoryId }) =>
        memory.read((database) =>
          database
            .table(trustedPublishers)
            .filter(
              (row) =>
                row.workspaceId === workspaceId &&
                row.issuer === issuer &&
                row.repositoryId === repositoryId &&
                row.ownerId === ownerId
            )
            .toSorted(oldestFirst)
        ),
      use: use(memory),
      delete: remove(memory),
      deleteMadeWith: deleteMadeWith(memory)
    })
  )
)

type Memory = MemoryStorage["Service"]

const oldestFirst = (a: TrustedPublisherRow, b: TrustedPublisherRow): number =>
  compare(a.createdAt, b.createdAt) || compare(a.id, b.id)

const use =
  (memory: Memory): TrustedPublishersRepo["Service"]["use"] =>
  (id, now) =>
    memory.write((database) =>
      Effect.sync(() => {
        const row = database.table(trustedPublishers).get(id)
        if (row === undefined) return undefined
        const maker = database.table(apiKeys).find(({ id }) => id === row.makerId)
        if (maker !== undefined && !isLive(maker, now)) return undefined
        const lastUsedAt = row.lastUsedAt !== null && row.lastUsedAt > now ? row.lastUsedAt : now
        const used = { ...row, lastUsedAt }
        database.table(trustedPublishers).set(id, used)
        return used
      })
    )

const remove =
  (memory: Memory): TrustedPublishersRepo["Service"]["delete"] =>
  (id) =>
    memory.write((database) =>
      Effect.sync(() => {
        const row = database.table(trustedPublishers).get(id)
        if (row !== undefined) database.table(trustedPublishers).delete(id)
        return row
      })
    )

const deleteMadeWith =
  (memory: Memory): TrustedPublishersRepo["Service"]["deleteMadeWith"] =>
  (makers) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(trustedPublishers)
        const made = rows.filter(({ makerId }) => makerId !== null && makers.includes(makerId))
        for (const { id } of made) rows.delete(id)
        return made
      })
    )
