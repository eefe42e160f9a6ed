import { Effect, Layer, Schedule } from "effect"
import { background } from "../telemetry/Background.ts"
import { Webhooks } from "./Webhooks.ts"

/** Erases deliveries of long ago, at start and then every ten minutes. Every server does so; each is erased once. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const webhooks = yield* Webhooks
    const round = yield* background("webhook_erasure", "Old deliveries could not be erased.", webhooks.erase)
    yield* round.pipe(Effect.repeat(Schedule.spaced("10 minutes")), Effect.forkScoped)
  })
)
