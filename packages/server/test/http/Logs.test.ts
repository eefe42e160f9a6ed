import { assert, it } from "@effect/vitest"
import { Cause, Effect, Layer } from "effect"
import { TestConsole } from "effect/testing"
import { Settings } from "../../src/Config.ts"
import * as Logs from "../../src/http/Logs.ts"

const cause = Cause.combine(
  Cause.fail(new TypeError("it broke", { cause: new RangeError("too deep") })),
  Cause.die({ _tag: "Odd", amount: 3 })
)

for (const logFormat of ["json", "pretty"] as const) {
  it.effect(`a line of a ${logFormat} log tells what failed and why, and no stack`, () =>
    Effect.gen(function* () {
      yield* Effect.annotateLogs(Effect.logError("A request failed.", cause), { requestId: "r1" })
      const log = [...(yield* TestConsole.logLines), ...(yield* TestConsole.errorLines)].map(String).join("\n")
      for (const expected of ["A request failed.", "r1", "TypeError: it broke", "RangeError: too deep", "amount"]) {
        assert.include(log, expected)
      }
      assert.notMatch(log, /\bat .*:\d+|node_modules|\.ts\b/)
    }).pipe(Effect.provide(Layer.provide(Logs.layer, Settings.layer({ LOG_FORMAT: logFormat, LOG_LEVEL: "info" }))))
  )
}
