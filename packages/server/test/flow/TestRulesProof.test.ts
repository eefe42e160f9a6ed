import type { StartTestRun } from "@delivery/domain/runs/TestRun"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Deployments } from "../../src/catalog/Deployments.ts"
import { Comments } from "../../src/planning/Comments.ts"
import { as } from "../identity/Scene.ts"
import { git } from "../runs/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { finish, type FlowScene, makeFlowScene, run, start } from "./FlowScene.ts"
import { rule, ticket, ticketsOf } from "./TestRulesScene.ts"

/** A run during which the version of the deployment changes. */
const runOfChanged = Effect.fnUntraced(function* (
  at: FlowScene,
  version: string,
  failed: ReadonlyArray<string>,
  passed: ReadonlyArray<string>
) {
  const { number } = yield* start(at)
  yield* as(at.admin)((yield* Deployments).update(at.product.slug, at.environment.slug, { version }))
  yield* finish(at, number, failed, passed)
})

const dirty: Partial<StartTestRun> = { git: { ...git, dirty: true } }

withServicesOnEachStorage("What completes tickets of rules", (it) => {
  it.effect("is no run with uncommitted changes, and none during which the deployment changed", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      yield* rule(at, { closeAfter: 2 })
      yield* run(at, ["a"])
      yield* run(at, [], ["a"], dirty)
      yield* runOfChanged(at, "v2", [], ["a"])
      yield* run(at, [], ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "backlog", 0]])
      yield* run(at, [], ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "completed", 1]])
      const [comment] = yield* as(at.owner)((yield* Comments).list((yield* ticket(at)).id))
      assert.include(
        comment!.body,
        "2 more runs do not count: with uncommitted changes, of an agent, or the deployment changed meanwhile."
      )
      // What fails then has failed all the same.
      yield* run(at, ["a", "b"], [], dirty)
      assert.deepStrictEqual(yield* ticketsOf(at), [
        ["a", "unstarted", 2],
        ["b", "backlog", 0]
      ])
      yield* run(at, [], ["a", "b"])
      yield* runOfChanged(at, "v3", ["b"], ["a"])
      yield* run(at, [], ["a", "b"])
      assert.deepStrictEqual(yield* ticketsOf(at), [
        ["a", "completed", 3],
        ["b", "backlog", 1]
      ])
    })
  )

  it.effect("is no run elsewhere with uncommitted changes, which leaves what fails there as it is", () =>
    Effect.gen(function* () {
      const at = yield* makeFlowScene
      yield* rule(at, { branch: "main", closeAfter: 1 })
      yield* run(at, ["a"])
      const elsewhere = yield* run(at, ["a"], [], { git: { ...git, branch: "release" } })
      yield* run(at, [], ["a"], { git: { ...git, branch: "release", dirty: true } })
      yield* run(at, [], ["a"])
      assert.deepStrictEqual(yield* ticketsOf(at), [["a", "completed", 1]])
      const [comment] = yield* as(at.owner)((yield* Comments).list((yield* ticket(at)).id))
      assert.include(comment!.body, `It failed in run ${elsewhere.number}`)
    })
  )
})
