import { assert } from "@effect/vitest"
import type { WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Effect } from "effect"
import { PendingBlobsRepo, type WorkspaceBlob } from "../../src/files/PendingBlobsRepo.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { type TestRunFile, TestRunFilesRepo } from "../../src/runs/TestRunFilesRepo.ts"
import { TestRunsRepo } from "../../src/runs/TestRunsRepo.ts"
import { newId } from "../identity/Scene.ts"
import { makeDeployed, newBlob, newEvent, newRun, onEachStorage } from "./Scene.ts"

const makeRun = Effect.gen(function* () {
  const run = newRun(yield* makeDeployed())
  yield* (yield* TestRunsRepo).start(run, newEvent(run, "run_started"))
  return run
})

const fileOf = (blob: WorkspaceBlob, fields: Partial<TestRunFile> = {}): TestRunFile => ({
  path: "a/b.txt",
  size: 12,
  contentType: "text/plain; charset=utf-8",
  sha256: "a9".repeat(32),
  createdAt: timestamp(1_234),
  ...fields,
  blob
})

/** The blobs of the run that have lapsed, in any order. */
const lapsedOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  const pending = yield* PendingBlobsRepo
  const lapsed = yield* pending.lapsed(1_000)
  return lapsed.filter((blob) => blob.workspaceId === workspaceId)
})

onEachStorage("TestRunFilesRepo", (it) => {
  it.effect("shows a file from when it is stored", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunFilesRepo
      const pending = yield* PendingBlobsRepo
      const run = yield* makeRun
      const blob = newBlob(run)
      yield* pending.reserve(blob)
      assert.strictEqual(yield* repo.find(run.workspaceId, 1, "a/b.txt"), undefined)
      assert.isFalse(yield* repo.isStored(blob.id))
      assert.deepStrictEqual(yield* repo.store(fileOf(blob)), { replaced: undefined })
      assert.deepStrictEqual(yield* repo.find(run.workspaceId, 1, "a/b.txt"), fileOf(blob))
      assert.isTrue(yield* repo.isStored(blob.id))

      assert.strictEqual(yield* repo.find(run.workspaceId, 2, "a/b.txt"), undefined)
      assert.strictEqual(yield* repo.find(newId(), 1, "a/b.txt"), undefined)
      assert.strictEqual(yield* repo.find(run.workspaceId, 1, "A/b.txt"), undefined)
      assert.deepStrictEqual(yield* lapsedOf(run.workspaceId), [])
    })
  )

  it.effect("replaces a file of the same path, whose blob is garbage from then on", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunFilesRepo
      const pending = yield* PendingBlobsRepo
      const run = yield* makeRun
      const [first, second, beside] = [newBlob(run), newBlob(run), newBlob(run)]
      yield* Effect.forEach([first, second, beside], pending.reserve)
      yield* repo.store(fileOf(first))
      yield* repo.store(fileOf(beside, { path: "a" }))
      const after = fileOf(second, { size: 0, contentType: "x", sha256: "b", createdAt: timestamp(2_000) })
      assert.deepStrictEqual(yield* repo.store(after), { replaced: first })
      assert.deepStrictEqual(yield* repo.find(run.workspaceId, 1, "a/b.txt"), after)
      assert.isFalse(yield* repo.isStored(first.id))
      assert.deepStrictEqual(yield* lapsedOf(run.workspaceId), [first])
      yield* pending.forget([first.id])
      assert.deepStrictEqual(yield* lapsedOf(run.workspaceId), [])
      assert.isTrue(yield* repo.isStored(beside.id))
    })
  )

  it.effect("stores nothing under a blob that is not pending", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunFilesRepo
      const pending = yield* PendingBlobsRepo
      const run = yield* makeRun
      const [stored, gone] = [newBlob(run), newBlob(run)]
      yield* pending.reserve(stored)
      yield* repo.store(fileOf(stored))
      yield* pending.reserve(gone)
      yield* pending.forget([gone.id])
      assert.strictEqual(yield* repo.store(fileOf(gone, { size: 1 })), undefined)
      assert.strictEqual(yield* repo.store(fileOf(stored, { size: 1 })), undefined)
      assert.deepStrictEqual(yield* repo.find(run.workspaceId, 1, "a/b.txt"), fileOf(stored))
      assert.deepStrictEqual(yield* lapsedOf(run.workspaceId), [])
    })
  )

  it.effect("lets pending blobs lapse or be renewed", () =>
    Effect.gen(function* () {
      const pending = yield* PendingBlobsRepo
      const run = yield* makeRun
      const [lapses, lives, unknown] = [newBlob(run), newBlob(run), newBlob(run)]
      yield* Effect.forEach([lapses, lives], pending.reserve)
      assert.deepStrictEqual(yield* lapsedOf(run.workspaceId), [])
      assert.isTrue(yield* pending.lapse(lapses.id))
      assert.isFalse(yield* pending.lapse(unknown.id))
      assert.deepStrictEqual(yield* lapsedOf(run.workspaceId), [lapses])
      assert.isTrue(yield* pending.lapse(lapses.id, 60))
      assert.isFalse(yield* pending.lapse(unknown.id, 60))
      assert.deepStrictEqual(yield* lapsedOf(run.workspaceId), [])
      yield* pending.lapse(lapses.id)
      assert.deepStrictEqual(yield* lapsedOf(run.workspaceId), [lapses])
      yield* pending.renew([lapses.id, lives.id, unknown.id])
      assert.deepStrictEqual(yield* lapsedOf(run.workspaceId), [])
      yield* Effect.forEach([lapses, lives], (blob) => pending.lapse(blob.id))
      assert.strictEqual((yield* pending.lapsed(1)).length, 1)
      yield* pending.forget([])
      yield* pending.forget([lapses.id, lives.id])
      assert.deepStrictEqual(yield* lapsedOf(run.workspaceId), [])
    })
  )

  it.effect("stores a blob that has lapsed and is not yet deleted", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunFilesRepo
      const pending = yield* PendingBlobsRepo
      const run = yield* makeRun
      const blob = newBlob(run)
      yield* pending.reserve(blob)
      yield* pending.lapse(blob.id)
      assert.deepStrictEqual(yield* repo.store(fileOf(blob)), { replaced: undefined })
    })
  )

  it.effect("keeps nothing of a transaction that is rolled back", () =>
    Effect.gen(function* () {
      const repo = yield* TestRunFilesRepo
      const pending = yield* PendingBlobsRepo
      const storage = yield* Storage
      const run = yield* makeRun
      const [first, second] = [newBlob(run), newBlob(run)]
      yield* Effect.forEach([first, second], pending.reserve)
      yield* repo.store(fileOf(first))
      yield* Effect.flip(
        storage.transaction(Effect.andThen(repo.store(fileOf(second, { size: 1 })), Effect.fail("back")))
      )
      assert.deepStrictEqual(yield* repo.find(run.workspaceId, 1, "a/b.txt"), fileOf(first))
      assert.deepStrictEqual(yield* lapsedOf(run.workspaceId), [])
      assert.deepStrictEqual(yield* repo.store(fileOf(second, { size: 1 })), { replaced: first })
    })
  )
})
