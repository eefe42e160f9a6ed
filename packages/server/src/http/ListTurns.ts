import { TooManyRequests } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import { Context, Effect, Layer, type Scope } from "effect"
import { RequestQueue } from "./RequestQueue.ts"
import { makeTurns } from "./Turns.ts"

/** Long lists that are read from storage and sent at once for one caller. */
const atOnce = 4

/** Lists that wait for that, for one caller. */
const maxWaiting = 60

/**
 * Lists that may be long take turns, for each caller by themselves (docs/contract.md, Errors): each is kept in memory until its
 * client has read it. So whoever asks for many, and reads none of them, waits for themselves, and nobody else does.
 */
export class ListTurns extends Context.Service<
  ListTurns,
  {
    /** Waits for a turn, which lasts until the answer has been sent. A caller with more than 64 lists is refused. */
    readonly take: Effect.Effect<void, TooManyRequests, Caller | Scope.Scope>
  }
>()("@delivery/server/http/ListTurns") {
  static readonly layer = Layer.effect(
    ListTurns,
    Effect.gen(function* () {
      const queue = yield* RequestQueue
      const turns = makeTurns(atOnce)
      return ListTurns.of({
        take: Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const { id } = (yield* Caller).principal
            if (turns.users(id) >= atOnce + maxWaiting) return yield* tooMany
            const { isFree, leave, release, take } = turns.join(id)
            yield* Effect.addFinalizer(() => leave)
            yield* restore(isFree ? take : queue.releaseWhile(take))
            yield* Effect.addFinalizer(() => release)
          })
        )
      })
    })
  )
}

const tooMany = new TooManyRequests({
  message: `You have asked for ${atOnce + maxWaiting} lists at once, which is the limit. Wait until some are answered.`
})
