import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option, Stream } from "effect"
import { WorkspacesRepo } from "../../../src/identity/WorkspacesRepo.ts"
import { RunErasure } from "../../../src/runs/erasure/RunErasure.ts"
import { Retries } from "../../../src/runs/Retries.ts"
import { TestRunFiles } from "../../../src/runs/TestRunFiles.ts"
import { TestRunFilesRepo } from "../../../src/runs/TestRunFilesRepo.ts"
import { type TestRunQuery, TestRuns } from "../../../src/runs/TestRuns.ts"
import { eventually } from "../../support/Eventually.ts"
import { sharedStorages } from "../../support/Storages.ts"
import { answer, as } from "../../identity/Scene.ts"
import { finishOf, retried, startOf } from "../RetriesScene.ts"
import { attempt, blobsBelow, type Deployed, finishBody, makeDeployed, report, startBody } from "../Scene.ts"
import { layerServer, newFilesDirectory } from "../Services.ts"

/** Erasure beside all that uses runs, on two servers: what is gone is gone as a whole, and nothing waits for ever. */

const directory = newFilesDirectory()

const layerOfServer = layerServer(directory)

const rounds = 15
const together = { concurrency: "unbounded" } as const
const times = (count: number) => Array.from({ length: count }, (_, index) => index)

const turns = (count: number) =>
  Effect.forEach(times(count), () => Effect.promise(() => new Promise(setImmediate)), { discard: true })

/** Lets both begin, the second `gap` turns of the event loop later; a negative gap lets it begin first. */
const apart = <A, B, E, F, R, S>(first: Effect.Effect<A, E, R>, second: Effect.Effect<B, F, S>, gap: number) =>
  Effect.all(
    [Effect.andThen(turns(Math.max(0, -gap)), first), Effect.andThen(turns(Math.max(0, gap)), second)],
    together
  )

const gapOf = (round: number) => (round % 7) - 3

