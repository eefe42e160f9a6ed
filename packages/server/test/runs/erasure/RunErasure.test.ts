import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import type { BlobOwner } from "../../../src/files/Blob.ts"
import { PendingBlobsRepo } from "../../../src/files/PendingBlobsRepo.ts"
import { WorkspacesRepo } from "../../../src/identity/WorkspacesRepo.ts"
import { ReleasesRepo } from "../../../src/releases/ReleasesRepo.ts"
import { Audit } from "../../../src/audit/Audit.ts"
import { RunErasure } from "../../../src/runs/erasure/RunErasure.ts"
import { Retries } from "../../../src/runs/Retries.ts"
import { TestRunFiles } from "../../../src/runs/TestRunFiles.ts"
import { TestRunFilesRepo } from "../../../src/runs/TestRunFilesRepo.ts"
import { TestRuns } from "../../../src/runs/TestRuns.ts"
import { TestRunsRepo } from "../../../src/runs/TestRunsRepo.ts"
import { sharedStorages } from "../../support/Storages.ts"
import { adminsAndUp, answer, as, eventsOf, refusal, whoMay } from "../../identity/Scene.ts"
import { finishedRun, finishOf, layerServices, retried, runLimit, startOf, upload } from "../RetriesScene.ts"
import { attempt, type Deployed, finishBody, makeDeployed, report, startBody } from "../Scene.ts"

/** The erasure of runs and of their files, by a caller and by time. */

/** Of a day of these tests, in milliseconds: `TestClock` lives through each second of it. */
const day = 2 * runLimit

const days = (count: number) => TestClock.adjust(count * day)

const realDays = (count: number | null | undefined) => (count == null ? null : (count * day) / 86_400_000)

/** Keeps what belongs to the workspace for so many days. */
const keep = Effect.fnUntraced(function* (
  { workspace }: Deployed,
  kept: { readonly runDays?: number; readonly fileDays?: number }
) {
  const repo = yield* WorkspacesRepo
  const [runDays, fileDays] = [realDays(kept.runDays), realDays(kept.fileDays)]
  yield* repo.update({ ...(yield* repo.find(workspace.id))!, runDays, fileDays })
})

/** Takes steps until nothing is left. Answers how many. */
const eraseAll = Effect.gen(function* () {
  const { step } = yield* RunErasure
  let steps = 0
  while (yield* step) steps++
  return steps
})

const numbers = (at: Deployed) =>
  Effect.map(
    Effect.flatMap(TestRuns, (runs) => as(at.viewer)(runs.list({}))),
    ({ runs }) => runs.map(({ number }) => number)
  )

const idOf = Effect.fnUntraced(function* (at: Deployed, number: number) {
  return (yield* (yield* TestRunsRepo).find(at.workspace.id, number))!.id
})

/** How many rows of each table a run has, and its blobs that are garbage; on memory nothing. */
const rowsOf = Effect.fnUntraced(function* (run: BlobOwner) {
  const sql = Option.getOrUndefined(yield* Effect.serviceOption(PgClient.PgClient))
  if (sql === undefined) return undefined
  const [rows] = yield* Effect.orDie(sql<typeof nothing>`select
    (select count(*)::int from test_run_tests where run_id = ${run}) as tests,
    (select count(*)::int from test_run_attempts where run_id = ${run}) as attempts,
    (select count(*)::int from test_run_retries where run_id = ${run}) as retries,
    (select count(*)::int from test_run_files where run_id = ${run}) as files,
    (select count(*)::int from erased_runs where run_id = ${run}) as erased,
    (select count(*)::int from pending_blobs where run_id = ${run} and lapses_at <= now()) as garbage`)
  return rows!
})

/** On memory nothing is compared. */
const assertRows = (found: Effect.Success<ReturnType<typeof rowsOf>>, expected: Partial<typeof nothing>) => {
  if (found !== undefined) assert.deepInclude(found, expected)
}

/** Whether the blobs of a run are garbage. */
const isGarbage = Effect.fnUntraced(function* (run: BlobOwner) {
  return (yield* (yield* PendingBlobsRepo).lapsed(10_000)).some(({ ownerId }) => ownerId === run)
})

