import type { FileId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { StoredFile } from "@delivery/domain/runs/StoredFile"
import { Context, type Effect } from "effect"
import type { BlobRef } from "../files/Blob.ts"
import { instant, integer, type Row, table, text, uuid } from "../storage/Table.ts"

/** The files of each run, by path. */
export const testRunFiles = table("test_run_files", {
  workspaceId: uuid<WorkspaceId>(),
  runId: uuid<TestRunId>(),
  path: text(),
  blobId: uuid<FileId>(),
  size: integer(),
  contentType: text(),
  sha256: text(),
  createdAt: instant()
})

/** Blobs that no file has: in upload until they lapse, garbage from then on. */
export const pendingBlobs = table("pending_blobs", {
  id: uuid<FileId>(),
  workspaceId: uuid<WorkspaceId>(),
  runId: uuid<TestRunId>(),
  lapsesAt: instant()
})

/** A blob of a workspace's run. */
export interface RunBlob extends BlobRef {
  readonly workspaceId: WorkspaceId
}

/** A file of a run and the blob that has its bytes. */
export interface TestRunFile extends StoredFile {
  readonly blob: RunBlob
}

/** How long a blob may be in upload, in seconds, unless that is renewed. */
export const blobLeaseSeconds = 15

/**
 * Stores the files of runs. A blob is visible once a file has it. Before its first byte is written it is
 * stored as pending, so that no garbage is forgotten. A pending blob that lapses is garbage; the storage's clock decides.
 */
export class TestRunFilesRepo extends Context.Service<
  TestRunFilesRepo,
  {
    /** Stores that a blob is about to be written. */
    readonly reserve: (blob: RunBlob) => Effect.Effect<void>
    /** Keeps blobs that are still being written from lapsing. */
    readonly renew: (ids: ReadonlyArray<FileId>) => Effect.Effect<void>
    /**
     * Makes the file visible and its blob no longer pending; a file with its path is replaced, and the blob of that is
     * pending and lapsed from then on. Undefined where the blob had lapsed and is gone.
     */
    readonly store: (file: TestRunFile) => Effect.Effect<{ readonly replaced: RunBlob | undefined } | undefined>
    readonly find: (workspaceId: WorkspaceId, run: number, path: string) => Effect.Effect<TestRunFile | undefined>
    /** Whether a file has the blob. */
    readonly isStored: (id: FileId) => Effect.Effect<boolean>
    /**
     * Makes a pending blob lapse, in so many seconds or at once, after any change of it in progress. False where it is
     * not pending.
     */
    readonly lapse: (id: FileId, inSeconds?: number) => Effect.Effect<boolean>
    /** Pending blobs that have lapsed; holds them until the transaction ends, and passes over those held by others. */
    readonly lapsed: (limit: number) => Effect.Effect<ReadonlyArray<RunBlob>>
    /** Removes pending blobs whose bytes are deleted. */
    readonly forget: (ids: ReadonlyArray<FileId>) => Effect.Effect<void>
  }
>()("@delivery/server/runs/TestRunFilesRepo") {}

export const fileOf = ({ blobId, runId, workspaceId, ...file }: Row<typeof testRunFiles>): TestRunFile => ({
  ...file,
  blob: { id: blobId, runId, workspaceId }
})
