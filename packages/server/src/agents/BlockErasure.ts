import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer, Schedule } from "effect"
import { background } from "../telemetry/Background.ts"
import { SignInsRepo } from "./SignInsRepo.ts"

/**
 * Forgets the blocks of credentials that have ended, at start and then every ten minutes (docs/contract.md, Credentials).
 * Every server does so. A credential that can still pass its block on, such as by a pending invite or a webhook, keeps it.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const repo = yield* SignInsRepo
    const erase = Effect.flatMap(Clock.currentTimeMillis, (now) => repo.eraseBlocks(timestamp(now))).pipe(
      Effect.withSpan("SignIns.eraseBlocks")
    )
    const round = yield* background("block_erasure", "Blocks of credentials that ended could not be forgotten.", erase)
    yield* round.pipe(Effect.repeat(Schedule.spaced("10 minutes")), Effect.forkScoped)
  })
)
