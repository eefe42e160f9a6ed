import { assert } from "@effect/vitest"
import type { Release } from "@delivery/domain/releases/Release"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { answer } from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { deploymentIn, makeProduct } from "./Scene.ts"

/** The history of random changes, some of them at once, is that of a plain model. */

const versions = ["v1", "v2", "v3", "v4", null]

const steps = fc.array(fc.array(fc.constantFrom(...versions), { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 12
})

type Modelled = Pick<Release, "number" | "version" | "previous" | "rolledBackTo">

/** The history of the versions that a deployment had, one after the other. */
const modelOf = (had: ReadonlyArray<string | null>): ReadonlyArray<Modelled> => {
  const releases: Array<Modelled> = []
  let previous: string | null = null
  for (const version of had) {
    if (version === previous) continue
    const earlier = releases.findLast((release) => version !== null && release.version === version)
    releases.push({ number: releases.length + 1, version, previous, rolledBackTo: earlier?.number ?? null })
    previous = version
  }
  return releases
}

withServicesOnEachStorage("Random changes of versions", (it) => {
  it.effect("leave the history of a plain model", () =>
    Effect.gen(function* () {
      for (const [first, changes] of fc.sample(fc.tuple(fc.constantFrom(...versions), steps), 8)) {
        const scene = yield* makeProduct
        const { create, get, history, update } = deploymentIn(scene, scene.product, scene.staging)
        yield* create(first ?? undefined)
        const had: Array<string | null> = [first]
        for (const atOnce of changes) {
          yield* TestClock.adjust("1 minute")
          const answers = yield* Effect.forEach(atOnce, (version) => answer(update({ version })), {
            concurrency: "unbounded"
          })
          assert.deepStrictEqual(
            answers,
            atOnce.map(() => "ok")
          )
          // Those at once came in an order that only the history tells, and each change is in it, or changed nothing.
          const known = modelOf(had).length
          const added = (yield* history()).filter(({ number }) => number > known).toReversed()
          const made = added.map(({ version }) => version)
          for (const version of made) assert.include(atOnce, version)
          for (const version of atOnce) assert.include([...made, had.at(-1)!], version)
          assert.isAtMost(made.length, atOnce.length)
          had.push(...made)
        }
        const found = yield* history()
        assert.deepStrictEqual(
          found
            .map(({ number, previous, rolledBackTo, version }) => ({ number, version, previous, rolledBackTo }))
            .toReversed(),
          modelOf(had)
        )
        assert.strictEqual((yield* get).version, had.at(-1))
        assert.deepStrictEqual(
          found.map(({ at }) => at),
          found
            .map(({ at }) => at)
            .toSorted()
            .toReversed()
        )
      }
    })
  )
})
