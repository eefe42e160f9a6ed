import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { exchangedTokens, ExchangedTokensRepo } from "./ExchangedTokensRepo.ts"

export const layer = Layer.effect(
  ExchangedTokensRepo,
  Effect.map(MemoryStorage, (memory) =>
    ExchangedTokensRepo.of({
      use: (token, now) =>
        memory.write((database) =>
          Effect.sync(() => {
            const rows = database.table(exchangedTokens)
            rows.deleteWhere(({ expiresAt }) => expiresAt <= now)
            if (rows.get(token.tokenHash) !== undefined) return false
            rows.set(token.tokenHash, token)
            return true
          })
        )
    })
  )
)
