import { Effect, Layer, Schedule } from "effect"
import { background } from "../telemetry/Background.ts"
import { Mutes } from "./Mutes.ts"

/** Ends mutes that are over, at the start and then each minute. Every server does it; each mute ends once. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const mutes = yield* Mutes
    const round = yield* background("mutes", "Mutes that are over could not be ended.", mutes.sweep)
    yield* round.pipe(Effect.repeat(Schedule.spaced("1 minute")), Effect.forkScoped)
  })
)
