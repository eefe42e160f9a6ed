import { type Cause, Clock, Effect, Metric } from "effect"
import { backgroundFailures } from "./Metrics.ts"

/** Milliseconds until the next warning while the same work keeps failing: doubled by each, up to the longest. */
const firstPause = 5_000
const longestPause = 5 * 60_000

/**
 * Makes a round of work that the server does by itself and again and again, where a failure is the next round's to
 * mend. Counts failures; warns of the first, then ever more seldom while they go on, and tells when they are over.
 *
 * @param task The label of its failures in the metrics.
 * @param failure The warning, in a sentence.
 */
export const background = <E, R>(
  task: string,
  failure: string,
  round: Effect.Effect<unknown, E, R>
): Effect.Effect<Effect.Effect<void, never, R>> => {
  const failures = backgroundFailures(task)
  return Effect.map(Metric.update(failures, 0), () => {
    let untold = 0
    let pause = 0
    let warnAt = Number.NEGATIVE_INFINITY

    const failed = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
      yield* Metric.update(failures, 1)
      untold++
      const now = yield* Clock.currentTimeMillis
      if (now < warnAt) return
      pause = pause === 0 ? firstPause : Math.min(longestPause, pause * 2)
      warnAt = now + pause
      yield* Effect.annotateLogs(Effect.logWarning(failure, cause), { task, failures: untold })
      untold = 0
    })
    const succeeded = Effect.suspend(() => {
      if (pause === 0) return Effect.void
      pause = 0
      untold = 0
      warnAt = Number.NEGATIVE_INFINITY
      return Effect.annotateLogs(Effect.logInfo("Background work succeeds again."), { task })
    })

    return Effect.matchCauseEffect(round, { onSuccess: () => succeeded, onFailure: failed })
  })
}
