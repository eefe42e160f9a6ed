import type { ApiKeyId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { makeWriteBehind } from "../storage/WriteBehind.ts"
import { keyUsesUnwritten, observe } from "../telemetry/Metrics.ts"
import { ApiKeysRepo } from "./ApiKeysRepo.ts"

/**
 * `lastUsedAt` of API keys: written at most a second later, and what is not yet written is merged when it is read
 * (docs/contract.md, API keys).
 */
export class ApiKeyUsage extends Context.Service<
  ApiKeyUsage,
  {
    /** Notes that the key was used now. */
    readonly note: (id: ApiKeyId) => Effect.Effect<void>
    /** The keys with what was noted and is not yet written. */
    readonly merge: <Key extends { readonly id: ApiKeyId; readonly lastUsedAt: Timestamp | null }>(
      keys: ReadonlyArray<Key>
    ) => ReadonlyArray<Key>
  }
>()("@delivery/server/identity/ApiKeyUsage") {
  static readonly layer = Layer.effect(
    ApiKeyUsage,
    Effect.gen(function* () {
      const repo = yield* ApiKeysRepo
      const { latest, note, unwritten } = yield* makeWriteBehind(
        "api_key_usage",
        "The times at which API keys were last used could not be stored.",
        repo.touch
      )
      yield* observe(keyUsesUnwritten, unwritten)
      return ApiKeyUsage.of({
        note,
        merge: (keys) => keys.map((key) => ({ ...key, lastUsedAt: latest(key.id, key.lastUsedAt) }))
      })
    })
  )
}
