import { Clock, Effect } from "effect"

/** The longest rest between two steps, in milliseconds, unless told otherwise: a step that takes long mostly waits for others. */
const usualRest = 250

/**
 * Takes steps until one answers that there is no more, and rests after each, so that the work takes `share` of the time: less than
 * that of what it works with, and whoever waits for the same has it in between.
 *
 * @param options.share Above 0, up to 1.
 * @param options.longestRest In milliseconds.
 */
export const paced = <E, R>(
  step: Effect.Effect<boolean, E, R>,
  { longestRest = usualRest, share }: { readonly share: number; readonly longestRest?: number }
): Effect.Effect<void, E, R> =>
  Effect.gen(function* () {
    for (;;) {
      const start = yield* Clock.currentTimeMillis
      if (!(yield* step)) return
      const taken = (yield* Clock.currentTimeMillis) - start
      const rest = Math.min(longestRest, Math.ceil((taken * (1 - share)) / share))
      yield* rest > 0 ? Effect.sleep(rest) : Effect.yieldNow
    }
  })
