import { compare } from "@delivery/domain/Order"
import type { FileId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { pendingBlobs } from "../files/PendingBlobsRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import type { Row } from "../storage/Table.ts"
import { fileOf, type TestRunFile, testRunFiles, TestRunFilesRepo } from "./TestRunFilesRepo.ts"
import { testRuns } from "./TestRunsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  TestRunFilesRepo,
  Effect.map(MemoryStorage, (memory) => {
    const files = filesWhere(memory)
    return TestRunFilesRepo.of({
      store: store(memory),
      find: (workspaceId, run, path) =>
        Effect.map(
          files(workspaceId, run, (file) => file.path === path),
          ([file]) => file
        ),
      findAll: (workspaceId, run, paths) => {
        const all = new Set(paths)
        return files(workspaceId, run, ({ path }) => all.has(path))
      },
      findContent: (workspaceId, run, sha256) =>
        Effect.map(
          files(workspaceId, run, (file) => file.sha256 === sha256),
          ([file]) => file
        ),
      isStored: isStored(memory)
    })
  })
)

const write = <A>(memory: Memory, write: (database: MemoryDatabase, now: number) => A): Effect.Effect<A> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => memory.write((database) => Effect.sync(() => write(database, now))))

const keyOf = ({ path, runId }: { readonly runId: string; readonly path: string }): string => `${runId}/${path}`

const store =
  (memory: Memory) =>
  ({ blob, ...file }: TestRunFile) =>
    write(memory, (database, now) => {
      const blobs = database.table(pendingBlobs)
      const pending = blobs.get(blob.id)
      if (pending === undefined) return undefined
      blobs.delete(blob.id)
      const row = { ...file, blobId: blob.id, runId: pending.runId as TestRunId, workspaceId: blob.workspaceId }
      const before = database.table(testRunFiles).get(keyOf(row))
      database.table(testRunFiles).set(keyOf(row), row)
      if (before === undefined) return { replaced: undefined }
      const { blobId, runId, workspaceId } = before
      blobs.set(blobId, { id: blobId, runId, workspaceId, lapsesAt: timestamp(now) })
      return { replaced: fileOf(before).blob }
    })

const filesWhere =
  (memory: Memory) => (workspaceId: WorkspaceId, number: number, holds: (file: Row<typeof testRunFiles>) => boolean) =>
    memory.read((database) => {
      const run = database.table(testRuns).find((run) => run.workspaceId === workspaceId && run.number === number)
      return database
        .table(testRunFiles)
        .filter((file) => file.runId === run?.id && holds(file))
        .toSorted((a, b) => compare(a.path, b.path))
        .map(fileOf)
    })

const isStored = (memory: Memory) => (id: FileId) =>
  memory.read((database) => database.table(testRunFiles).find((file) => file.blobId === id) !== undefined)
