import { Effect, Layer } from "effect"
import { paced } from "../../storage/Paced.ts"
import { background } from "../../telemetry/Background.ts"
import { RunErasure } from "./RunErasure.ts"

/**
 * Erases what is kept no longer: at start, when a run is deleted here, and each minute, in small steps with rests between them, so
 * that requests do not notice. Every server does so, one at a time.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { awaitDeleted, step } = yield* RunErasure
    const round = yield* background("run_retention", "Old runs could not be erased.", paced(step, { share: 0.2 }))
    yield* round.pipe(Effect.andThen(Effect.timeoutOption(awaitDeleted, "1 minute")), Effect.forever, Effect.forkScoped)
  })
)
