import { Effect, Layer } from "effect"
import { background } from "../telemetry/Background.ts"
import { TestRuns } from "./TestRuns.ts"

/**
 * Indexes runs for the search: at start, when enough have been started here, and each minute, since those of a server
 * that died are left to the others. Every server does; each run is indexed once.
 */
export const TestRunIndexing = Layer.effectDiscard(
  Effect.gen(function* () {
    const runs = yield* TestRuns
    const round = yield* background("run_index", "Runs could not be indexed for the search.", runs.index)
    yield* round.pipe(
      Effect.andThen(Effect.timeoutOption(runs.mayIndex, "1 minute")),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
