import { Effect, Layer, Schedule } from "effect"
import { Vault } from "./Vault.ts"

/** Erases what the vault keeps no longer, at start and then every ten minutes. Every server does; each row goes once. */
export const VaultErasure = Layer.effectDiscard(
  Effect.gen(function* () {
    const vault = yield* Vault
    yield* vault.erase.pipe(
      Effect.catchCause((cause) => Effect.logWarning("Deleted secrets could not be erased.", cause)),
      Effect.repeat(Schedule.spaced("10 minutes")),
      Effect.forkScoped
    )
  })
)
