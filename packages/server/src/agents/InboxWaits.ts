import type { AgentId } from "@delivery/domain/Ids"
import { Context, Effect, Latch, Layer, Option, type Scope } from "effect"
import { RequestQueue } from "../http/RequestQueue.ts"
import { Stopping } from "../http/Stopping.ts"
import { Notices } from "../storage/Notices.ts"
import { messageWaiters, observe } from "../telemetry/Metrics.ts"

/** The calls of this server that wait for a message. They hold no database connection: notices wake them. */
export class InboxWaits extends Context.Service<
  InboxWaits,
  {
    /**
     * Registers a wait. Called before the inbox is read, so that no message is missed. The function that it returns waits
     * at most so many milliseconds, until there may be a message or the agent's access may have changed. It returns true
     * if access must be checked again, and can be called again.
     */
    readonly begin: (agent: AgentId) => Effect.Effect<(millis: number) => Effect.Effect<boolean>, never, Scope.Scope>
  }
>()("@delivery/server/agents/InboxWaits") {
  static readonly layer = Layer.effect(InboxWaits, Effect.gen(make))
}

/** One call that waits. */
interface Waiter {
  readonly latch: Latch.Latch
  isAccessOld: boolean
}

/** Those that wait, by agent. */
type Waiters = Map<string, Set<Waiter>>

function* make() {
  const notices = yield* Notices
  const stopping = yield* Stopping
  const queue = yield* RequestQueue
  const waiters: Waiters = new Map()
  yield* observe(messageWaiters, () => countCalls(waiters))
  const wakeAll = () => {
    for (const ofAgent of waiters.values()) wake(ofAgent, true)
  }
  yield* notices.listen("messages", { onNotice: (agent) => wake(waiters.get(agent), false), onListening: wakeAll })
  yield* notices.listen("agents", { onNotice: (agent) => wake(waiters.get(agent), true), onListening: wakeAll })
  yield* stopping.onBegin(wakeAll)
  return InboxWaits.of({ begin: begin(waiters, queue) })
}

const countCalls = (waiters: Waiters): number => {
  let calls = 0
  for (const ofAgent of waiters.values()) calls += ofAgent.size
  return calls
}

const wake = (waiters: Iterable<Waiter> = [], isAccessOld: boolean) => {
  for (const waiter of waiters) {
    waiter.isAccessOld ||= isAccessOld
    waiter.latch.openUnsafe()
  }
}

const begin = (waiters: Waiters, queue: RequestQueue["Service"]) =>
  Effect.fnUntraced(function* (agent: AgentId) {
    const waiter: Waiter = { latch: Latch.makeUnsafe(false), isAccessOld: false }
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        waiters.set(agent, (waiters.get(agent) ?? new Set()).add(waiter))
      }),
      () =>
        Effect.sync(() => {
          const ofAgent = waiters.get(agent)
          ofAgent?.delete(waiter)
          if (ofAgent?.size === 0) waiters.delete(agent)
        })
    )
    return (millis: number) =>
      Effect.map(queue.releaseWhile(Effect.timeoutOption(waiter.latch.await, millis)), (woken) => {
        const isAccessOld = waiter.isAccessOld || Option.isNone(woken)
        waiter.latch.closeUnsafe()
        waiter.isAccessOld = false
        return isAccessOld
      })
  })
