import { Effect, Layer, Schedule } from "effect"
import { background } from "../telemetry/Background.ts"
import { DeploymentTokens } from "./DeploymentTokens.ts"
import { ReadAudit } from "./ReadAudit.ts"

/**
 * Has the audit tell that deployment tokens expired, and forgets which entry of the audit their last requests have, at start and
 * then every minute. Every server does so; each token is told once. A token fails from its `expiresAt` on, whenever the round
 * comes.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const tokens = yield* DeploymentTokens
    const { forget } = yield* ReadAudit
    for (const round of [
      yield* background("deployment_token_expiry", "Expired tokens could not be told.", tokens.expire),
      yield* background("deployment_read_erasure", "Old reads of tokens could not be forgotten.", forget)
    ]) {
      yield* round.pipe(Effect.repeat(Schedule.spaced("1 minute")), Effect.forkScoped)
    }
  })
)
