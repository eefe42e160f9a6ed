import { assert } from "@effect/vitest"
import type { DeploymentId } from "@delivery/domain/Ids"
import type { Release } from "@delivery/domain/releases/Release"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { Releases } from "../../src/releases/Releases.ts"
import { answer, as, eventsOf } from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { deploymentIn, makeProduct } from "./Scene.ts"
import { isOneVersion, spelledVersions } from "./Spellings.ts"

/** The history of random changes, some of them at once, and of deployments that are made anew, is that of a plain model. */

const versions = ["v1", "v2", "v3", "v4", null]

/** Changes at once, or another deployment with a version or without. */
type Step =
  | { readonly kind: "changes"; readonly atOnce: ReadonlyArray<string | null> }
  | { readonly kind: "anew"; readonly version: string | null }

const stepsOf = (versions: ReadonlyArray<string | null>) =>
  fc.array(
    fc.oneof<[fc.WeightedArbitrary<Step>, fc.WeightedArbitrary<Step>]>(
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constant("changes"),
          atOnce: fc.array(fc.constantFrom(...versions), { minLength: 1, maxLength: 4 })
        })
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("anew"), version: fc.constantFrom(...versions) }) }
    ),
    { minLength: 1, maxLength: 12 }
  )

type Modelled = Pick<Release, "number" | "version" | "previous" | "rolledBackTo"> & { readonly deployment: number }

/** The history of the versions that each deployment had, one after the other. */
const modelOf = (had: ReadonlyArray<ReadonlyArray<string | null>>): ReadonlyArray<Modelled> => {
  const releases: Array<Modelled> = []
  const isSame = isOneVersion(had.flat())
  for (const [deployment, versions] of had.entries()) {
    let previous: string | null = null
    for (const version of versions) {
      if (version === previous) continue
      const earlier = releases.findLast((one) => one.deployment === deployment && isSame(one.version, version))
      // The commit that was there before, written in another way, rolls nothing back.
      const rolledBackTo = isSame(previous, version) ? null : (earlier?.number ?? null)
      releases.push({ number: releases.length + 1, version, previous, rolledBackTo, deployment })
      previous = version
    }
  }
  return releases
}

withServicesOnEachStorage("Random changes of versions", (it) => {
  it.effect("leave the history of a plain model", () =>
    Effect.gen(function* () {
      const histories = [versions, spelledVersions].flatMap((versions) =>
        fc.sample(fc.tuple(fc.constantFrom(...versions), stepsOf(versions)), 8)
      )
      for (const [first, all] of histories) {
        const scene = yield* makeProduct
        const { create, get, history, remove, update } = deploymentIn(scene, scene.product, scene.staging)
        const made = [(yield* create(first ?? undefined)).id]
        const had: Array<Array<string | null>> = [[first]]
        for (const step of all) {
          yield* TestClock.adjust("1 minute")
          if (step.kind === "anew") {
            yield* remove
            made.push((yield* create(step.version ?? undefined)).id)
            had.push([step.version])
            continue
          }
          const { atOnce } = step
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
          const changes = added.map(({ version }) => version)
          const before = had.at(-1)!.at(-1)!
          for (const version of changes) assert.include(atOnce, version)
          for (const version of atOnce) assert.include([...changes, before], version)
          assert.isAtMost(changes.length, atOnce.length)
          had.at(-1)!.push(...changes)
        }
        const found = yield* history()
        assert.deepStrictEqual(
          found
            .map(({ deployment, number, previous, rolledBackTo, version }) => ({
              number,
              version,
              previous,
              rolledBackTo,
              deployment: made.indexOf(deployment.id)
            }))
            .toReversed(),
          modelOf(had)
        )
        for (const { deployment } of found) {
          assert.strictEqual(deployment.deletedAt === null, deployment.id === made.at(-1))
        }
        assert.strictEqual((yield* get).version, had.at(-1)!.at(-1))
        // The events tell of each version that it came, and of the last one that it went with its deployment.
        const told = (yield* eventsOf(scene.workspace)).flatMap(({ changes, subjectId }) =>
          changes.flatMap(({ field, from, to }) =>
            field === "version" ? [JSON.stringify([made.indexOf(subjectId as DeploymentId), from, to])] : []
          )
        )
        const came = modelOf(had).map(({ deployment, previous, version }) => [deployment, previous, version])
        const went = had.slice(0, -1).flatMap((all, deployment) => {
          const last = all.at(-1)!
          return last === null ? [] : [[deployment, last, null]]
        })
        assert.deepStrictEqual(told.toSorted(), [...came, ...went].map((change) => JSON.stringify(change)).toSorted())
        for (const version of versions.concat(spelledVersions)) {
          if (version === null) continue
          const isSame = isOneVersion([...had.flat(), version])
          const numbers = modelOf(had).flatMap((one) => (isSame(one.version, version) ? [one.number] : []))
          const asked = Effect.flatMap(Releases, (releases) => releases.version(scene.product.slug, version))
          const page = yield* asked.pipe(
            as(scene.viewer),
            Effect.catchTag("NotFound", () => Effect.succeed({ environments: [] }))
          )
          const named = page.environments.flatMap(({ releases }) => releases.map(({ number }) => number))
          assert.deepStrictEqual(named, numbers, version)
        }
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
