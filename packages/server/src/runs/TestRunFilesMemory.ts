import type { FileId, WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import {
  blobLeaseSeconds,
  fileOf,
  pendingBlobs,
  type RunBlob,
  type TestRunFile,
  testRunFiles,
  TestRunFilesRepo
} from "./TestRunFilesRepo.ts"
import { testRuns } from "./TestRunsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  TestRunFilesRepo,
  Effect.map(MemoryStorage, (memory) =>
    TestRunFilesRepo.of({
      reserve: reserve(memory),
      renew: renew(memory),
      store: store(memory),
      find: find(memory),
      isStored: isStored(memory),
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

const keyOf = ({ path, runId }: { readonly runId: string; readonly path: string }): string => `${runId}/${path}`

const reserve = (memory: Memory) => (blob: RunBlob) =>
  write(memory, (database, now) => database.table(pendingBlobs).set(blob.id, { ...blob, lapsesAt: leaseEnd(now) }))

const renew = (memory: Memory) => (ids: ReadonlyArray<FileId>) =>
  write(memory, (database, now) => {
    const blobs = database.table(pendingBlobs)
    for (const id of ids) {
      const blob = blobs.get(id)
      if (blob !== undefined) blobs.set(id, { ...blob, lapsesAt: leaseEnd(now) })
    }
  })

const store =
  (memory: Memory) =>
  ({ blob, ...file }: TestRunFile) =>
    write(memory, (database, now) => {
      const blobs = database.table(pendingBlobs)
      if (blobs.get(blob.id) === undefined) return undefined
      blobs.delete(blob.id)
      const { id: blobId, runId, workspaceId } = blob
      const row = { ...file, blobId, runId, workspaceId }
      const before = database.table(testRunFiles).get(keyOf(row))
      database.table(testRunFiles).set(keyOf(row), row)
      if (before === undefined) return { replaced: undefined }
      const replaced = fileOf(before).blob
      blobs.set(replaced.id, { ...replaced, lapsesAt: timestamp(now) })
      return { replaced }
    })

const find = (memory: Memory) => (workspaceId: WorkspaceId, number: number, path: string) =>
  memory.read((database) => {
    const run = database.table(testRuns).find((run) => run.workspaceId === workspaceId && run.number === number)
    if (run === undefined) return undefined
    const row = database.table(testRunFiles).get(keyOf({ runId: run.id, path }))
    return row === undefined ? undefined : fileOf(row)
  })

const isStored = (memory: Memory) => (id: FileId) =>
  memory.read((database) => database.table(testRunFiles).find((file) => file.blobId === id) !== undefined)

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
      .map(({ id, runId, workspaceId }) => ({ id, runId, workspaceId }))
  )

const forget = (memory: Memory) => (ids: ReadonlyArray<FileId>) =>
  write(memory, (database) => {
    for (const id of ids) database.table(pendingBlobs).delete(id)
  })
