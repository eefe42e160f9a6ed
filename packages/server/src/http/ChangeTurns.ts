import { TooManyRequests } from "@delivery/domain/Errors"
import { DeployCaller } from "@delivery/domain/deploy/DeployAuthorization"
import { Caller } from "@delivery/domain/identity/Authorization"
import { Context, Effect, Layer } from "effect"
import { Settings } from "../Config.ts"
import { Storage } from "../storage/Storage.ts"
import { RequestQueue } from "./RequestQueue.ts"
import { makeTurns } from "./Turns.ts"

/** The shares of the connections to the database that changes of one caller, and of one workspace, have at once. */
const shares = { caller: 0.3, workspace: 0.8 }

/** Changes that one caller has in progress or waiting. */
const maxChanges = 256

/** Changes that wait without a turn of the request queue; others keep theirs, so that the queue bounds their memory. */
const maxReleased = 512

/** Whether a change has its turn, so that what is nested in it waits for no other. */
const HasTurn = Context.Reference<boolean>("@delivery/server/http/HasTurn", { defaultValue: () => false })

interface Who {
  readonly caller: string
  readonly workspace: string | undefined
}

/** Who changes something; undefined for the server itself. */
const whoIn = (context: Context.Context<never>): Who | undefined => {
  const caller = Context.getOrUndefined(context, Caller)
  if (caller !== undefined) return { caller: caller.principal.id, workspace: caller.membership?.id }
  const deployment = Context.getOrUndefined(context, DeployCaller)
  return deployment && { caller: deployment.token.id, workspace: deployment.workspaceId }
}

/**
 * Transactions take turns, for each caller and each workspace by themselves (docs/contract.md, Errors): each holds a connection,
 * also while it waits for a lock. So whoever sends many large changes at once waits for themselves, and nobody else does.
 */
export const layer = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const storage = yield* Storage
    const queue = yield* RequestQueue
    const { databasePool } = yield* Settings
    const turnsOf = (share: number) => makeTurns(Math.max(1, Math.floor(databasePool * share)))
    const callers = turnsOf(shares.caller)
    const workspaces = turnsOf(shares.workspace)
    const whileWaiting = released(queue)

    const inTurn = (turns: ReturnType<typeof makeTurns>, key: string) => {
      return <A, E, R>(change: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.uninterruptibleMask((restore) => {
          const { isFree, leave, release, take } = turns.join(key)
          return restore(isFree ? take : whileWaiting(take)).pipe(
            Effect.andThen(Effect.ensuring(restore(change), release)),
            Effect.ensuring(leave)
          )
        })
    }

    const transaction: Storage["Service"]["transaction"] = (change) =>
      Effect.contextWith((context: Context.Context<never>) => {
        const who = Context.get(context, HasTurn) ? undefined : whoIn(context)
        if (who === undefined) return storage.transaction(change)
        if (callers.users(who.caller) >= maxChanges) return Effect.die(tooMany)
        const changed = Effect.provideService(storage.transaction(change), HasTurn, true)
        const inWorkspace = who.workspace === undefined ? changed : inTurn(workspaces, who.workspace)(changed)
        return inTurn(callers, who.caller)(inWorkspace)
      })
    return Storage.of({ ...storage, transaction })
  })
)

/** Waits without a turn of the request queue, unless many do. */
const released = (queue: RequestQueue["Service"]) => {
  let count = 0
  return <E, R>(wait: Effect.Effect<void, E, R>): Effect.Effect<void, E, R> =>
    Effect.suspend(() => {
      if (count >= maxReleased) return wait
      count++
      const done = Effect.sync(() => {
        count--
      })
      return Effect.ensuring(queue.releaseWhile(wait), done)
    })
}

const tooMany = new TooManyRequests({
  message: `You have ${maxChanges} changes in progress, which is the limit. Wait until some are done.`
})
