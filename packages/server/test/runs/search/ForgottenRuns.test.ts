import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { WorkspacesRepo } from "../../../src/identity/WorkspacesRepo.ts"
import { RunErasure } from "../../../src/runs/erasure/RunErasure.ts"
import { SearchBlocks } from "../../../src/runs/search/SearchBlocks.ts"
import { TestRuns } from "../../../src/runs/TestRuns.ts"
import { as } from "../../identity/Scene.ts"
import { newStorages } from "../../support/Storages.ts"
import { finishedRun, layerServices } from "../RetriesScene.ts"
import { makeDeployed, startBody } from "../Scene.ts"

/** The search forgets runs that are erased, with blocks of the index that few runs fill. */

const sizes = { runs: 8, joined: 2 }

for (const { layer: storage, name } of newStorages.filter(({ name }) => name !== "memory")) {
  layer(Layer.provideMerge(layerServices, storage).pipe(Layer.provide(Layer.succeed(SearchBlocks, sizes))))(
    `Erased runs and the search on ${name}`,
    (it) => {
      it.effect("forgets whole blocks, and finds all other runs", () =>
        Effect.gen(function* () {
          const at = yield* makeDeployed()
          const [runs, erasure, workspaces] = [yield* TestRuns, yield* RunErasure, yield* WorkspacesRepo]
          const search = Effect.map(as(at.viewer)(runs.list({ q: "main" })), ({ runs }) =>
            runs.map(({ number }) => number)
          )
          const sql = Option.getOrThrow(yield* Effect.serviceOption(PgClient.PgClient))
          const postings = Effect.map(
            Effect.orDie(
              sql<{ readonly first: number }>`select distinct first_run as first from test_run_postings order by 1`
            ),
            (rows) => rows.map(({ first }) => first)
          )
          const eraseAll = Effect.gen(function* () {
            while (yield* erasure.step) yield* Effect.yieldNow
          })
          for (let number = 1; number <= 20; number++) yield* finishedRun(at, [])
          yield* TestClock.adjust("2 minutes")
          for (let number = 21; number <= 36; number++) yield* finishedRun(at, [])
          const { number: last } = yield* as(at.member)(runs.start(startBody(at)))
          yield* runs.index
          assert.deepStrictEqual(yield* postings, [1, 17])
          const newest = Array.from({ length: 17 }, (_, i) => last - i)

          // One run of the first block is left.
          for (let number = 1; number <= 15; number++) yield* as(at.admin)(erasure.delete(number))
          yield* eraseAll
          assert.deepStrictEqual(yield* postings, [1, 17])
          assert.deepStrictEqual(yield* search, [...newest, 20, 19, 18, 17, 16])
          yield* workspaces.update({ ...(yield* workspaces.find(at.workspace.id))!, runDays: 1 / 1_440 })
          yield* eraseAll
          assert.deepStrictEqual(yield* postings, [17])
          assert.deepStrictEqual(yield* search, newest)

          // What comes after is indexed and found as before.
          for (let number = 38; number <= 50; number++) yield* finishedRun(at, [])
          yield* runs.index
          assert.deepStrictEqual(yield* postings, [17, 33])
          assert.strictEqual((yield* search)[0], 50)
          yield* TestClock.adjust("2 minutes")
          yield* runs.expire
          yield* eraseAll
          assert.deepStrictEqual(yield* postings, [])
          assert.deepStrictEqual(yield* search, [])
          assert.strictEqual(yield* finishedRun(at, []), 51)
          assert.deepStrictEqual(yield* search, [51])
        })
      )
    }
  )
}
