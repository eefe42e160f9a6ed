import { Effect, Layer, Schedule } from "effect"
import { background } from "../telemetry/Background.ts"
import { Vault } from "./Vault.ts"

/**
 * Erases what the vault no longer keeps, at start and then every ten minutes (docs/contract.md, Vault). Every server does
 * so; each row is erased once.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const vault = yield* Vault
    const round = yield* background("vault_erasure", "Deleted secrets could not be erased.", vault.erase)
    yield* round.pipe(Effect.repeat(Schedule.spaced("10 minutes")), Effect.forkScoped)
  })
)
