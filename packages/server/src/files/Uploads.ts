import type { FileId } from "@delivery/domain/Ids"
import { Context, Effect, Exit, Layer, Metric, Schedule, type Stream } from "effect"
import { paced } from "../storage/Paced.ts"
import { Storage } from "../storage/Storage.ts"
import { background } from "../telemetry/Background.ts"
import { observe, uploadedBytes, uploadsRunning } from "../telemetry/Metrics.ts"
import { FileStore } from "./FileStore.ts"
import { KeptBlobs } from "./KeptBlobs.ts"
import { PendingBlobsRepo, type WorkspaceBlob } from "./PendingBlobsRepo.ts"

export interface Upload<A, E, F> {
  readonly blob: WorkspaceBlob
  /** Its chunks are taken over and must not be used again. */
  readonly body: Stream.Stream<Uint8Array, E>
  readonly size: number
  /** Makes a file of the blob, which is no longer pending then. It is not interrupted. */
  readonly commit: (sha256: string) => Effect.Effect<A, F>
  /** Whether a file has the blob. */
  readonly isStored: Effect.Effect<boolean>
}

/** How blobs become files, and how those go that no file has (docs/architecture.md, Storage). */
export class Uploads extends Context.Service<
  Uploads,
  {
    /**
     * Writes a blob and makes a file of it. The file is there for good once this succeeds; after a failure or an interruption
     * nothing of it is left.
     */
    readonly store: <A, E, F>(upload: Upload<A, E, F>) => Effect.Effect<A, E | F>
    /** Deletes a blob that is pending and lapsed. What fails here, the sweeper does. */
    readonly discard: (blob: WorkspaceBlob) => Effect.Effect<void>
  }
>()("@delivery/server/files/Uploads") {
  /** With the fibers that keep blobs in upload from lapsing, and delete those that did. */
  static readonly layer = Layer.effect(Uploads, Effect.gen(make))
}

interface Dependencies {
  readonly storage: Storage["Service"]
  readonly store: FileStore["Service"]
  readonly pending: PendingBlobsRepo["Service"]
  readonly kept: (typeof KeptBlobs)["Service"]
  /** The blobs that this server is writing. */
  readonly inUpload: Set<FileId>
}

function* make() {
  const dependencies: Dependencies = {
    storage: yield* Storage,
    store: yield* FileStore,
    pending: yield* PendingBlobsRepo,
    kept: yield* KeptBlobs,
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
  return Uploads.of({
    store: store(dependencies),
    discard: (blob) => Effect.ignoreCause(discard(dependencies, blob), { log: "Warn" })
  })
}

const store =
  (dependencies: Dependencies) =>
  <A, E, F>(upload: Upload<A, E, F>): Effect.Effect<A, E | F> => {
    const { inUpload, pending } = dependencies
    const { blob } = upload
    return Effect.acquireUseRelease(
      Effect.andThen(
        pending.reserve(blob),
        Effect.sync(() => inUpload.add(blob.id))
      ),
      () => write(dependencies, upload),
      (_, exit) => {
        inUpload.delete(blob.id)
        return Exit.isSuccess(exit) ? Effect.void : Effect.ignoreCause(abandon(dependencies, upload), { log: "Warn" })
      }
    )
  }

const write = Effect.fnUntraced(function* <A, E, F>(
  dependencies: Dependencies,
  { blob, body, commit, size }: Upload<A, E, F>
) {
  const { sha256 } = yield* dependencies.store.write(blob, body, size)
  const committed = yield* Effect.uninterruptible(commit(sha256))
  yield* Metric.update(uploadedBytes, size)
  return committed
})

/** Ends an upload that did not succeed. Its outcome may be unknown: a blob that a file has is left alone. */
const abandon = Effect.fnUntraced(function* <A, E, F>(dependencies: Dependencies, { blob, isStored }: Upload<A, E, F>) {
  const { pending, store } = dependencies
  const wasPending = yield* pending.lapse(blob.id, store.endsFailedWrites ? 0 : failedWriteSeconds)
  const isGarbage = wasPending || !(yield* isStored)
  if (!isGarbage) return
  // What the write may still make of it, the sweeper deletes.
  yield* store.endsFailedWrites ? discard(dependencies, blob) : store.delete(blob)
})

const discard = ({ kept, pending, store }: Dependencies, blob: WorkspaceBlob) =>
  Effect.suspend(() => (kept.areKept() ? Effect.void : Effect.andThen(store.delete(blob), pending.forget([blob.id]))))

const renew = ({ inUpload, pending }: Dependencies) =>
  Effect.suspend(() => (inUpload.size === 0 ? Effect.void : pending.renew([...inUpload])))

const sweep = (dependencies: Dependencies) =>
  paced(
    Effect.map(dependencies.storage.transaction(sweepOnce(dependencies)), (swept) => swept === sweepBatch),
    { share: 0.5 }
  )

/** Deletes lapsed blobs. Answers how many it found. */
const sweepOnce = ({ kept, pending, store }: Dependencies) =>
  Effect.gen(function* () {
    if (kept.areKept()) return 0
    const blobs = yield* pending.lapsed(sweepBatch)
    if (blobs.length === 0) return 0
    const [deleted, failed] = yield* Effect.partition(blobs, (blob) =>
      store.delete(blob).pipe(
        Effect.as(blob.id),
        Effect.catchCause((cause) =>
          Effect.andThen(Effect.logWarning("A lapsed upload could not be deleted.", cause), Effect.fail(blob.id))
        )
      )
    )
    yield* pending.forget(deleted)
    // Retried later, so that it does not block the other blobs.
    if (failed.length > 0) yield* pending.renew(failed)
    return blobs.length
  })

/** How long a write may go on in a store after it has failed here. */
const failedWriteSeconds = 60

/** How many lapsed blobs one transaction deletes. */
const sweepBatch = 50
