import { type Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { FileId } from "@delivery/domain/Ids"
import { maxFileBytes, pathProblem, type StoredFile } from "@delivery/domain/runs/StoredFile"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Exit, Layer, Metric, Schedule, type Scope, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { nextId } from "../ids/NextId.ts"
import type { BlobNotFound } from "../files/Blob.ts"
import { FileStore } from "../files/FileStore.ts"
import { anyRole } from "../access/Access.ts"
import { Storage } from "../storage/Storage.ts"
import { background } from "../telemetry/Background.ts"
import { observe, uploadedBytes, uploadsRunning } from "../telemetry/Metrics.ts"
import { type RunBlob, TestRunFilesRepo } from "./TestRunFilesRepo.ts"
import { notRunning, TestRuns } from "./TestRuns.ts"
import { isRunning } from "./TestRunState.ts"
import type { LockedTestRun } from "./TestRunRows.ts"
import { TestRunsRepo } from "./TestRunsRepo.ts"

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

/** Files of test runs (service document, Test runs; contract, section 6). */
export class TestRunFiles extends Context.Service<
  TestRunFiles,
  {
    /**
     * Stores a file of a run that the caller publishes, or a running retry of. It is there for good once this succeeds; after a failure or an
     * interruption nothing of it is left.
     */
    readonly upload: <E>(
      upload: FileUpload<E>
    ) => Effect.Effect<
      { readonly file: StoredFile; readonly etag: string; readonly created: boolean },
      InvalidInput | NotFound | Forbidden | Conflict,
      Caller
    >
    readonly open: (run: number, path: string) => Effect.Effect<OpenFile, InvalidInput | NotFound, Caller>
  }
>()("@delivery/server/runs/TestRunFiles") {
  /** With the fibers that keep blobs in upload from lapsing, and delete those that did. */
  static readonly layer = Layer.effect(
    TestRunFiles,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const store = yield* FileStore
      const repo = yield* TestRunFilesRepo
      const runsRepo = yield* TestRunsRepo
      const runs = yield* TestRuns
      const inUpload = new Set<FileId>()

      const discard = (blob: RunBlob) => Effect.andThen(store.delete(blob), repo.forget([blob.id]))

      /** Ends an upload that did not succeed. Its outcome may be unknown: a blob that a file has is left alone. */
      const abandon = Effect.fnUntraced(function* (blob: RunBlob) {
        const wasPending = yield* repo.lapse(blob.id, store.endsFailedWrites ? 0 : failedWriteSeconds)
        const isGarbage = wasPending || !(yield* repo.isStored(blob.id))
        if (!isGarbage) return
        // What the write may still make of it, the sweeper deletes.
        yield* store.endsFailedWrites ? discard(blob) : store.delete(blob)
      })

      const commit = Effect.fnUntraced(function* (
        blob: RunBlob,
        by: Publication,
        stored: Omit<StoredFile, "createdAt">
      ) {
        return yield* storage.transaction(
          Effect.gen(function* () {
            const run = yield* runsRepo.lock(blob.runId)
            const now = timestamp(yield* Clock.currentTimeMillis)
            if (run === undefined || !isPublishing(by, run, now)) return yield* notRunning
            const file = { ...stored, createdAt: now }
            const done = yield* repo.store({ ...file, blob })
            if (done === undefined) return yield* Effect.die(new Error("The upload was not renewed in time."))
            return { file, replaced: done.replaced }
          })
        )
      })

      const write = Effect.fnUntraced(function* <E>(
        blob: RunBlob,
        by: Publication,
        { body, contentType, path }: FileUpload<E>,
        size: number
      ) {
        const { sha256 } = yield* store.write(blob, ofSize(body, size), size)
        const stored = { path, size, contentType: storableType(contentType), sha256 }
        const { file, replaced } = yield* Effect.uninterruptible(commit(blob, by, stored))
        yield* Metric.update(uploadedBytes, size)
        // Otherwise left to the sweeper.
        if (replaced !== undefined) yield* Effect.ignoreCause(discard(replaced), { log: "Warn" })
        return { file, etag: etagOf(file), created: replaced === undefined }
      })

      const renew = Effect.suspend(() => (inUpload.size === 0 ? Effect.void : repo.renew([...inUpload])))

      const sweep = Effect.gen(function* () {
        for (let swept = sweepBatch; swept === sweepBatch;) {
          swept = yield* storage.transaction(
            Effect.gen(function* () {
              const blobs = yield* repo.lapsed(sweepBatch)
              if (blobs.length === 0) return 0
              const [deleted, failed] = yield* Effect.partition(blobs, (blob) =>
                store.delete(blob).pipe(
                  Effect.as(blob.id),
                  Effect.catchCause((cause) =>
                    Effect.andThen(
                      Effect.logWarning("A lapsed upload could not be deleted.", cause),
                      Effect.fail(blob.id)
                    )
                  )
                )
              )
              yield* repo.forget(deleted)
              // Tried again later, so that it holds nothing else up.
              if (failed.length > 0) yield* repo.renew(failed)
              return blobs.length
            })
          )
        }
      })

      yield* observe(uploadsRunning, () => inUpload.size)
      yield* (yield* background("upload_renewal", "Uploads could not be renewed.", renew)).pipe(
        Effect.repeat(Schedule.spaced("5 seconds")),
        Effect.forkScoped
      )
      yield* (yield* background("upload_sweep", "Lapsed uploads could not be deleted.", sweep)).pipe(
        Effect.repeat(Schedule.spaced("10 seconds")),
        Effect.forkScoped
      )

      return TestRunFiles.of({
        upload: Effect.fn("TestRunFiles.upload")(function* <E>(upload: FileUpload<E>) {
          yield* checkPath(upload.path)
          const size = yield* declaredSize(upload.contentLength)
          const { access, retry, run } = yield* runs.publishing(upload.run)
          const blob = {
            id: yield* Effect.provideService(nextId<FileId>(), SecureRandom.SecureRandom, random),
            runId: run.id,
            workspaceId: access.workspace.id
          }
          return yield* Effect.acquireUseRelease(
            Effect.andThen(
              repo.reserve(blob),
              Effect.sync(() => inUpload.add(blob.id))
            ),
            () => write(blob, retry, upload, size),
            (_, exit) => {
              inUpload.delete(blob.id)
              return Exit.isSuccess(exit) ? Effect.void : Effect.ignoreCause(abandon(blob), { log: "Warn" })
            }
          )
        }),

        open: Effect.fn("TestRunFiles.open")(function* (run: number, path: string) {
          yield* checkPath(path)
          const { workspace } = yield* anyRole
          const found = yield* repo.find(workspace.id, run, path)
          if (found === undefined) return yield* NotFound.of("file")
          const { blob, ...file } = found
          return { file, etag: etagOf(file), read: (offset, length) => store.read(blob, { offset, length }) }
        })
      })
    })
  )
}

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

