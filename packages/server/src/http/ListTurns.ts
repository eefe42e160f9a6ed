import { TooManyRequests } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import { Context, Effect, Layer, type Scope, Semaphore } from "effect"
import { RequestQueue } from "./RequestQueue.ts"

/** Long lists that are read from storage and sent at once for one caller. */
const atOnce = 4

/** Lists that wait for that, for one caller. */
const maxWaiting = 60

interface Turns {
  readonly semaphore: Semaphore.Semaphore
  /** Lists that have a turn or wait for one. */
  lists: number
}

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
      const callers = new Map<string, Turns>()
      const join = (id: string) => {
        const turns = callers.get(id) ?? { semaphore: Semaphore.makeUnsafe(atOnce), lists: 0 }
        callers.set(id, turns)
        turns.lists++
        return turns
      }
      const leave = (id: string, turns: Turns) => {
        turns.lists--
        if (turns.lists === 0) callers.delete(id)
      }
      return ListTurns.of({
        take: Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const { id } = (yield* Caller).principal
            if ((callers.get(id)?.lists ?? 0) >= atOnce + maxWaiting) return yield* tooMany
            const turns = join(id)
            yield* Effect.addFinalizer(() => Effect.sync(() => leave(id, turns)))
            const isFree = turns.lists <= atOnce
            yield* restore(isFree ? turns.semaphore.take(1) : queue.releaseWhile(turns.semaphore.take(1)))
            yield* Effect.addFinalizer(() => turns.semaphore.release(1))
          })
        )
      })
    })
  )
}

const tooMany = new TooManyRequests({
  message: `You have asked for ${atOnce + maxWaiting} lists at once, which is the limit. Wait until some are answered.`
})
