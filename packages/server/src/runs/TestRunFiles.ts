import { type Conflict, type Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { FileId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import { maxFileBytes, pathProblem, type StoredFile } from "@delivery/domain/runs/StoredFile"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer, type Stream } from "effect"
import { anyRole } from "../access/Access.ts"
import { FileStore } from "../files/FileStore.ts"
import type { WorkspaceBlob } from "../files/PendingBlobsRepo.ts"
import { Uploads } from "../files/Uploads.ts"
import { dispositionOf, type OpenFile } from "../http/Downloads.ts"
import { declaredSize, ofSize, storableType } from "../http/UploadedBody.ts"
import { NextId } from "../ids/NextId.ts"
import { Storage } from "../storage/Storage.ts"
import { notRunning } from "./RunAnswers.ts"
import { type TestRunFile, TestRunFilesRepo } from "./TestRunFilesRepo.ts"
import { type LockedTestRun, TestRunsRepo } from "./TestRunsRepo.ts"
import { TestRuns } from "./TestRuns.ts"
import { isRunning } from "./TestRunState.ts"

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
    /** The file of the run that has this content, by its SHA-256 in hexadecimal. */
    readonly openContent: (run: number, sha256: string) => Effect.Effect<OpenFile, NotFound, Caller>
    /** The files that the run has of these paths, by path. */
    readonly list: (
      run: number,
      paths: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<StoredFile>, NotFound, Caller>
    /** The same for whoever shows that they were let in before: no role is asked for. */
    readonly openIn: (workspaceId: WorkspaceId, run: number, path: string) => Effect.Effect<OpenFile, NotFound>
  }
>()("@delivery/server/runs/TestRunFiles") {
  static readonly layer = Layer.effect(TestRunFiles, Effect.gen(make))
}

interface Dependencies {
  readonly storage: Storage["Service"]
  readonly store: FileStore["Service"]
  readonly uploads: Uploads["Service"]
  readonly repo: TestRunFilesRepo["Service"]
  readonly runsRepo: TestRunsRepo["Service"]
  readonly runs: TestRuns["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    storage: yield* Storage,
    store: yield* FileStore,
    uploads: yield* Uploads,
    repo: yield* TestRunFilesRepo,
    runsRepo: yield* TestRunsRepo,
    runs: yield* TestRuns,
    nextId: yield* NextId
  }
  return TestRunFiles.of({
    upload: upload(dependencies),
    open: open(dependencies),
    openContent: openContent(dependencies),
    list: list(dependencies),
    openIn: openIn(dependencies)
  })
}

const upload = (dependencies: Dependencies) => {
  const { nextId, repo, runs, uploads } = dependencies
  return Effect.fn("TestRunFiles.upload")(function* <E>({
    body,
    contentLength,
    contentType,
    path,
    run: number
  }: FileUpload<E>) {
    yield* checkPath(path)
    const size = yield* declaredSize(contentLength, maxFileBytes)
    const { access, retry, run } = yield* runs.publishing(number)
    const blob = { id: yield* nextId<FileId>(), ownerId: run.id, workspaceId: access.workspace.id }
    const { file, replaced } = yield* uploads.store({
      blob,
      body: ofSize(body, size),
      size,
      commit: (sha256) =>
        commit(dependencies, run.id, blob, retry, { path, size, contentType: storableType(contentType), sha256 }),
      isStored: repo.isStored(blob.id)
    })
    if (replaced !== undefined) yield* uploads.discard(replaced)
    return { file, etag: etagOf(file), created: replaced === undefined }
  })
}

/** Makes the file visible, if what it belongs to still runs. */
const commit = (
  { repo, runsRepo, storage }: Dependencies,
  runId: TestRunId,
  blob: WorkspaceBlob,
  by: Publication,
  stored: Omit<StoredFile, "createdAt">
) =>
  storage.transaction(
    Effect.gen(function* () {
      const run = yield* runsRepo.lock(runId)
      const now = timestamp(yield* Clock.currentTimeMillis)
      if (run === undefined || !isPublishing(by, run, now)) return yield* notRunning("run")
      const file = { ...stored, createdAt: now }
      const done = yield* repo.store({ ...file, blob })
      if (done === undefined) return yield* Effect.die(new Error("The upload was not renewed in time."))
      return { file, replaced: done.replaced }
    })
  )

const open = (dependencies: Dependencies): TestRunFiles["Service"]["open"] =>
  Effect.fn("TestRunFiles.open")(function* (run, path) {
    yield* checkPath(path)
    const { workspace } = yield* anyRole
    return yield* openIn(dependencies)(workspace.id, run, path)
  })

const openIn = ({ repo, store }: Dependencies): TestRunFiles["Service"]["openIn"] =>
  Effect.fnUntraced(function* (workspaceId, run, path) {
    const found = yield* repo.find(workspaceId, run, path)
    return found === undefined ? yield* NotFound.of("file", path) : opened(store, found)
  })

const openContent = ({ repo, store }: Dependencies): TestRunFiles["Service"]["openContent"] =>
  Effect.fn("TestRunFiles.openContent")(function* (run, sha256) {
    const { workspace } = yield* anyRole
    const found = yield* repo.findContent(workspace.id, run, sha256)
    return found === undefined ? yield* NotFound.of("file", sha256) : opened(store, found)
  })

const opened = (store: FileStore["Service"], { blob, ...file }: TestRunFile): OpenFile => ({
  file,
  etag: etagOf(file),
  disposition: dispositionOf(file.contentType),
  read: (offset, length) => store.read(blob, { offset, length })
})

const list = ({ repo }: Dependencies): TestRunFiles["Service"]["list"] =>
  Effect.fn("TestRunFiles.list")(function* (run, paths) {
    const { workspace } = yield* anyRole
    if (paths.length === 0) return []
    return (yield* repo.findAll(workspace.id, run, paths)).map(({ blob: _, ...file }) => file)
  })

/** What an upload belongs to: the run itself, or the retry of that number. */
type Publication = number | null

/** Whether what the upload belongs to still runs. */
const isPublishing = (by: Publication, run: LockedTestRun, now: Timestamp): boolean =>
  by === null
    ? isRunning(run, now)
    : run.runningRetry?.number === by && isRunning({ ...run.runningRetry, state: "running" }, now)

const etagOf = (file: StoredFile): string => `"${file.sha256}"`

const checkPath = (path: string): Effect.Effect<void, InvalidInput> => {
  const problem = pathProblem(path)
  return problem === undefined ? Effect.void : Effect.fail(InvalidInput.at("path", problem))
}
