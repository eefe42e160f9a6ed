import { type Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { FileId, WorkspaceId } from "@delivery/domain/Ids"
import { pathProblem, type StoredFile } from "@delivery/domain/runs/StoredFile"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Exit, Layer, Metric, Schedule, type Scope, type Stream } from "effect"
import { anyRole } from "../access/Access.ts"
import type { BlobNotFound } from "../files/Blob.ts"
import { FileStore } from "../files/FileStore.ts"
import { NextId } from "../ids/NextId.ts"
import { paced } from "../storage/Paced.ts"
import { Storage } from "../storage/Storage.ts"
import { background } from "../telemetry/Background.ts"
import { observe, uploadedBytes, uploadsRunning } from "../telemetry/Metrics.ts"
import { notRunning } from "./RunAnswers.ts"
import { type RunBlob, TestRunFilesRepo } from "./TestRunFilesRepo.ts"
import { type LockedTestRun, TestRunsRepo } from "./TestRunsRepo.ts"
import { TestRuns } from "./TestRuns.ts"
import { isRunning } from "./TestRunState.ts"
import { declaredSize, ofSize, storableType } from "./UploadedBody.ts"

export interface FileUpload<E> {
  readonly run: number
  readonly path: string
  /** As the request's header says it; what is no media type becomes the default. */
  readonly contentType: string | undefined
  /** As the request's header says it. */
  readonly contentLength: string | undefined
  /** Its chunks are taken over and must not be used again. A failure is an upload that was broken off. */
  readonly body: Stream.Stream<Uint8Array, E>
}

/** A file that may be read. */
export interface OpenFile {
  readonly file: StoredFile
  readonly etag: string
  /** The bytes from `offset`. Fails where the file has been replaced since: open it again. */
  readonly read: (offset: number, length: number) => Effect.Effect<Stream.Stream<Uint8Array>, BlobNotFound, Scope.Scope>
}

/** Files of test runs (docs/contract.md, Files). */
export class TestRunFiles extends Context.Service<
  TestRunFiles,
  {
    /**
     * Stores a file of a run that the caller publishes, or whose running retry the caller publishes. It is there for
     * good once this succeeds; after a failure or an interruption nothing of it is left.
     */
    readonly upload: <E>(
      upload: FileUpload<E>
    ) => Effect.Effect<
      { readonly file: StoredFile; readonly etag: string; readonly created: boolean },
      InvalidInput | NotFound | Forbidden | Conflict,
      Caller
    >
    readonly open: (run: number, path: string) => Effect.Effect<OpenFile, InvalidInput | NotFound, Caller>
    /** The same for whoever shows that they were let in before: no role is asked for. */
    readonly openIn: (workspaceId: WorkspaceId, run: number, path: string) => Effect.Effect<OpenFile, NotFound>
  }
>()("@delivery/server/runs/TestRunFiles") {
  /** With the fibers that keep blobs in upload from lapsing, and delete those that did. */
  static readonly layer = Layer.effect(TestRunFiles, Effect.gen(make))
}

interface Dependencies {
  readonly storage: Storage["Service"]
  readonly store: FileStore["Service"]
  readonly repo: TestRunFilesRepo["Service"]
  readonly runsRepo: TestRunsRepo["Service"]
  readonly runs: TestRuns["Service"]
  readonly nextId: NextId["Service"]
  /** The blobs that this server is writing. */
  readonly inUpload: Set<FileId>
}

function* make() {
  const dependencies: Dependencies = {
    storage: yield* Storage,
    store: yield* FileStore,
    repo: yield* TestRunFilesRepo,
    runsRepo: yield* TestRunsRepo,
    runs: yield* TestRuns,
    nextId: yield* NextId,
    inUpload: new Set()
  }
  yield* observe(uploadsRunning, () => dependencies.inUpload.size)
  yield* (yield* background("upload_renewal", "Uploads could not be renewed.", renew(dependencies))).pipe(
    Effect.repeat(Schedule.spaced("5 seconds")),
    Effect.forkScoped
  )
  yield* (yield* background("upload_sweep", "Lapsed uploads could not be deleted.", sweep(dependencies))).pipe(
    Effect.repeat(Schedule.spaced("10 seconds")),
    Effect.forkScoped
  )
  return TestRunFiles.of({ upload: upload(dependencies), open: open(dependencies), openIn: openIn(dependencies) })
}

const upload = (dependencies: Dependencies) => {
  const { inUpload, nextId, repo, runs } = dependencies
  return Effect.fn("TestRunFiles.upload")(function* <E>(upload: FileUpload<E>) {
    yield* checkPath(upload.path)
    const size = yield* declaredSize(upload.contentLength)
    const { access, retry, run } = yield* runs.publishing(upload.run)
    const blob = { id: yield* nextId<FileId>(), runId: run.id, workspaceId: access.workspace.id }
    return yield* Effect.acquireUseRelease(
      Effect.andThen(
        repo.reserve(blob),
        Effect.sync(() => inUpload.add(blob.id))
      ),
      () => write(dependencies, blob, retry, upload, size),
      (_, exit) => {
        inUpload.delete(blob.id)
        return Exit.isSuccess(exit) ? Effect.void : Effect.ignoreCause(abandon(dependencies, blob), { log: "Warn" })
      }
    )
  })
}