const declaredSize = (contentLength: string | undefined): Effect.Effect<number, InvalidInput> => {
  if (contentLength === undefined) return Effect.fail(InvalidInput.at("Content-Length", "The header is required"))
  if (!/^\d+$/.test(contentLength)) return Effect.fail(InvalidInput.at("Content-Length", "Expected a number of bytes"))
  const size = Number(contentLength)
  return size <= maxFileBytes
    ? Effect.succeed(size)
    : Effect.fail(InvalidInput.at("Content-Length", `Expected at most ${maxFileBytes} bytes`))
}

/** The body, which must have the size that was declared. */
const ofSize = <E>(body: Stream.Stream<Uint8Array, E>, size: number): Stream.Stream<Uint8Array, InvalidInput> =>
  Stream.suspend(() => {
    let seen = 0
    const wrong = (amount: string) =>
      Effect.fail(InvalidInput.at("Content-Length", `The body has ${amount} bytes than declared`))
    return body.pipe(
      Stream.mapArrayEffect((chunks) => {
        for (const chunk of chunks) seen += chunk.length
        return seen > size ? wrong("more") : Effect.succeed(chunks)
      }),
      Stream.catch((error) => Stream.fromEffect(error instanceof InvalidInput ? Effect.fail(error) : wrong("fewer"))),
      Stream.concat(Stream.drain(Stream.fromEffect(Effect.suspend(() => (seen < size ? wrong("fewer") : Effect.void)))))
    )
  })

const token = "[!#$%&'*+.^_`|~\\w-]+"
const quoted = String.raw`"(?:[\t !#-[\]-~]|\\[\t -~])*"`

/** A media type with its parameters (RFC 9110, section 8.3.1), in ASCII. */
const mediaType = new RegExp(`^${token}/${token}(?:[\\t ]*;(?:[\\t ]*${token}=(?:${token}|${quoted}))?)*[\\t ]*$`)

/** The type as it is answered later. One that is none says nothing of the content: it becomes the default. */
const storableType = (contentType: string | undefined): string =>
  contentType !== undefined && contentType.length <= 255 && mediaType.test(contentType)
    ? contentType
    : "application/octet-stream"
