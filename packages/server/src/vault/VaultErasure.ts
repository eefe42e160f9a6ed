import { Effect, Layer, Schedule } from "effect"
import { background } from "../telemetry/Background.ts"
import { Vault } from "./Vault.ts"

/** Erases what the vault keeps no longer, at start and then every ten minutes. Every server does; each row goes once. */
export const VaultErasure = Layer.effectDiscard(
  Effect.gen(function* () {
    const vault = yield* Vault
    const round = yield* background("vault_erasure", "Deleted secrets could not be erased.", vault.erase)
    yield* round.pipe(Effect.repeat(Schedule.spaced("10 minutes")), Effect.forkScoped)
  })
)
