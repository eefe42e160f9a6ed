import { Effect } from "effect"
import { type ActorRef, isSameActor } from "../access/Access.ts"
import type { ApiKeysRepo } from "../identity/ApiKeysRepo.ts"

/**
 * Whether who acts publishes the run or retry. A job of a CI that takes longer than a key which its token was exchanged for
 * goes on with another key of the same trusted publisher (docs/contract.md, Trusted publishers).
 */
export const isPublishedBy = (
  { keys }: { readonly keys: ApiKeysRepo["Service"] },
  publisher: ActorRef,
  actor: ActorRef
): Effect.Effect<boolean> => {
  if (isSameActor(publisher, actor)) return Effect.succeed(true)
  return publisher.kind === "apiKey" && actor.kind === "apiKey"
    ? Effect.zipWith(
        keys.publisherOf(publisher.id),
        keys.publisherOf(actor.id),
        (one, other) => one !== undefined && one === other,
        { concurrent: true }
      )
    : Effect.succeed(false)
}

/** What tells publishers apart that start the same: a person or a key, or the trusted publisher of keys. */
export const publisherIdOf = (
  { keys }: { readonly keys: ApiKeysRepo["Service"] },
  publisher: ActorRef
): Effect.Effect<string> =>
  publisher.kind === "apiKey"
    ? Effect.map(keys.publisherOf(publisher.id), (trusted) => trusted ?? publisher.id)
    : Effect.succeed(publisher.id)
