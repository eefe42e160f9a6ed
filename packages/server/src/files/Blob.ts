import type { FileId, TestRunId, TicketId } from "@delivery/domain/Ids"
import { Data, type Effect, type Scope, type Stream } from "effect"

/** What has files: a run, or a ticket. */
export type BlobOwner = TestRunId | TicketId

/** The stored bytes of a file. A blob is written once and never changed. */
export interface BlobRef {
  readonly id: FileId
  readonly ownerId: BlobOwner
}

/** There is no such blob, or no longer. */
export class BlobNotFound extends Data.TaggedError("BlobNotFound")<{ readonly blob: BlobRef }> {}

/** Stores blobs. Knows nothing of who may see them, and keeps what a failed write left until it is deleted. */
export interface BlobStore {
  /**
   * Writes a blob; what it answers survives a power cut. Memory stays flat: it takes the chunks over, and gives the
   * memory of each back once it is written. `size` is that of the body, for stores that must know it before.
   */
  readonly write: <E, R>(
    blob: BlobRef,
    body: Stream.Stream<Uint8Array, E, R>,
    size: number
  ) => Effect.Effect<{ readonly size: number; readonly sha256: string }, E, R>
  /** The bytes from `offset`. A blob that is deleted while it is read is still read to its end. */
  readonly read: (
    blob: BlobRef,
    range: { readonly offset: number; readonly length: number }
  ) => Effect.Effect<Stream.Stream<Uint8Array>, BlobNotFound, Scope.Scope>
  /** How many bytes are stored. */
  readonly size: (blob: BlobRef) => Effect.Effect<number, BlobNotFound>
  /** Does nothing where there is no such blob. */
  readonly delete: (blob: BlobRef) => Effect.Effect<void>
  /**
   * Whether a write that failed has ended. If not, the blob may still come to be after it was deleted, for some seconds:
   * it has to be deleted once more.
   */
  readonly endsFailedWrites: boolean
}
