import { type Cause, Clock, Effect, Metric } from "effect"
import { backgroundFailures } from "./Metrics.ts"

/** Milliseconds until the next warning while the same work keeps failing: doubled by each, up to the longest. */
const firstPause = 5_000
const longestPause = 5 * 60_000

/** Reports on work that is repeated: after a failure, the next round tries again. */
export interface Reports {
  /** Counts the failure. Warns of the first one, then less and less often while failures continue. */
  readonly failed: (cause: Cause.Cause<unknown>) => Effect.Effect<void>
  /** Logs that the work succeeds again, if it failed before. */
  readonly succeeded: Effect.Effect<void>
}

/**
 * Reports of one kind of work.
 *
 * @param task The label of its failures in the metrics.
 * @param failure The warning, in a sentence.
 */
export const makeReports = (task: string, failure: string): Effect.Effect<Reports> => {
  const failures = backgroundFailures(task)
  return Effect.map(Metric.update(failures, 0), () => {
    let unreported = 0
    let pause = 0
    let warnAt = Number.NEGATIVE_INFINITY
    return {
      failed: Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
        yield* Metric.update(failures, 1)
        unreported++
        const now = yield* Clock.currentTimeMillis
        if (now < warnAt) return
        pause = pause === 0 ? firstPause : Math.min(longestPause, pause * 2)
        warnAt = now + pause
        const details = { task, failures: unreported }
        unreported = 0
        yield* Effect.annotateLogs(Effect.logWarning(failure, cause), details)
      }),
      succeeded: Effect.suspend(() => {
        if (pause === 0) return Effect.void
        pause = 0
        unreported = 0
        warnAt = Number.NEGATIVE_INFINITY
        return Effect.annotateLogs(Effect.logInfo("Background work succeeds again."), { task })
      })
    }
  })
}

/** Makes a round of work that never fails, and reports its failures and successes. */
export const background = <E, R>(
  task: string,
  failure: string,
  round: Effect.Effect<unknown, E, R>
): Effect.Effect<Effect.Effect<void, never, R>> =>
  Effect.map(makeReports(task, failure), ({ failed, succeeded }) =>
    Effect.matchCauseEffect(round, { onSuccess: () => succeeded, onFailure: failed })
  )
