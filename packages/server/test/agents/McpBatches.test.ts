import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { McpSchema } from "effect/ai"
import { TestClock } from "effect/testing"
import { asBatch, inTurn } from "../../src/agents/McpBatches.ts"

/** The calls of a batch (docs/contract.md, MCP). */

const result = (text: string) => new McpSchema.CallToolResult({ content: [{ type: "text", text }] })

/** Two calls that a batch starts at once: what began of them, and what ends the first. */
const scene = Effect.gen(function* () {
  const begun: Array<string> = []
  const [isBegun, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const first = Effect.gen(function* () {
    begun.push("first")
    yield* Deferred.succeed(isBegun, undefined)
    yield* Deferred.await(mayEnd)
    return result("first")
  })
  const second = Effect.sync(() => {
    begun.push("second")
    return result("second")
  })
  const both = Effect.all([inTurn(first), inTurn(second)], { concurrency: "unbounded" })
  return { begun, isBegun, mayEnd, both }
})

describe("The calls of a batch", () => {
  it.effect("are done one after the other", () =>
    Effect.gen(function* () {
      const { begun, both, isBegun, mayEnd } = yield* scene
      const running = yield* Effect.forkChild(asBatch(1_000)(both))
      yield* Deferred.await(isBegun)
      yield* Effect.yieldNow
      assert.deepStrictEqual(begun, ["first"])
      yield* Deferred.succeed(mayEnd, undefined)
      assert.deepStrictEqual(yield* Fiber.join(running), [result("first"), result("second")])
    })
  )

  it.effect("have the time of one request together", () =>
    Effect.gen(function* () {
      const { begun, both, isBegun, mayEnd } = yield* scene
      const running = yield* Effect.forkChild(asBatch(1_000)(both))
      yield* Deferred.await(isBegun)
      yield* TestClock.adjust(1_000)
      yield* Deferred.succeed(mayEnd, undefined)
      const [, late] = yield* Fiber.join(running)
      assert.isTrue("isError" in late && late.isError)
      assert.deepStrictEqual(begun, ["first"])
    })
  )

  it.effect("do not wait for calls of others", () =>
    Effect.gen(function* () {
      const { begun, both, isBegun, mayEnd } = yield* scene
      const running = yield* Effect.forkChild(both)
      yield* Deferred.await(isBegun)
      yield* Effect.yieldNow
      assert.deepStrictEqual(begun, ["first", "second"])
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(running)
    })
  )
})
