import { Effect, Layer, Schedule } from "effect"
import { background } from "../telemetry/Background.ts"
import { TestRuns } from "./TestRuns.ts"

/** Ends overdue runs and retries, at the start and then each minute. Every server does it; each run ends once. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const runs = yield* TestRuns
    const round = yield* background("run_expiry", "Overdue runs could not be ended.", runs.expire)
    yield* round.pipe(Effect.repeat(Schedule.spaced("1 minute")), Effect.forkScoped)
  })
)
