import { Effect, Layer, Schedule } from "effect"
import { background } from "../telemetry/Background.ts"
import { Audit } from "./Audit.ts"

/**
 * Erases what is older than `AUDIT_DAYS`, at start and then every ten minutes (docs/contract.md, Audit). Every server does
 * so; each entry is erased once.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const audit = yield* Audit
    const round = yield* background("audit_erasure", "Old entries of the audit could not be erased.", audit.erase)
    yield* round.pipe(Effect.repeat(Schedule.spaced("10 minutes")), Effect.forkScoped)
  })
)
