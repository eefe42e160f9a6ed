import { TooManyRequests } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import { Context, Effect, Layer, type Scope } from "effect"
import { RequestQueue } from "./RequestQueue.ts"
import { makeTurns } from "./Turns.ts"

/** Long lists that are read from storage and sent at once for one caller. */
const atOnce = 4

/** As many for all callers of a workspace: four who read nothing. */
const atOnceOfWorkspace = 16

/** Lists that wait for that, for one caller: together as many as a browser asks for over one connection of HTTP/2. */
const maxWaiting = 124

/**
 * Lists that may be long take turns, for each caller by themselves (docs/contract.md, Errors): each is kept in memory until its
 * client has read it. So whoever asks for many, and reads none of them, waits for themselves, and nobody else does. Nor can the
 * keys and agents of one workspace together keep more than the server has memory for.
 */
export class ListTurns extends Context.Service<
  ListTurns,
  {
    /** Waits for a turn, which lasts until the answer has been sent. A caller with more than 128 lists is refused. */
    readonly take: Effect.Effect<void, TooManyRequests, Caller | Scope.Scope>
  }
>()("@delivery/server/http/ListTurns") {
  static readonly layer = Layer.effect(
    ListTurns,
    Effect.gen(function* () {
      const queue = yield* RequestQueue
      const turns = makeTurns(atOnce)
      const turnsOfWorkspaces = makeTurns(atOnceOfWorkspace)
      /** Waits for a turn, which lasts as long as the scope. */
      const takeOne = (
        all: typeof turns,
        key: string,
        restore: <A, E, R>(wait: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
      ) =>
        Effect.gen(function* () {
          const { isFree, leave, release, take } = all.join(key)
          yield* Effect.addFinalizer(() => leave)
          yield* restore(isFree ? take : queue.releaseWhile(take))
          yield* Effect.addFinalizer(() => release)
        })
      return ListTurns.of({
        take: Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const { membership, principal } = yield* Caller
            if (turns.users(principal.id) >= atOnce + maxWaiting) return yield* tooMany
            yield* takeOne(turns, principal.id, restore)
            if (membership !== undefined) yield* takeOne(turnsOfWorkspaces, membership.id, restore)
          })
        )
      })
    })
  )
}

const tooMany = new TooManyRequests({
  message: `You have asked for ${atOnce + maxWaiting} lists at once, which is the limit. Wait until some are answered.`
})