for (const storage of sharedStorages) {
  layer(storage.layer, { excludeTestServices: true })(`Erasure on ${storage.name}`, (it) => {
    const servers = Effect.gen(function* () {
      const services = () => Layer.build(Layer.fresh(layerOfServer))
      return [yield* services(), yield* services()] as const
    })
    const start = (at: Deployed) => Effect.flatMap(TestRuns, (runs) => as(at.member)(runs.start(startBody(at))))
    const finish = (at: Deployed, number: number, tests = [report("a")]) =>
      Effect.flatMap(TestRuns, (runs) => answer(as(at.member)(runs.finish(number, finishBody({ tests })))))
    const remove = (at: Deployed, number: number) =>
      Effect.flatMap(RunErasure, (erasure) => answer(as(at.admin)(erasure.delete(number))))
    const get = (at: Deployed, number: number) =>
      Effect.flatMap(TestRuns, (runs) => as(at.viewer)(runs.get(number))).pipe(Effect.option)
    const startRetry = (at: Deployed, number: number) =>
      Effect.flatMap(Retries, (retries) => answer(as(at.member)(retries.start(number, startOf({ passes: 1 })))))
    const eraseAll = Effect.gen(function* () {
      const { step } = yield* RunErasure
      while (yield* step) yield* Effect.yieldNow
    })
    /** Another server may have been at it. */
    const eraseRest = (at: Deployed) =>
      Effect.gen(function* () {
        const sql = Option.getOrUndefined(yield* Effect.serviceOption(PgClient.PgClient))
        yield* eventually(
          Effect.andThen(
            eraseAll,
            sql === undefined
              ? Effect.succeed([])
              : Effect.orDie(sql`select run_id from erased_runs where workspace_id = ${at.workspace.id}`)
          ),
          (left) => left.length === 0
        )
      })
    /** Rows of tables of a workspace's runs that have no run; on memory none. */
    const orphans = Effect.fnUntraced(function* (at: Deployed) {
      const sql = Option.getOrUndefined(yield* Effect.serviceOption(PgClient.PgClient))
      if (sql === undefined) return []
      return yield* Effect.orDie(sql`select run_id from (
          select workspace_id, run_id from test_run_tests union all select workspace_id, run_id from test_run_attempts
          union all select workspace_id, run_id from test_run_retries
          union all select workspace_id, run_id from test_run_files
        ) rows where workspace_id = ${at.workspace.id}
          and not exists (select from test_runs r where r.id = rows.run_id)`)
    })

    it.effect("deletes a run after it was finished or not at all", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const [one, two] = yield* servers
        for (const round of times(rounds)) {
          const { number } = yield* Effect.provide(start(at), one)
          const [finished, removed] = yield* apart(
            Effect.provide(finish(at, number), one),
            Effect.provide(remove(at, number), two),
            gapOf(round)
          )
          assert.strictEqual(finished, "ok")
          assert.oneOf(removed, ["ok", "Conflict running"])
          assert.strictEqual(Option.isNone(yield* Effect.provide(get(at, number), one)), removed === "ok")
        }
        yield* Effect.provide(eraseRest(at), one)
        assert.deepStrictEqual(yield* orphans(at), [])
      })
    )

    it.effect("either starts a retry or deletes the run", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const [one, two] = yield* servers
        const seen = { started: 0, deleted: 0 }
        for (const round of times(rounds)) {
          const { number } = yield* Effect.provide(start(at), one)
          yield* Effect.provide(finish(at, number, [report("b", { attempt: attempt("failed") })]), one)
          const [starting, removing] = [
            Effect.provide(startRetry(at, number), one),
            Effect.provide(remove(at, number), two)
          ]
          // In some rounds one certainly comes before the other.
          const [started, removed] = yield* round % 3 === 0
            ? Effect.all([starting, removing])
            : round % 3 === 1
              ? Effect.map(Effect.all([removing, starting]), ([removed, started]) => [started, removed] as const)
              : apart(starting, removing, gapOf(round))
          assert.oneOf([started, removed].join(), ["ok,Conflict running", "NotFound,ok"])
          seen[removed === "ok" ? "deleted" : "started"]++
          if (removed === "ok") continue
          const ending = Effect.flatMap(Retries, (retries) =>
            answer(as(at.member)(retries.finish(number, 1, finishOf([retried("b", "passed")]))))
          )
          const [ended, again] = yield* apart(
            Effect.provide(ending, one),
            Effect.provide(remove(at, number), two),
            gapOf(round)
          )
          assert.strictEqual(ended, "ok")
          assert.oneOf(again, ["ok", "Conflict running"])
        }
        assert.isAbove(seen.started, 0)
        assert.isAbove(seen.deleted, 0)
        yield* Effect.provide(eraseRest(at), two)
        assert.deepStrictEqual(yield* orphans(at), [])
      })
    )

    it.effect("shows a run whole or not at all", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const [one, two] = yield* servers
        for (const round of times(rounds)) {
          const { number } = yield* Effect.provide(start(at), one)
          yield* Effect.provide(finish(at, number, [report("b", { attempt: attempt("failed") })]), one)
          yield* Effect.provide(startRetry(at, number), one)
          yield* Effect.flatMap(Retries, (retries) =>
            as(at.member)(retries.finish(number, 1, finishOf([retried("b", "passed")])))
          ).pipe(Effect.provide(one))
          const reads = Effect.forEach(times(6), () => Effect.provide(get(at, number), one))
          const erases = Effect.provide(Effect.andThen(remove(at, number), eraseAll), two)
          const [found] = yield* apart(reads, erases, gapOf(round))
          for (const run of found.filter(Option.isSome)) {
            assert.lengthOf(run.value.retries, 1)
            assert.lengthOf(run.value.tests[0]!.attempts, 2)
          }
        }
      })
    )

    it.effect("leaves no file and no blob of an upload beside it", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const [one, two] = yield* servers
        const before = blobsBelow(directory).length
        const repo = yield* TestRunFilesRepo
        for (const round of times(rounds)) {
          const { number } = yield* Effect.provide(start(at), one)
          const bodyEnds = yield* Deferred.make<void>()
          const body = Stream.make(new Uint8Array([1, 2, 3, 4])).pipe(
            Stream.concat(Stream.drain(Stream.fromEffect(Deferred.succeed(bodyEnds, undefined))))
          )
          const uploading = Effect.flatMap(TestRunFiles, (files) =>
            answer(
              as(at.member)(files.upload({ run: number, path: "f", contentType: undefined, contentLength: "4", body }))
            )
          )
          const uploader = yield* Effect.forkChild(Effect.provide(uploading, one))
          yield* Deferred.await(bodyEnds)
          yield* turns(round % 5)
          assert.strictEqual(yield* Effect.provide(finish(at, number), two), "ok")
          assert.strictEqual(yield* Effect.provide(remove(at, number), two), "ok")
          assert.oneOf(yield* Fiber.join(uploader), ["ok", "Conflict not_running"])
          assert.isUndefined(yield* repo.find(at.workspace.id, number, "f"))
        }
        yield* Effect.provide(eraseRest(at), one)
        assert.deepStrictEqual(yield* orphans(at), [])
        // By the sweepers of both servers.
        yield* eventually(
          Effect.sync(() => blobsBelow(directory).length),
          (count) => count === before
        )
      })
    )

    it.effect("erases by age on two servers while others publish and read, page after page", () =>
      Effect.gen(function* () {
        const at = yield* makeDeployed()
        const [one, two] = yield* servers
        const count = 130
        const kept = new Set<number>()
        for (const i of times(count)) {
          const { number } = yield* Effect.provide(start(at), i % 2 === 0 ? one : two)
          if (i % 13 === 0) kept.add(number)
          else yield* Effect.provide(finish(at, number), one)
        }
        const workspaces = yield* WorkspacesRepo
        yield* workspaces.update({ ...(yield* workspaces.find(at.workspace.id))!, runDays: 0.000_000_1 })

        const listOf = Effect.fnUntraced(function* (query: TestRunQuery) {
          const runs = yield* TestRuns
          const numbers: Array<number> = []
          for (let cursor: number | null | undefined; cursor !== null;) {
            const page = yield* as(at.viewer)(runs.list({ ...query, cursor }))
            numbers.push(...page.runs.map(({ number }) => number))
            cursor = page.nextCursor
          }
          return numbers
        })
        let isOver = false
        const reads = Effect.gen(function* () {
          while (!isOver) {
            for (const query of [{}, { q: "main" }, { product: at.product.slug, mine: false }]) {
              const found = yield* listOf(query)
              assert.deepStrictEqual(
                found,
                [...new Set(found)].toSorted((a, b) => b - a)
              )
              assert.includeMembers(found, [...kept])
            }
          }
        })
        const publishes = Effect.gen(function* () {
          let last = 0
          // As many as there were: without an end, those who publish could always be ahead of those who erase.
          for (const _ of times(count)) {
            if (isOver) return
            const { number } = yield* start(at)
            assert.isAbove(number, Math.max(count, last))
            last = number
            yield* finish(at, number, [report("b", { attempt: attempt("failed") })])
            assert.oneOf(yield* startRetry(at, number), ["ok", "NotFound"])
          }
        })
        const erases = Effect.forEach([one, two], (server) => Effect.provide(eraseRest(at), server), together)
        yield* Effect.all(
          [
            Effect.andThen(
              erases,
              Effect.sync(() => (isOver = true))
            ),
            Effect.provide(reads, one),
            Effect.provide(publishes, one),
            Effect.provide(publishes, two)
          ],
          together
        )
        yield* Effect.provide(eraseRest(at), one)
        const left = yield* Effect.provide(listOf({}), one)
        assert.includeMembers(left, [...kept])
        assert.deepStrictEqual(
          left.filter((number) => number <= count && !kept.has(number)),
          []
        )
        assert.deepStrictEqual(yield* orphans(at), [])
      })
    )
  })
}
