import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { CaseCounting } from "../../../src/runs/cases/CaseCounting.ts"
import { CountingSizes } from "../../../src/runs/cases/CaseCountingRepo.ts"
import { Settings } from "../../../src/Config.ts"
import * as Files from "../../../src/files/Files.ts"
import * as Keys from "../../../src/keys/Keys.ts"
import { layerKeyring, newStorages } from "../../support/Storages.ts"
import { layerRuns } from "../Services.ts"
import {
  assertCases,
  assertErrors,
  assertLists,
  assertTrends,
  countAll,
  failed,
  makeCases,
  passed
} from "./CasesScene.ts"

/** Two servers count while others publish, retry, delete and change the base branch, and some of them die: nothing is lost or counted twice. */

const layerServer = layerRuns.pipe(
  Layer.provide(Keys.layer),
  Layer.provide(layerKeyring),
  Layer.provide(Settings.layer({})),
  Layer.provide([NodeFileSystem.layer, NodePath.layer]),
  Layer.provide(Files.layerMemory)
)

const together = { concurrency: "unbounded" } as const
const turn = Effect.promise(() => new Promise(setImmediate))

for (const { layer: storage, name } of newStorages.filter(({ name }) => name !== "memory")) {
  const sizes = Layer.succeed(CountingSizes, { tests: 6, runs: 3 })
  layer(Layer.provideMerge(layerServer, Layer.provide(storage, sizes)), { excludeTestServices: true })(
    `Counting on ${name}`,
    (it) => {
      it.effect("is exact, whatever happens meanwhile", () =>
        Effect.gen(function* () {
          const servers = [yield* Layer.build(Layer.fresh(layerServer)), yield* Layer.build(Layer.fresh(layerServer))]
          const scene = yield* makeCases
          const from = (yield* scene.model).now.slice(0, 10)
          let isOver = false
          /** Dies now and then in the middle of a step, whose transaction is then rolled back. */
          const counts = (server: (typeof servers)[number], life: number) =>
            Effect.gen(function* () {
              const { step } = yield* CaseCounting
              for (let lives = 0; !isOver; lives++) {
                const counting = yield* Effect.forkChild(Effect.forever(Effect.andThen(step, turn)))
                for (let turns = 0; turns < life + (lives % 7) && !isOver; turns++) yield* turn
                yield* Fiber.interrupt(counting)
              }
            }).pipe(Effect.provide(server))
          const publishes = (branch: string, environment: number) =>
            Effect.gen(function* () {
              for (let i = 0; i < 25; i++) {
                const tests = ["a", "b", "c", "d"].map((caseId, n) => ({
                  caseId,
                  attempt: (i + n) % 3 === 0 ? failed(`Expected ${i}`, i) : passed(i)
                }))
                const run = yield* scene.publish({ branch, environment, tests })
                if (i % 4 === 1) yield* scene.retry(run, () => [passed(i)])
                if (i % 9 === 5) yield* scene.erase(run)
                if (i % 11 === 3) yield* scene.rebase(i % 2 === 0 ? "main" : "develop")
              }
            })
          const counting = yield* Effect.forkChild(
            Effect.all([counts(servers[0]!, 20), counts(servers[1]!, 60)], together)
          )
          yield* Effect.all([publishes("main", 0), publishes("develop", 1), publishes("feature", 0)], together)
          isOver = true
          yield* Fiber.join(counting)
          yield* countAll
          yield* assertLists(scene)
          yield* assertCases(scene)
          yield* assertErrors(scene)
          yield* assertTrends(scene, from, (yield* scene.model).now.slice(0, 10))
        })
      )
    }
  )
}
