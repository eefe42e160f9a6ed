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
