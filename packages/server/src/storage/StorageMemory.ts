import { Effect, Layer } from "effect"
import { MemoryStorage } from "./MemoryStorage.ts"
import { Storage } from "./Storage.ts"

export const layer = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const memory = yield* MemoryStorage
    return Storage.of({ transaction: memory.transaction, snapshot: memory.transaction, ping: Effect.void })
  })
)
