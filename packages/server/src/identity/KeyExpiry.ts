import { Effect, Layer, Schedule } from "effect"
import { background } from "../telemetry/Background.ts"
import { ApiKeys } from "./ApiKeys.ts"

/**
 * Ends what expired keys made, and has the audit tell that they expired, at start and then every minute. Every server does
 * so; each key is told once. A key fails from its `expiresAt` on, whenever the round comes.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    const round = yield* background("key_expiry", "Keys that expired could not be ended.", keys.expire)
    yield* round.pipe(Effect.repeat(Schedule.spaced("1 minute")), Effect.forkScoped)
  })
)
