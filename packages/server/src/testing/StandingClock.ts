import { Clock, Context, Duration, Effect, Layer } from "effect"

/**
 * The clock of a server, which stands until a test puts it forward. Whoever sleeps until the new time or less wakes then, and
 * once: seven days are over at once, while Effect's `TestClock` lives through each of the seconds. It begins at the present time.
 */
export class StandingClock extends Context.Service<
  StandingClock,
  {
    readonly advance: (by: Duration.Input) => Effect.Effect<void>
    /** Milliseconds since 1970. */
    readonly now: Effect.Effect<number>
  }
>()("@delivery/server/testing/StandingClock") {
  /** Around a server, or around services, whose clock it is. */
  static readonly layer = Layer.effectContext(
    Effect.sync(() => {
      const { advance, clock } = standingClock()
      return Context.make(StandingClock, {
        advance: (by) => Effect.sync(() => advance(by)),
        now: clock.currentTimeMillis
      }).pipe(Context.add(Clock.Clock, clock))
    })
  )
}

/** The same, for tests that are no Effects. */
export const standingClock = () => {
  let now = Date.now()
  const sleepers = new Set<{ readonly until: number; readonly wake: () => void }>()
  const nanos = () => BigInt(now) * 1_000_000n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.callback((resume) => {
        const sleeper = { until: now + Duration.toMillis(duration), wake: () => resume(Effect.void) }
        if (sleeper.until <= now) return resume(Effect.void)
        sleepers.add(sleeper)
        return Effect.sync(() => sleepers.delete(sleeper))
      })
  }
  const advance = (duration: Duration.Input) => {
    now += Duration.toMillis(Duration.fromInputUnsafe(duration))
    for (const sleeper of sleepers) {
      if (sleeper.until <= now && sleepers.delete(sleeper)) sleeper.wake()
    }
  }
  return { advance, clock }
}
