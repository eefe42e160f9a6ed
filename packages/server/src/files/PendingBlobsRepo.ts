import type { FileId, WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import { instant, type Row, table, uuid } from "../storage/Table.ts"
import type { BlobOwner, BlobRef } from "./Blob.ts"

/** Blobs that no file has: in upload until they lapse, garbage from then on. */
export const pendingBlobs = table("pending_blobs", {
  id: uuid<FileId>(),
  workspaceId: uuid<WorkspaceId>(),
  /** The owner. The column has its name from the time when runs alone had files. */
  runId: uuid<BlobOwner>(),
  lapsesAt: instant()
})

/** A blob of a workspace. */
export interface WorkspaceBlob extends BlobRef {
  readonly workspaceId: WorkspaceId
}

/** How long a blob may be in upload, in seconds, unless that is renewed. */
export const blobLeaseSeconds = 15

/**
 * Remembers blobs that no file has. Before the first byte of a blob is written it is stored as pending, so that no garbage is
 * forgotten; the statement that makes a file of it deletes that row. A pending blob that lapses is garbage; the storage's
 * clock decides.
 */
export class PendingBlobsRepo extends Context.Service<
  PendingBlobsRepo,
  {
    /** Stores that a blob is about to be written. */
    readonly reserve: (blob: WorkspaceBlob) => Effect.Effect<void>
    /** Keeps blobs that are still being written from lapsing. */
    readonly renew: (ids: ReadonlyArray<FileId>) => Effect.Effect<void>
    /**
     * Makes a pending blob lapse, in so many seconds or at once, after any change of it in progress. False where it is
     * not pending.
     */
    readonly lapse: (id: FileId, inSeconds?: number) => Effect.Effect<boolean>
    /** Pending blobs that have lapsed; holds them until the transaction ends, and passes over those held by others. */
    readonly lapsed: (limit: number) => Effect.Effect<ReadonlyArray<WorkspaceBlob>>
    /** Removes pending blobs whose bytes are deleted. */
    readonly forget: (ids: ReadonlyArray<FileId>) => Effect.Effect<void>
  }
>()("@delivery/server/files/PendingBlobsRepo") {}

export const blobOf = ({
  id,
  runId,
  workspaceId
}: Pick<Row<typeof pendingBlobs>, "id" | "runId" | "workspaceId">): WorkspaceBlob => ({
  id,
  ownerId: runId,
  workspaceId
})
