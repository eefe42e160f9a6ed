import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"

/** The next UUIDv7 (contract, section 1), as the id `Id`. Each sorts after the one before. */
export const nextId = <Id extends string>(): Effect.Effect<Id, never, SecureRandom.SecureRandom> =>
  Effect.flatMap(SecureRandom.SecureRandom, (random) => random.uuidV7()) as Effect.Effect<
    Id,
    never,
    SecureRandom.SecureRandom
  >
