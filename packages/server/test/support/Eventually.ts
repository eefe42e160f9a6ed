import { Clock, Effect } from "effect"

/** Some milliseconds of real time, whatever time it is for the test. */
const pause = Effect.provideService(Effect.sleep("5 millis"), Clock.Clock, Clock.Clock.defaultValue())

/** Asks until the answer is what it is to become. It has no time limit: that of the test ends it. */
export const eventually = Effect.fnUntraced(function* <A, E, R>(
  ask: Effect.Effect<A, E, R>,
  isDone: (answer: A) => boolean
) {
  for (;;) {
    const answer = yield* ask
    if (isDone(answer)) return answer
    yield* pause
  }
})
