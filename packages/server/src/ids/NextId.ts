import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"

/** Makes UUIDv7 ids (docs/contract.md, Conventions), as `Id`. Each sorts after the one before. */
export class NextId extends Context.Service<NextId, <Id extends string>() => Effect.Effect<Id>>()(
  "@delivery/server/ids/NextId"
) {
  static readonly layer = Layer.effect(
    NextId,
    Effect.map(
      SecureRandom.SecureRandom,
      (random) =>
        <Id extends string>() =>
          random.uuidV7() as Effect.Effect<Id>
    )
  )
}

/** When an id of `NextId` was made: a UUIDv7 begins with milliseconds since 1970. */
export const madeAt = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
