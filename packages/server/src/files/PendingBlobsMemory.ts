import type { FileId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { blobLeaseSeconds, blobOf, pendingBlobs, PendingBlobsRepo, type WorkspaceBlob } from "./PendingBlobsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  PendingBlobsRepo,
  Effect.map(MemoryStorage, (memory) =>
    PendingBlobsRepo.of({
      reserve: reserve(memory),
      renew: renew(memory),
      lapse: lapse(memory),
      lapsed: lapsed(memory),
      forget: forget(memory)
    })
  )
)

const write = <A>(memory: Memory, write: (database: MemoryDatabase, now: number) => A): Effect.Effect<A> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => memory.write((database) => Effect.sync(() => write(database, now))))

/** When a blob lapses that is reserved or renewed now. */
const leaseEnd = (now: number) => timestamp(now + blobLeaseSeconds * 1000)

const reserve =
  (memory: Memory) =>
  ({ id, ownerId, workspaceId }: WorkspaceBlob) =>
    write(memory, (database, now) =>
      database.table(pendingBlobs).set(id, { id, workspaceId, runId: ownerId, lapsesAt: leaseEnd(now) })
    )

const renew = (memory: Memory) => (ids: ReadonlyArray<FileId>) =>
  write(memory, (database, now) => {
    const blobs = database.table(pendingBlobs)
    for (const id of ids) {
      const blob = blobs.get(id)
      if (blob !== undefined) blobs.set(id, { ...blob, lapsesAt: leaseEnd(now) })
    }
  })

const lapse =
  (memory: Memory) =>
  (id: FileId, inSeconds = 0) =>
    write(memory, (database, now) => {
      const blobs = database.table(pendingBlobs)
      const blob = blobs.get(id)
      if (blob === undefined) return false
      blobs.set(id, { ...blob, lapsesAt: timestamp(now + inSeconds * 1000) })
      return true
    })

const lapsed = (memory: Memory) => (limit: number) =>
  write(memory, (database, now) =>
    database
      .table(pendingBlobs)
      .filter((blob) => blob.lapsesAt <= timestamp(now))
      .toSorted((a, b) => Date.parse(a.lapsesAt) - Date.parse(b.lapsesAt))
      .slice(0, limit)
      .map(blobOf)
  )

const forget = (memory: Memory) => (ids: ReadonlyArray<FileId>) =>
  write(memory, (database) => {
    for (const id of ids) database.table(pendingBlobs).delete(id)
  })
