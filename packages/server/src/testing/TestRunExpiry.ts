import { Effect, Layer, Schedule } from "effect"
import { TestRuns } from "./TestRuns.ts"

/** Ends overdue runs and retries, at start and then each minute. Every server does; each run ends once. */
export const TestRunExpiry = Layer.effectDiscard(
  Effect.gen(function* () {
    const runs = yield* TestRuns
    yield* runs.expire.pipe(
      Effect.catchCause((cause) => Effect.logWarning("Overdue runs could not be ended.", cause)),
      Effect.repeat(Schedule.spaced("1 minute")),
      Effect.forkScoped
    )
  })
)
