import type { AgentId } from "@delivery/domain/Ids"
import { Context, Effect, Latch, Layer, type Scope } from "effect"
import { RequestQueue } from "../http/RequestQueue.ts"
import { Stopping } from "../http/Stopping.ts"
import { Notices } from "../storage/Notices.ts"

/** The calls of this server that wait for a message. They hold no database connection: the database tells of new ones. */
export class InboxWaits extends Context.Service<
  InboxWaits,
  {
    /**
     * Begins before the inbox is looked at, so that nothing is missed. The answer waits until there may be a message,
     * at most so many milliseconds; only what comes after is told again.
     */
    readonly begin: (agent: AgentId) => Effect.Effect<(millis: number) => Effect.Effect<void>, never, Scope.Scope>
  }
>()("@delivery/server/agents/InboxWaits") {
  static readonly layer = Layer.effect(
    InboxWaits,
    Effect.gen(function* () {
      const notices = yield* Notices
      const stopping = yield* Stopping
      const queue = yield* RequestQueue
      const waits = new Map<string, Set<Latch.Latch>>()
      const wake = (latches: Iterable<Latch.Latch> = []) => {
        for (const latch of latches) latch.openUnsafe()
      }
      const wakeAll = () => {
        for (const latches of waits.values()) wake(latches)
      }
      yield* notices.listen("messages", {
        onNotice: (agent) => wake(waits.get(agent)),
        onListening: wakeAll
      })
      yield* stopping.onBegin(wakeAll)

      return InboxWaits.of({
        begin: Effect.fnUntraced(function* (agent: AgentId) {
          const latch = Latch.makeUnsafe(false)
          yield* Effect.acquireRelease(
            Effect.sync(() => {
              waits.set(agent, (waits.get(agent) ?? new Set()).add(latch))
            }),
            () =>
              Effect.sync(() => {
                const latches = waits.get(agent)
                latches?.delete(latch)
                if (latches?.size === 0) waits.delete(agent)
              })
          )
          return (millis: number) =>
            Effect.andThen(
              queue.aside(Effect.timeoutOption(latch.await, millis)),
              Effect.sync(() => void latch.closeUnsafe())
            )
        })
      })
    })
  )
}
