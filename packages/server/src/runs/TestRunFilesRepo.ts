import type { FileId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { StoredFile } from "@delivery/domain/runs/StoredFile"
import { Context, type Effect } from "effect"
import type { WorkspaceBlob } from "../files/PendingBlobsRepo.ts"
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

/** A file of a run and the blob that has its bytes. */
export interface TestRunFile extends StoredFile {
  readonly blob: WorkspaceBlob
}

/**
 * Stores the files of runs. A blob is visible once a file has it, and pending before (`PendingBlobsRepo`).
 */
export class TestRunFilesRepo extends Context.Service<
  TestRunFilesRepo,
  {
    /**
     * Makes the file visible and its blob no longer pending; a file with its path is replaced, and the blob of that is
     * pending and lapsed from then on. Undefined where the blob had lapsed and is gone.
     */
    readonly store: (file: TestRunFile) => Effect.Effect<{ readonly replaced: WorkspaceBlob | undefined } | undefined>
    readonly find: (workspaceId: WorkspaceId, run: number, path: string) => Effect.Effect<TestRunFile | undefined>
    /** The files that there are of these paths, by path. */
    readonly findAll: (
      workspaceId: WorkspaceId,
      run: number,
      paths: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<TestRunFile>>
    /** A file with this content, in hexadecimal: the first by path. */
    readonly findContent: (
      workspaceId: WorkspaceId,
      run: number,
      sha256: string
    ) => Effect.Effect<TestRunFile | undefined>
    /** Whether a file has the blob. */
    readonly isStored: (id: FileId) => Effect.Effect<boolean>
  }
>()("@delivery/server/runs/TestRunFilesRepo") {}

export const fileOf = ({ blobId, runId, workspaceId, ...file }: Row<typeof testRunFiles>): TestRunFile => ({
  ...file,
  blob: { id: blobId, ownerId: runId, workspaceId }
})
