import type { DeploymentId } from "@delivery/domain/Ids"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, type Fiber, Latch, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { DeploymentLocks } from "../../src/catalog/DeploymentLocks.ts"
import { ReleaseWaits } from "../../src/catalog/ReleaseWaits.ts"
import { RequestQueue } from "../../src/http/RequestQueue.ts"
import { Stopping } from "../../src/http/Stopping.ts"
import { makeListeners, Notices } from "../../src/storage/Notices.ts"
import { newId } from "../identity/Scene.ts"

/** The calls of one process that wait for a deployment (docs/contract.md, Releases), beside locks and notices of the test. */

const makeScene = () => {
  const held = new Set<DeploymentId>()
  const looked: Array<DeploymentId> = []
  const mayAnswer = Latch.makeUnsafe(true)
  const listeners = makeListeners()
  const layer = ReleaseWaits.layer.pipe(
    Layer.provide([
      Stopping.layer,
      Layer.succeed(Notices, { listen: listeners.add }),
      Layer.succeed(RequestQueue, { work: (_request, _endpoint, answer) => answer, releaseWhile: (wait) => wait }),
      Layer.succeed(DeploymentLocks, {
        heldBy: (deployment) =>
          Effect.suspend(() => {
            looked.push(deployment)
            return Effect.map(mayAnswer.await, () => (held.has(deployment) ? [7] : []))
          })
      })
    ])
  )
  return { held, looked, layer, mayAnswer, notify: (deployment: string) => listeners.notify("deployments", deployment) }
}

/** Lets all that can go on go on. */
const settle = Effect.forEach(Array.from({ length: 100 }), () => Effect.yieldNow, { discard: true })

/** A call that waits until it is woken. */
const waitFor = (deployment: DeploymentId, caller: string) =>
  Effect.gen(function* () {
    const wait = yield* (yield* ReleaseWaits).begin(deployment, caller)
    assert.isDefined(wait)
    yield* wait!(30_000)
  }).pipe(Effect.scoped, Effect.forkChild)

const isOver = (fiber: Fiber.Fiber<unknown, unknown>) => fiber.pollUnsafe() !== undefined

describe("Changes that wait for locked runs", () => {
  it.effect("share one look-up of their deployment for a notice, however many they are", () => {
    const { held, layer, looked, mayAnswer, notify } = makeScene()
    const [busy, free, other] = [newId<DeploymentId>(), newId<DeploymentId>(), newId<DeploymentId>()]
    return Effect.gen(function* () {
      for (const deployment of [busy, free]) held.add(deployment)
      const callers = Array.from({ length: 100 }, (_, n) => `caller ${n}`)
      const waiting = yield* Effect.forEach(callers, (caller) => waitFor(busy, caller))
      const others = yield* Effect.forEach(callers, (caller) => waitFor(free, caller))
      yield* settle
      yield* mayAnswer.close
      notify(busy)
      yield* settle
      assert.deepStrictEqual(looked, [busy])
      // What comes meanwhile is looked up afterwards, once. For the last nobody waits.
      for (let round = 0; round < 5; round++) for (const deployment of [busy, free, other]) notify(deployment)
      yield* settle
      assert.deepStrictEqual(looked, [busy])
      yield* mayAnswer.open
      yield* settle
      assert.deepStrictEqual(looked.splice(0), [busy, busy, free])
      assert.isFalse([...waiting, ...others].some(isOver))
      held.delete(free)
      notify(free)
      yield* settle
      assert.deepStrictEqual(looked.splice(0), [free])
      assert.deepStrictEqual([waiting.some(isOver), others.every(isOver)], [false, true])
      // A lost notice costs a second, and one look-up for all.
      held.delete(busy)
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(looked, [busy])
      assert.isTrue(waiting.every(isOver))
    }).pipe(Effect.provide(layer))
  })

  it.effect("are 64 of one caller and 1,000 in all, and one more does not wait", () =>
    Effect.gen(function* () {
      const waits = yield* ReleaseWaits
      const begin = (caller: string, scope: Scope.Scope) =>
        Effect.map(Scope.provide(waits.begin(newId<DeploymentId>(), caller), scope), (wait) => wait !== undefined)
      const times = (count: number, caller: string, scope: Scope.Scope) =>
        Effect.forEach(Array.from({ length: count }), () => begin(caller, scope))
      const [first, rest] = [yield* Scope.make(), yield* Scope.make()]
      assert.deepStrictEqual(yield* times(65, "first", first), [...Array<boolean>(64).fill(true), false])
      assert.isTrue(yield* begin("second", rest))
      for (let n = 0; n < 15; n++) yield* times(62, `caller ${n}`, rest)
      assert.deepStrictEqual(yield* times(6, "last", rest), [...Array<boolean>(5).fill(true), false])
      // What was not taken frees nothing, and what ends makes room for as many.
      yield* Scope.close(first, Exit.void)
      assert.deepStrictEqual(yield* times(64, "last", rest), [
        ...Array<boolean>(59).fill(true),
        ...Array<boolean>(5).fill(false)
      ])
      assert.deepStrictEqual(yield* times(6, "first", rest), [...Array<boolean>(5).fill(true), false])
      yield* Scope.close(rest, Exit.void)
    }).pipe(Effect.provide(makeScene().layer))
  )
})
