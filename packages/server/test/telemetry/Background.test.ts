import { assert, it } from "@effect/vitest"
import { Cause, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { makeReports } from "../../src/telemetry/Background.ts"

it.effect("Reports warn at the first failure, then ever more seldom, and anew after a success", () => {
  const lines: Array<unknown> = []
  const logger = Logger.make(({ logLevel, message }) => void lines.push(logLevel === "Warn" ? message : logLevel))
  return Effect.gen(function* () {
    const { failed, succeeded } = yield* makeReports("test", "It fails.")
    /** In which second the work warned, where it fails each second until then. */
    const warned = Effect.fnUntraced(function* (seconds: number) {
      const at: Array<number> = []
      for (let second = 0; second <= seconds; second++) {
        yield* failed(Cause.fail("no"))
        if (lines.length > 0) at.push(second)
        for (const line of lines.splice(0)) assert.deepStrictEqual(line, ["It fails."])
        yield* TestClock.adjust("1 second")
      }
      return at
    })
    const doubled = [0, 5, 15, 35, 75, 155, 315]
    // From then on every 5 minutes.
    assert.deepStrictEqual(yield* warned(1_300), [...doubled, 615, 915, 1_215])
    yield* succeeded
    yield* succeeded
    assert.deepStrictEqual(lines.splice(0), ["Info"])
    assert.deepStrictEqual(yield* warned(20), doubled.slice(0, 3))
  }).pipe(Effect.provide(Layer.provideMerge(Logger.layer([logger]), TestClock.layer())))
})
