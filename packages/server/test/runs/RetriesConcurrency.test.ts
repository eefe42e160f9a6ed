import { assert, layer } from "@effect/vitest"
import type { EventId } from "@delivery/domain/Ids"
import { recount, type RetryAttempt } from "@delivery/domain/runs/TestResults"
import { timestamp } from "@delivery/domain/Timestamp"
import { Effect, Exit, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Retries } from "../../src/runs/Retries.ts"
import { type FoundRetry, RetriesRepo } from "../../src/runs/RetriesRepo.ts"
import { TestRunFiles } from "../../src/runs/TestRunFiles.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { type FoundTestRun, TestRunsRepo } from "../../src/runs/TestRunsRepo.ts"
import { answer, as, kindsOf, newId } from "../identity/Scene.ts"
import { finishedRun, finishOf, layerServices, retried, runLimit, startOf } from "./RetriesScene.ts"
import { sharedStorages } from "../support/Storages.ts"
import { attempt, type Deployed, makeDeployed } from "./Scene.ts"

/** What happens when many want the same: one row lock decides, and nothing is half done. */

const together = { concurrency: "unbounded" } as const
const times = (count: number) => Array.from({ length: count }, (_, index) => index)
const tallied = (answers: ReadonlyArray<string>) =>
  Object.fromEntries([...Map.groupBy(answers, (answer) => answer)].map(([answer, all]) => [answer, all.length]))

/** Three have more characters than one statement takes. */
const long = (length = 1024 * 1024) => ({ errorStack: "x".repeat(length) })

/** The attempts of test `a` in its first retry. */
const made = (index: number): RetryAttempt => ({
  caseId: "a",
  number: 2 + index,
  retry: 1,
  ...attempt("passed"),
  ...long()
})

/** What finishes the first retry of a run a moment before its time is up, so that test `a` is flaky. */
const finishing = (
  at: Deployed,
  retry: FoundRetry,
  run: FoundTestRun,
  attempts: Iterable<RetryAttempt>
): Parameters<RetriesRepo["Service"]["finish"]> => {
  const finishedAt = timestamp(Date.parse(retry.expiresAt) - 1)
  return [
    { runId: run.id, number: 1 },
    {
      state: "finished",
      cleanup: null,
      finishedAt,
      flaky: ["a"],
      attempts,
      again: [],
      isOther: false,
      left: { ifElsewhere: false, ifHere: false },
      run: recount(run.counts, 1)
    },
    () => ({
      id: newId<EventId>(),
      workspaceId: at.workspace.id,
      kind: "retry_finished",
      actor: retry.publisher,
      subjectType: "retry",
      subjectId: retry.id,
      subjectLabel: "",
      subjectPath: "",
      changes: [],
      teamIds: null,
      createdAt: finishedAt
    })
  ]
}