const nothing = { tests: 0, attempts: 0, retries: 0, files: 0, erased: 0, garbage: 0 }

interface Past {
  readonly number: number
  readonly result: string
  readonly total: number
  readonly passedFirst: number
  readonly durations: ReadonlyArray<number>
}

/** What is kept of the runs of a workspace that are gone; on memory nothing. */
const pastOf = Effect.fnUntraced(function* (at: Deployed) {
  const sql = Option.getOrUndefined(yield* Effect.serviceOption(PgClient.PgClient))
  if (sql === undefined) return undefined
  return yield* Effect.orDie(sql<Past>`select number, result, total, passed_first as "passedFirst",
    array(select unnest(durations) order by 1) as durations
    from past_runs where workspace_id = ${at.workspace.id} order by number`)
})

for (const storage of sharedStorages) {
  layer(Layer.provideMerge(layerServices, storage.layer))(`RunErasure on ${storage.name}`, (it) => {
    it.effect("deletes a run with all that belongs to it, for admins alone", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const erasure = yield* RunErasure
        const { number } = yield* as(at.member)(Effect.flatMap(TestRuns, (runs) => runs.start(startBody(at))))
        assert.strictEqual(yield* upload(at.member, number), "ok")
        assert.strictEqual(yield* as(at.admin)(refusal(erasure.delete(number))), "Conflict running")
        const tests = [report("a"), report("b", { attempt: attempt("failed") }), report("s", { attempt: null })]
        yield* as(at.member)(Effect.flatMap(TestRuns, (runs) => runs.finish(number, finishBody({ tests }))))
        const retries = yield* Retries
        const { retry } = yield* as(at.member)(retries.start(number, startOf({ passes: 1 })))
        assert.strictEqual(yield* as(at.admin)(refusal(erasure.delete(number))), "Conflict running")
        const ran = retried("b", "passed")
        const slower = ran.attempts.map((one) => ({ ...one, durationMs: 99 }))
        yield* as(at.member)(retries.finish(number, retry, finishOf([{ ...ran, attempts: slower }])))

        const id = yield* idOf(at, number)
        const before = { tests: 3, attempts: 1, retries: 1, files: 1, garbage: 0 }
        assertRows(yield* rowsOf(id), { ...before, erased: 0 })
        const may = yield* whoMay(at, erasure.delete(4_711))
        assert.deepStrictEqual(may, adminsAndUp)
        assert.strictEqual(yield* as(at.admin)(answer(erasure.delete(number))), "ok")

        assert.strictEqual(
          yield* as(at.viewer)(refusal(Effect.flatMap(TestRuns, (runs) => runs.get(number)))),
          "NotFound"
        )
        assert.strictEqual(yield* as(at.admin)(refusal(erasure.delete(number))), "NotFound")
        assert.strictEqual(yield* as(at.member)(refusal(retries.start(number, startOf()))), "NotFound")
        assert.strictEqual(yield* upload(at.member, number), "NotFound")
        const files = yield* TestRunFiles
        assert.strictEqual(yield* as(at.viewer)(refusal(files.open(number, "retry/a.txt"))), "NotFound")
        assert.deepStrictEqual(yield* numbers(at), [])
        const past = yield* pastOf(at)
        if (past !== undefined) {
          assert.deepStrictEqual(past, [{ number, result: "passed", total: 3, passedFirst: 1, durations: [12.5, 99] }])
        }
        const event = (yield* eventsOf(at.workspace)).at(-1)!
        assert.deepInclude(event, {
          kind: "run_deleted",
          subjectType: "run",
          subjectId: id,
          subjectLabel: `Run ${number}`
        })
        assert.deepInclude(event.actor, { kind: "user", id: at.admin.principal.id })
        // What was red may be gone with it.
        const { entries } = yield* as(at.owner)((yield* Audit).list({ action: "run_deleted" }))
        assert.deepStrictEqual(
          entries.map(({ actor, subject }) => [actor?.kind, subject?.label]),
          [["user", `Run ${number}`]]
        )

        assertRows(yield* rowsOf(id), { ...before, erased: 1 })
        assert.isFalse(yield* isGarbage(id))
        yield* eraseAll
        assertRows(yield* rowsOf(id), { ...nothing, garbage: 1 })
        assert.isTrue(yield* isGarbage(id))
      })
    )

    it.effect("never gives a number again", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const erasure = yield* RunErasure
        for (let i = 1; i <= 3; i++) assert.strictEqual(yield* finishedRun(at, []), i)
        yield* as(at.admin)(erasure.delete(3))
        yield* as(at.owner)(erasure.delete(2))
        yield* eraseAll
        assert.strictEqual(yield* finishedRun(at, []), 4)
        assert.deepStrictEqual(yield* numbers(at), [4, 1])
      })
    )

    it.effect("deletes what is overdue, as it is no longer running", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const erasure = yield* RunErasure
        const runs = yield* TestRuns
        const { number } = yield* as(at.member)(runs.start(startBody(at)))
        const other = yield* finishedRun(at, ["x"])
        yield* as(at.member)(Effect.flatMap(Retries, (retries) => retries.start(other, startOf())))
        yield* TestClock.adjust(runLimit + 1)
        yield* as(at.admin)(erasure.delete(number))
        yield* as(at.admin)(erasure.delete(other))
        assert.deepStrictEqual(yield* numbers(at), [])
        // Of the interrupted one nothing is kept.
        assert.oneOf((yield* pastOf(at))?.length, [1, undefined])
        yield* eraseAll
      })
    )

    it.effect("erases runs whose days are over, and no others", () =>
      Effect.gen(function* () {
        const [at, other, neither] = [yield* makeDeployed(), yield* makeDeployed(), yield* makeDeployed()]
        yield* keep(at, { runDays: 2.5 })
        yield* keep(other, { runDays: 30 })
        const runs = yield* TestRuns
        const old = yield* finishedRun(at, ["x"])
        const id = yield* idOf(at, old)
        for (const one of [at, other, neither]) yield* finishedRun(one, ["x"])
        yield* days(1)
        // A retry keeps its run for longer.
        const retries = yield* Retries
        const { retry } = yield* as(at.member)(retries.start(2, startOf({ passes: 1 })))
        yield* as(at.member)(retries.finish(2, retry, finishOf([retried("x", "failed")])))
        yield* finishedRun(at, [])
        yield* days(1.4)
        assert.strictEqual(yield* eraseAll, 0)
        yield* days(0.1)
        assert.isAbove(yield* eraseAll, 0)
        assertRows(yield* rowsOf(id), nothing)
        assert.deepStrictEqual(yield* numbers(at), [3, 2])
        // What runs is kept, and so is what is retried.
        const again = yield* as(at.member)(retries.start(2, startOf({ passes: 1 })))
        yield* days(1)
        assert.deepStrictEqual(yield* numbers(at), [3, 2])
        yield* eraseAll
        assert.deepStrictEqual(yield* numbers(at), [2])
        yield* runs.expire
        yield* eraseAll
        assert.deepStrictEqual(yield* numbers(at), [2])
        assert.strictEqual(again.retry, 2)
        yield* days(3)
        yield* eraseAll
        assert.deepStrictEqual(yield* numbers(at), [])
        assert.deepStrictEqual([yield* numbers(other), yield* numbers(neither)], [[1], [1]])
        const kinds = (yield* eventsOf(at.workspace)).map(({ kind }) => kind)
        assert.notInclude(kinds, "run_deleted")
      })
    )

    it.effect("erases files whose days are over, and keeps their runs", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        yield* keep(at, { fileDays: 1 })
        const files = yield* TestRunFiles
        const runs = yield* TestRuns
        const repo = yield* TestRunFilesRepo
        const { number } = yield* as(at.member)(runs.start(startBody(at)))
        assert.strictEqual(yield* upload(at.member, number, "a"), "ok")
        const { blob } = (yield* repo.find(at.workspace.id, number, "a"))!
        yield* as(at.member)(runs.finish(number, finishBody()))
        const { retry } = yield* as(at.member)(Effect.flatMap(Retries, (retries) => retries.start(number, startOf())))
        yield* days(2)
        // Not while a retry may still send others.
        yield* eraseAll
        yield* as(at.viewer)(files.open(number, "a"))
        assert.strictEqual(retry, 1)
        yield* runs.expire
        yield* eraseAll
        assert.strictEqual(yield* as(at.viewer)(refusal(files.open(number, "a"))), "NotFound")
        assert.strictEqual((yield* as(at.viewer)(runs.get(number))).tests.length, 2)
        assert.isFalse(yield* repo.isStored(blob.id))
        assertRows(yield* rowsOf(blob.ownerId), { files: 0, garbage: 1, tests: 2 })
        assert.isTrue(yield* isGarbage(blob.ownerId))

        const newer = yield* as(at.member)(runs.start(startBody(at)))
        assert.strictEqual(yield* upload(at.member, newer.number, "b"), "ok")
        yield* as(at.member)(runs.finish(newer.number, finishBody()))
        yield* days(0.9)
        yield* eraseAll
        yield* as(at.viewer)(files.open(newer.number, "b"))
      })
    )

    it.effect("erases in steps, each of them small", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const erasure = yield* RunErasure
        const tests = Array.from({ length: 1_200 }, (_, i) => report(`case-${i}`))
        const runs = yield* TestRuns
        for (let i = 0; i < 3; i++) {
          const { number } = yield* as(at.member)(runs.start(startBody(at)))
          yield* as(at.member)(runs.finish(number, finishBody({ tests })))
        }
        const ids = yield* Effect.forEach([1, 2, 3], (number) => idOf(at, number))
        yield* keep(at, { runDays: 1 })
        yield* days(2)
        const left = Effect.map(Effect.forEach(ids, rowsOf), (rows) =>
          rows.map((row) => row?.tests ?? 0).reduce((a, b) => a + b)
        )
        let before = yield* left
        let steps = 0
        for (; yield* erasure.step; steps++) {
          const after = yield* left
          assert.isAtMost(before - after, 500)
          before = after
        }
        assert.strictEqual(before, 0)
        assert.deepStrictEqual(yield* numbers(at), [])
        if (storage.name !== "memory") assert.isAtLeast(steps, 8)
        const past = yield* pastOf(at)
        if (past !== undefined) {
          assert.deepStrictEqual(
            past.map(({ durations, total }) => [total, durations.length]),
            [1, 2, 3].map(() => [1_200, 1_200])
          )
        }
      })
    )

    it.effect("leaves the counts of releases as they are, also of runs and retries elsewhere", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const repo = yield* ReleasesRepo
        yield* finishedRun(at, [])
        yield* finishedRun(at, ["x"])
        const elsewhere = "https://pr-1.preview.example"
        const runs = yield* TestRuns
        const preview = yield* as(at.member)(runs.start({ ...startBody(at), baseUrl: elsewhere }))
        yield* as(at.member)(runs.finish(preview.number, finishBody({ tests: [report("a")] })))
        yield* finishedRun(at, ["x"])
        const retries = yield* Retries
        yield* as(at.member)(retries.start(4, startOf({ passes: 1, baseUrl: elsewhere })))
        const { result } = yield* as(at.member)(retries.finish(4, 1, finishOf([retried("x", "passed")])))
        assert.strictEqual(result, "passed")
        const history = repo.history(at.deployment, {}, 10)
        const before = yield* history
        // One passed, two failed: what the preview was tested for does not count, and what passed in the retry of it alone has failed.
        assert.deepStrictEqual(
          before.map(({ failed, passed }) => ({ failed, passed })),
          [{ failed: 2, passed: 1 }]
        )
        yield* as(at.admin)(Effect.flatMap(RunErasure, (erasure) => erasure.delete(2)))
        assert.deepStrictEqual(yield* history, before)
        yield* keep(at, { runDays: 0.000_1 })
        yield* days(1)
        yield* eraseAll
        assert.deepStrictEqual(yield* numbers(at), [])
        assert.deepStrictEqual(yield* history, before)
      })
    )
  })
}
