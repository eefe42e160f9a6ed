import type { ApiKeyId } from "@delivery/domain/Ids"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { background } from "../telemetry/Background.ts"
import { keyUsesUnwritten, observe } from "../telemetry/Metrics.ts"
import { ApiKeysRepo } from "./ApiKeysRepo.ts"

/** `lastUsedAt`, written behind by at most a second; reading merges what is not yet written (contract, section 1). */
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
      let noted = new Map<ApiKeyId, Timestamp>()
      /** The last batch, also once it is written: keys read before that are merged after it. */
      let writing: ReadonlyMap<ApiKeyId, Timestamp> = new Map()

      const write = Effect.suspend(() => {
        if (noted.size === 0) return Effect.void
        writing = noted
        noted = new Map()
        return Effect.onError(repo.touch(writing), () =>
          Effect.sync(() => {
            noted = new Map([...writing, ...noted])
          })
        )
      })
      yield* Effect.addFinalizer(() => write)
      yield* observe(keyUsesUnwritten, () => noted.size)
      const round = yield* background("api_key_usage", "The last use of API keys could not be written.", write)
      yield* round.pipe(Effect.repeat(Schedule.spaced("500 millis")), Effect.forkScoped)

      return ApiKeyUsage.of({
        note: (id) =>
          Effect.map(Clock.currentTimeMillis, (millis) => {
            noted.set(id, timestamp(millis))
          }),
        merge: (keys) =>
          keys.map((key) => ({
            ...key,
            lastUsedAt: latest(key.lastUsedAt, latest(writing.get(key.id) ?? null, noted.get(key.id) ?? null))
          }))
      })
    })
  )
}

const latest = (a: Timestamp | null, b: Timestamp | null): Timestamp | null =>
  a === null || (b !== null && b > a) ? b : a
