import { Effect, Layer } from "effect"
import { paced } from "../../storage/Paced.ts"
import { background } from "../../telemetry/Background.ts"
import { CaseCounting } from "./CaseCounting.ts"

/** A step of a large run works for half a second, and rests accordingly. */
export const pace = { share: 0.08, longestRest: 5_000 }

/**
 * Counts results: at start, when a run has ended here, and each minute, since a server that died leaves its runs to the others; in
 * small steps with rests between them, so that requests do not notice, and that runs which end together are counted together.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { awaitChange, step } = yield* CaseCounting
    const steps = paced(step, pace)
    const round = yield* background("case_counting", "Results of tests could not be counted.", steps)
    yield* round.pipe(Effect.andThen(Effect.timeoutOption(awaitChange, "1 minute")), Effect.forever, Effect.forkScoped)
  })
)
