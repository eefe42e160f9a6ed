import type { DeploymentId } from "@delivery/domain/Ids"
import { Context, Effect, Latch, Layer, Schedule, type Scope } from "effect"
import { RequestQueue } from "../http/RequestQueue.ts"
import { Stopping } from "../http/Stopping.ts"
import { Notices } from "../storage/Notices.ts"
import { background } from "../telemetry/Background.ts"
import { observe, releaseWaiters } from "../telemetry/Metrics.ts"
import { DeploymentLocks } from "./DeploymentLocks.ts"

/** How many changes of one caller wait at once at a process, at most, and how many of all callers. */
const mostOfCaller = 64
const mostOfAll = 1_000

/**
 * The calls of this server that wait for a deployment. They hold no database connection: a deployment is looked up once for all
 * of them, after a notice and once a second, and they are woken when no locked run holds it.
 */
export class ReleaseWaits extends Context.Service<
  ReleaseWaits,
  {
    /**
     * Registers a wait of a caller. Called before the deployment is looked at, so that no end of a run is missed. The function
     * that it returns waits at most so many milliseconds, until a locked run of the deployment may have ended. Undefined where
     * too many calls wait already.
     */
    readonly begin: (
      deployment: DeploymentId,
      caller: string
    ) => Effect.Effect<((millis: number) => Effect.Effect<void>) | undefined, never, Scope.Scope>
    /** Whether to wait no longer, since the server is about to end. */
    readonly isStopping: () => boolean
  }
>()("@delivery/server/catalog/ReleaseWaits") {
  static readonly layer = Layer.effect(ReleaseWaits, Effect.gen(make))
}

interface Waiter {
  readonly caller: string
  readonly latch: Latch.Latch
}

/** Those that wait, by deployment. */
type Waiting = Map<DeploymentId, Set<Waiter>>

function* make() {
  const notices = yield* Notices
  const stopping = yield* Stopping
  const queue = yield* RequestQueue
  const waiting: Waiting = new Map()
  yield* observe(releaseWaiters, () => count(waiting))
  const lookUp = yield* lookUps(yield* DeploymentLocks, waiting)
  yield* notices.listen("deployments", {
    onNotice: (deployment) => lookUp([deployment as DeploymentId]),
    onListening: () => lookUp(waiting.keys())
  })
  yield* stopping.onBegin(() => {
    for (const waiters of waiting.values()) wake(waiters)
  })
  return ReleaseWaits.of({ begin: begin(waiting, queue), isStopping: stopping.hasBegun })
}

const count = (waiting: Waiting, caller?: string): number => {
  let calls = 0
  for (const waiters of waiting.values()) {
    if (caller === undefined) calls += waiters.size
    else for (const waiter of waiters) if (waiter.caller === caller) calls++
  }
  return calls
}

const wake = (waiters: Iterable<Waiter> = []) => {
  for (const { latch } of waiters) latch.openUnsafe()
}

/**
 * Looks up deployments in the background, one after the other. Answers a function that has some looked up soon. All that are
 * waited for are looked up once a second, since a notice may be lost, and servers that know no locks send none.
 */
const lookUps = Effect.fnUntraced(function* (locks: DeploymentLocks["Service"], waiting: Waiting) {
  const due = new Set<DeploymentId>()
  const isDue = Latch.makeUnsafe(false)
  const lookUp = (deployments: Iterable<DeploymentId>) => {
    for (const deployment of deployments) if (waiting.has(deployment)) due.add(deployment)
    if (due.size > 0) isDue.openUnsafe()
  }
  const wakeIfFree = (deployment: DeploymentId) =>
    Effect.map(locks.heldBy(deployment), (runs) => {
      if (runs.length === 0) wake(waiting.get(deployment))
    })
  const round = yield* background(
    "release_waits",
    "The deployments that changes wait for could not be looked up.",
    Effect.suspend(() => {
      isDue.closeUnsafe()
      const deployments = [...due]
      due.clear()
      return Effect.forEach(deployments, wakeIfFree, { discard: true })
    })
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(isDue.await, round)))
  yield* Effect.sync(() => lookUp(waiting.keys())).pipe(Effect.repeat(Schedule.spaced("1 second")), Effect.forkScoped)
  return lookUp
})

const begin = (waiting: Waiting, queue: RequestQueue["Service"]) =>
  Effect.fnUntraced(function* (deployment: DeploymentId, caller: string) {
    const waiter: Waiter = { caller, latch: Latch.makeUnsafe(false) }
    const isTaken = yield* Effect.acquireRelease(
      Effect.sync(() => {
        if (count(waiting) >= mostOfAll || count(waiting, caller) >= mostOfCaller) return false
        waiting.set(deployment, (waiting.get(deployment) ?? new Set()).add(waiter))
        return true
      }),
      () =>
        Effect.sync(() => {
          const waiters = waiting.get(deployment)
          waiters?.delete(waiter)
          if (waiters?.size === 0) waiting.delete(deployment)
        })
    )
    if (!isTaken) return undefined
    return (millis: number) =>
      Effect.andThen(
        queue.releaseWhile(Effect.timeoutOption(waiter.latch.await, millis)),
        Effect.sync(() => void waiter.latch.closeUnsafe())
      )
  })
