import { assert, layer } from "@effect/vitest"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { TestRunsRepo } from "../../src/runs/TestRunsRepo.ts"
import { answer, as, eventsOf } from "../identity/Scene.ts"
import { sharedStorages } from "../support/Storages.ts"
import { attempt, type Deployed, finishBody, makeDeployed, report, startBody } from "./Scene.ts"
import { layerServer, newFilesDirectory } from "./Services.ts"

/** Shards that start and finish at once, at two servers of one database. */

const layerOfServer = layerServer(newFilesDirectory())

const rounds = 15
const total = 8
const indexes = Array.from({ length: total }, (_, at) => at + 1)

for (const storage of sharedStorages) {
  layer(storage.layer, { excludeTestServices: true, timeout: 120_000 })(`Races of shards on ${storage.name}`, (it) => {
    const servers = Effect.gen(function* () {
      const services = () => Layer.build(Layer.fresh(layerOfServer))
      return [yield* services(), yield* services()] as const
    })
    const atOnce = { concurrency: "unbounded" } as const
    const get = (at: Deployed, number: number) => Effect.flatMap(TestRuns, (runs) => as(at.member)(runs.get(number)))
    const start = (at: Deployed, build: string, index: number, locked = false) =>
      Effect.flatMap(TestRuns, (runs) =>
        as(at.member)(runs.start(startBody(at, { build, shard: { index, total }, locked })))
      )
    const finish = (at: Deployed, number: number, index: number) =>
      Effect.flatMap(TestRuns, (runs) => {
        const tests = [
          report("setup", { attempt: attempt(index === 3 ? "failed" : "passed") }),
          report(`test ${index}`)
        ]
        return as(at.member)(runs.finish(number, finishBody({ shard: { index, total }, tests })))
      })

    it.effect("all that start at once start one run, and all that finish at once finish it once", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const both = yield* servers
        const repo = yield* TestRunsRepo
        const locks = Effect.flatMap(Clock.currentTimeMillis, (now) => repo.locks(at.deployment.id, timestamp(now)))
        for (let round = 1; round <= rounds; round++) {
          // Each twice, as a caller does that heard no answer.
          const started = yield* Effect.forEach(
            [...indexes, ...indexes],
            (index, i) => Effect.provide(start(at, `build ${round}`, index, round % 2 === 0), both[i % 2]!),
            atOnce
          )
          assert.deepStrictEqual(
            started.map(({ number }) => number),
            started.map(() => round)
          )
          assert.strictEqual(new Set(started.map(({ semaphores }) => semaphores.token)).size, 2 * total)
          assert.deepStrictEqual(yield* locks, round % 2 === 0 ? [round] : [])
          const finished = yield* Effect.forEach(
            [...indexes, ...indexes],
            (index, i) => Effect.provide(finish(at, round, index), both[(i + index) % 2]!),
            atOnce
          )
          assert.isAbove(finished.filter(({ state }) => state === "finished").length, 0)
          const run = yield* Effect.provide(get(at, round), both[0])
          assert.deepInclude(run, {
            state: "finished",
            result: "failed",
            counts: { total: total + 1, passed: total, flaky: 0, failed: 1, skipped: 0 },
            shards: { total, started: total, finished: total }
          })
          assert.deepStrictEqual(
            run.tests.map(({ caseId }) => caseId),
            ["setup", ...indexes.map((index) => `test ${index}`)]
          )
          assert.deepStrictEqual(yield* locks, [])
        }
        const kinds = (yield* eventsOf(at.workspace)).map(({ kind }) => kind)
        for (const kind of ["run_started", "run_finished"]) {
          assert.strictEqual(kinds.filter((one) => one === kind).length, rounds, kind)
        }
      })
    )

    it.effect("a shard that starts again and one that finishes the run exclude each other", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const both = yield* servers
        for (let round = 1; round <= rounds; round++) {
          yield* Effect.forEach(indexes, (index) => Effect.provide(start(at, `build ${round}`, index), both[0]))
          yield* Effect.forEach(indexes.slice(1), (index) => Effect.provide(finish(at, round, index), both[0]))
          const [started, finished] = yield* Effect.all(
            [
              answer(Effect.provide(start(at, `build ${round}`, 1), both[0])),
              answer(Effect.provide(finish(at, round, 1), both[1]))
            ],
            atOnce
          )
          assert.strictEqual(finished, "ok")
          assert.include(["ok", "Conflict finished"], started)
          assert.strictEqual((yield* Effect.provide(get(at, round), both[1])).state, "finished")
        }
      })
    )
  })
}
