import { errorGroupOf } from "@delivery/domain/runs/ErrorGroups"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { setImmediate } from "node:timers/promises"
import { grouped } from "../../../src/runs/cases/GroupedFailures.ts"

it.live("groups the failures of a large run while others have their turns", () =>
  Effect.gen(function* () {
    const texts = Array.from(
      { length: 1_000 },
      (_, index) => `${"Expected 'a' at /b/1. ".repeat(40)}${"x".repeat(index)}`
    )
    let turns = 0
    // Turns of the whole process: in each, requests arrive.
    const others = yield* Effect.forkChild(
      Effect.forever(
        Effect.andThen(
          Effect.promise(() => setImmediate()),
          Effect.sync(() => turns++)
        )
      )
    )
    const failures = yield* grouped(
      texts.map((text) => ({ text })),
      ({ text }) => text
    )
    const turnsTaken = turns
    yield* Fiber.interrupt(others)
    assert.isAtLeast(turnsTaken, 20)
    assert.deepStrictEqual(
      failures,
      texts.map((text) => ({ text, errorGroup: errorGroupOf(text) }))
    )
  })
)
