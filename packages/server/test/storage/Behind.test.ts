import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import { makeBehind } from "../../src/storage/Behind.ts"

describe("what is written behind", () => {
  const make = Effect.gen(function* () {
    const stored: Array<Record<string, number>> = []
    const state = { isFailing: false }
    const behind = yield* makeBehind<string, number>({
      task: "test",
      failure: "Numbers could not be stored.",
      merge: (before, value) => before + value,
      store: (batch) =>
        Effect.suspend(() => {
          if (state.isFailing) return Effect.die(new Error("The storage is away."))
          stored.push(Object.fromEntries(batch))
          return Effect.void
        })
    })
    return { ...behind, stored, state }
  })

  it.effect("is merged, written twice a second, and shown before it is", () =>
    Effect.gen(function* () {
      const { note, noted, stored } = yield* make
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(stored, [])
      assert.isUndefined(noted("a"))
      note("a", 1)
      note("b", 5)
      note("a", 2)
      assert.deepStrictEqual([noted("a"), noted("b")], [3, 5])
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(stored, [{ a: 3, b: 5 }])
      // For rows that were read before they were written.
      assert.deepStrictEqual([noted("a"), noted("b")], [3, 5])
      note("a", 4)
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(stored, [{ a: 3, b: 5 }, { a: 4 }])
    }).pipe(Effect.scoped)
  )

  it.effect("is written later where the storage fails, with what came meanwhile", () =>
    Effect.gen(function* () {
      const { note, state, stored } = yield* make
      state.isFailing = true
      note("a", 1)
      yield* TestClock.adjust("500 millis")
      note("a", 2)
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(stored, [])
      state.isFailing = false
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(stored, [{ a: 3 }])
    }).pipe(Effect.scoped)
  )

  it.effect("is written when the server ends", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { note, stored } = yield* Scope.provide(make, scope)
      note("a", 1)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(stored, [{ a: 1 }])
    })
  )
})