const write = Effect.fnUntraced(function* <E>(
  dependencies: Dependencies,
  blob: RunBlob,
  by: Publication,
  { body, contentType, path }: FileUpload<E>,
  size: number
) {
  const { sha256 } = yield* dependencies.store.write(blob, ofSize(body, size), size)
  const stored = { path, size, contentType: storableType(contentType), sha256 }
  const { file, replaced } = yield* Effect.uninterruptible(commit(dependencies, blob, by, stored))
  yield* Metric.update(uploadedBytes, size)
  // Otherwise the sweeper deletes it.
  if (replaced !== undefined) yield* Effect.ignoreCause(discard(dependencies, replaced), { log: "Warn" })
  return { file, etag: etagOf(file), created: replaced === undefined }
})

/** Makes the file visible, if what it belongs to still runs. */
const commit = (
  { repo, runsRepo, storage }: Dependencies,
  blob: RunBlob,
  by: Publication,
  stored: Omit<StoredFile, "createdAt">
) =>
  storage.transaction(
    Effect.gen(function* () {
      const run = yield* runsRepo.lock(blob.runId)
      const now = timestamp(yield* Clock.currentTimeMillis)
      if (run === undefined || !isPublishing(by, run, now)) return yield* notRunning("run")
      const file = { ...stored, createdAt: now }
      const done = yield* repo.store({ ...file, blob })
      if (done === undefined) return yield* Effect.die(new Error("The upload was not renewed in time."))
      return { file, replaced: done.replaced }
    })
  )

/** Ends an upload that did not succeed. Its outcome may be unknown: a blob that a file has is left alone. */
const abandon = Effect.fnUntraced(function* (dependencies: Dependencies, blob: RunBlob) {
  const { repo, store } = dependencies
  const wasPending = yield* repo.lapse(blob.id, store.endsFailedWrites ? 0 : failedWriteSeconds)
  const isGarbage = wasPending || !(yield* repo.isStored(blob.id))
  if (!isGarbage) return
  // What the write may still make of it, the sweeper deletes.
  yield* store.endsFailedWrites ? discard(dependencies, blob) : store.delete(blob)
})

const discard = ({ repo, store }: Dependencies, blob: RunBlob) =>
  Effect.andThen(store.delete(blob), repo.forget([blob.id]))

const open = (dependencies: Dependencies): TestRunFiles["Service"]["open"] =>
  Effect.fn("TestRunFiles.open")(function* (run, path) {
    yield* checkPath(path)
    const { workspace } = yield* anyRole
    return yield* openIn(dependencies)(workspace.id, run, path)
  })

const openIn = ({ repo, store }: Dependencies): TestRunFiles["Service"]["openIn"] =>
  Effect.fnUntraced(function* (workspaceId, run, path) {
    const found = yield* repo.find(workspaceId, run, path)
    if (found === undefined) return yield* NotFound.of("file", path)
    const { blob, ...file } = found
    return { file, etag: etagOf(file), read: (offset, length) => store.read(blob, { offset, length }) }
  })

const renew = ({ inUpload, repo }: Dependencies) =>
  Effect.suspend(() => (inUpload.size === 0 ? Effect.void : repo.renew([...inUpload])))

const sweep = (dependencies: Dependencies) =>
  paced(
    Effect.map(dependencies.storage.transaction(sweepOnce(dependencies)), (swept) => swept === sweepBatch),
    { share: 0.5 }
  )

/** Deletes lapsed blobs. Answers how many it found. */
const sweepOnce = ({ repo, store }: Dependencies) =>
  Effect.gen(function* () {
    const blobs = yield* repo.lapsed(sweepBatch)
    if (blobs.length === 0) return 0
    const [deleted, failed] = yield* Effect.partition(blobs, (blob) =>
      store.delete(blob).pipe(
        Effect.as(blob.id),
        Effect.catchCause((cause) =>
          Effect.andThen(Effect.logWarning("A lapsed upload could not be deleted.", cause), Effect.fail(blob.id))
        )
      )
    )
    yield* repo.forget(deleted)
    // Retried later, so that it does not block the other blobs.
    if (failed.length > 0) yield* repo.renew(failed)
    return blobs.length
  })

/** What an upload belongs to: the run itself, or the retry of that number. */
type Publication = number | null

/** Whether what the upload belongs to still runs. */
const isPublishing = (by: Publication, run: LockedTestRun, now: Timestamp): boolean =>
  by === null
    ? isRunning(run, now)
    : run.runningRetry?.number === by && isRunning({ ...run.runningRetry, state: "running" }, now)

/** How long a write may go on in a store after it has failed here. */
const failedWriteSeconds = 60

/** How many lapsed blobs one transaction deletes. */
const sweepBatch = 50

const etagOf = (file: StoredFile): string => `"${file.sha256}"`

const checkPath = (path: string): Effect.Effect<void, InvalidInput> => {
  const problem = pathProblem(path)
  return problem === undefined ? Effect.void : Effect.fail(InvalidInput.at("path", problem))
}
