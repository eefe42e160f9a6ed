import type { AgentId } from "@delivery/domain/Ids"
import { Context, Effect, Latch, Layer, Option, type Scope } from "effect"
import { RequestQueue } from "../http/RequestQueue.ts"
import { Stopping } from "../http/Stopping.ts"
import { Notices } from "../storage/Notices.ts"

/** The calls of this server that wait for a message. They hold no database connection: the database tells of new ones. */
export class InboxWaits extends Context.Service<
  InboxWaits,
  {
    /**
     * Begins before the inbox is looked at, so that nothing is missed. The answer waits until there may be a message, or
     * the agent's access may have changed, at most so many milliseconds, and says whether access is to be looked up
     * again: not where a message alone woke it. Only what comes after is told again.
     */
    readonly begin: (agent: AgentId) => Effect.Effect<(millis: number) => Effect.Effect<boolean>, never, Scope.Scope>
  }
>()("@delivery/server/agents/InboxWaits") {
  static readonly layer = Layer.effect(
    InboxWaits,
    Effect.gen(function* () {
      const notices = yield* Notices
      const stopping = yield* Stopping
      const queue = yield* RequestQueue
      const waits = new Map<string, Set<Waiter>>()
      const wake = (waiters: Iterable<Waiter> = [], isAccessOld: boolean) => {
        for (const waiter of waiters) {
          waiter.isAccessOld ||= isAccessOld
          waiter.latch.openUnsafe()
        }
      }
      const wakeAll = () => {
        for (const waiters of waits.values()) wake(waiters, true)
      }
      yield* notices.listen("messages", { onNotice: (agent) => wake(waits.get(agent), false), onListening: wakeAll })
      yield* notices.listen("agents", { onNotice: (agent) => wake(waits.get(agent), true), onListening: wakeAll })
      yield* stopping.onBegin(wakeAll)

      return InboxWaits.of({
        begin: Effect.fnUntraced(function* (agent: AgentId) {
          const waiter: Waiter = { latch: Latch.makeUnsafe(false), isAccessOld: false }
          yield* Effect.acquireRelease(
            Effect.sync(() => {
              waits.set(agent, (waits.get(agent) ?? new Set()).add(waiter))
            }),
            () =>
              Effect.sync(() => {
                const waiters = waits.get(agent)
                waiters?.delete(waiter)
                if (waiters?.size === 0) waits.delete(agent)
              })
          )
          return (millis: number) =>
            Effect.map(queue.aside(Effect.timeoutOption(waiter.latch.await, millis)), (woken) => {
              const isAccessOld = waiter.isAccessOld || Option.isNone(woken)
              waiter.latch.closeUnsafe()
              waiter.isAccessOld = false
              return isAccessOld
            })
        })
      })
    })
  )
}

interface Waiter {
  readonly latch: Latch.Latch
  isAccessOld: boolean
}