for (const storage of sharedStorages) {
  layer(Layer.provideMerge(layerServices, storage.layer))(`Concurrent retries on ${storage.name}`, (it) => {
    it.effect("start once when 50 start at once, repeatedly", () =>
      Effect.gen(function* () {
        const [runs, retries] = [yield* TestRuns, yield* Retries]
        const at = yield* makeDeployed()
        yield* finishedRun(at, ["a"])
        for (const round of times(4)) {
          const answers = yield* Effect.forEach(
            times(50),
            (index) => answer(as(index % 2 === 0 ? at.member : at.memberKey)(retries.start(1, startOf()))),
            together
          )
          assert.deepStrictEqual(tallied(answers), { ok: 1, "Conflict retry_running": 49 })
          const { retries: all } = yield* as(at.viewer)(runs.get(1))
          assert.deepStrictEqual(
            all.map((retry) => retry.number),
            times(round + 1).map((index) => index + 1)
          )
          // Alternately ended by its publisher and by time.
          if (round % 2 === 1) yield* TestClock.adjust(runLimit)
          else {
            const by = all.at(-1)!.publishedBy.kind === "user" ? at.member : at.memberKey
            yield* as(by)(retries.finish(1, round + 1, finishOf([])))
          }
        }
        assert.strictEqual((yield* kindsOf(at.workspace)).filter((kind) => kind === "retry_started").length, 4)
      })
    )

    it.effect("finish once when many finish at once", () =>
      Effect.gen(function* () {
        const [runs, retries] = [yield* TestRuns, yield* Retries]
        const at = yield* makeDeployed()
        yield* finishedRun(at, ["a", "b"])
        yield* as(at.member)(retries.start(1, startOf()))
        const answers = yield* Effect.forEach(
          times(20),
          () => answer(as(at.member)(retries.finish(1, 1, finishOf([retried("a", "passed", "passed")])))),
          together
        )
        assert.deepStrictEqual(tallied(answers), { ok: 1, "Conflict not_running": 19 })
        const run = yield* as(at.viewer)(runs.get(1))
        assert.deepInclude(run.counts, { flaky: 1, failed: 1 })
        assert.strictEqual(run.tests.find((test) => test.caseId === "a")?.attempts.length, 3)
        assert.strictEqual((yield* kindsOf(at.workspace)).filter((kind) => kind === "retry_finished").length, 1)
      })
    )

    it.effect("finish once where their attempts are stored in parts", () =>
      Effect.gen(function* () {
        const [runs, retries] = [yield* TestRuns, yield* Retries]
        const at = yield* makeDeployed()
        yield* finishedRun(at, ["a", "b"])
        yield* as(at.member)(retries.start(1, startOf()))
        const attempts = times(100).map((index) => ({ ...attempt("passed"), ...long(15_000), durationMs: index }))
        const report = finishOf(["a", "b"].map((caseId) => ({ caseId, attempts })))
        const answers = yield* Effect.forEach(
          times(5),
          () => answer(as(at.member)(retries.finish(1, 1, report))),
          together
        )
        assert.deepStrictEqual(tallied(answers), { ok: 1, "Conflict not_running": 4 })
        const { counts, tests } = yield* as(at.viewer)(runs.get(1))
        assert.deepInclude(counts, { flaky: 2, failed: 0 })
        for (const test of tests.filter(({ status }) => status === "flaky")) {
          assert.deepStrictEqual(
            test.attempts.slice(1).map(({ durationMs, number, retry }) => [durationMs, number, retry]),
            times(100).map((index) => [index, index + 2, 1])
          )
        }
        assert.strictEqual((yield* kindsOf(at.workspace)).filter((kind) => kind === "retry_finished").length, 1)
      })
    )

    it.effect("store nothing where one of the parts fails", () =>
      Effect.gen(function* () {
        const [retries, repo, runsRepo] = [yield* Retries, yield* RetriesRepo, yield* TestRunsRepo]
        const at = yield* makeDeployed()
        const number = yield* finishedRun(at, ["a"])
        const run = (yield* runsRepo.find(at.workspace.id, number))!
        yield* as(at.member)(retries.start(number, startOf()))
        const retry = (yield* repo.find(run.id, 1))!
        const attempts = function* () {
          yield* times(3).map((index) => made(index))
          throw new Error("No more.")
        }
        const finish = finishing(at, retry, run, attempts())
        assert.isTrue(Exit.hasDies(yield* Effect.exit(repo.finish(...finish))))
        assert.deepStrictEqual([yield* repo.attempts(run.id), (yield* repo.find(run.id, 1))?.state], [[], "running"])
        assert.isDefined(yield* repo.finish(...finishing(at, retry, run, times(3).map(made))))
        assert.deepStrictEqual(yield* repo.attempts(run.id), times(3).map(made))
      })
    )

    it.effect("either finish or expire", () =>
      Effect.gen(function* () {
        const [runs, retries, repo, runsRepo] = [
          yield* TestRuns,
          yield* Retries,
          yield* RetriesRepo,
          yield* TestRunsRepo
        ]
        const at = yield* makeDeployed()
        const won = { finish: 0, expiry: 0 }
        for (const round of times(20)) {
          const number = yield* finishedRun(at, ["a"])
          const run = (yield* runsRepo.find(at.workspace.id, number))!
          yield* as(at.member)(retries.start(number, startOf()))
          const retry = (yield* repo.find(run.id, 1))!
          // One attempt is one statement, three of them are parts.
          const count = round % 2 === 0 ? 1 : 3
          const finish = repo.finish(...finishing(at, retry, run, times(count).map(made)))
          // Whoever comes second, of the two and of servers that expire, finds nothing left to do.
          const expire = repo.expire(retry.expiresAt, [newId<EventId>()], run.id)
          const [first, finished, second] = yield* Effect.all([expire, finish, expire], together)
          assert.strictEqual(first + second + (finished ? 1 : 0), 1)
          won[finished ? "finish" : "expiry"]++
          const shown = yield* as(at.viewer)(runs.get(number))
          assert.deepStrictEqual(
            [shown.retries[0]?.state, shown.counts.flaky, shown.result, shown.tests[0]?.attempts.length],
            finished ? ["finished", 1, "passed", 1 + count] : ["interrupted", 0, "failed", 1]
          )
        }
        const kinds = tallied(yield* kindsOf(at.workspace))
        assert.strictEqual(kinds["retry_finished"] ?? 0, won.finish)
        assert.strictEqual(kinds["retry_interrupted"] ?? 0, won.expiry)
      })
    )

    it.effect("keep a file only if it came before the finish", () =>
      Effect.gen(function* () {
        const [retries, files, runsRepo] = [yield* Retries, yield* TestRunFiles, yield* TestRunsRepo]
        const at = yield* makeDeployed()
        for (const round of times(10)) {
          const number = yield* finishedRun(at, ["a"])
          yield* as(at.member)(retries.start(number, startOf()))
          const uploads = times(6).map((index) =>
            answer(
              as(at.member)(
                files.upload({
                  run: number,
                  path: `${index}.txt`,
                  contentType: undefined,
                  contentLength: "1",
                  body: Stream.succeed(new Uint8Array([1]))
                })
              )
            )
          )
          const finish = answer(as(at.member)(retries.finish(number, 1, finishOf([]))))
          const [finished, ...uploaded] = yield* Effect.all(
            [Effect.andThen(TestClock.withLive(Effect.sleep(round % 5)), finish), ...uploads],
            together
          )
          assert.strictEqual(finished, "ok")
          for (const [index, answered] of uploaded.entries()) {
            assert.include(["ok", "Conflict not_running"], answered)
            const open = yield* answer(as(at.member)(files.open(number, `${index}.txt`)))
            assert.strictEqual(open, answered === "ok" ? "ok" : "NotFound")
          }
          const run = (yield* runsRepo.find(at.workspace.id, number))!
          assert.deepInclude(yield* runsRepo.lock(run.id), { runningRetry: null })
        }
      })
    )

    it.effect("belong to the retry they began in", () =>
      Effect.gen(function* () {
        const [retries, files] = [yield* Retries, yield* TestRunFiles]
        const at = yield* makeDeployed()
        yield* finishedRun(at, ["a"])
        yield* as(at.member)(retries.start(1, startOf()))
        // While its bytes arrive, its retry ends and the publisher's next one begins.
        const body = Stream.fromEffect(
          Effect.gen(function* () {
            yield* Effect.orDie(as(at.member)(retries.finish(1, 1, finishOf([]))))
            yield* Effect.orDie(as(at.member)(retries.start(1, startOf())))
            return new Uint8Array([1])
          })
        )
        const late = files.upload({ run: 1, path: "late.txt", contentType: undefined, contentLength: "1", body })
        assert.strictEqual(yield* answer(as(at.member)(late)), "Conflict not_running")
        assert.strictEqual(yield* answer(as(at.member)(files.open(1, "late.txt"))), "NotFound")
      })
    )
  })
}
