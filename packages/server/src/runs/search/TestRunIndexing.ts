import { Effect, Layer } from "effect"
import { background } from "../../telemetry/Background.ts"
import { TestRuns } from "../TestRuns.ts"

/**
 * Indexes runs for the search: at start, when this server has started enough runs for a block, and each minute, since a
 * server that died leaves its runs to the others. Every server does it; each run is indexed once.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const runs = yield* TestRuns
    const round = yield* background("run_index", "Runs could not be indexed for the search.", runs.index)
    yield* round.pipe(
      Effect.andThen(Effect.timeoutOption(runs.awaitFullBlock, "1 minute")),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
