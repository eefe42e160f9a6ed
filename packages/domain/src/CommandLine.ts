import { Cause, Console, Effect, Exit, type Runtime } from "effect"

/** How the command lines of the service report failures and end. */

/**
 * Prints why a command failed, on standard error.
 *
 * @param messageOf One line for a failure that the user can fix, empty where it was printed already; undefined for a
 *   fault, which is printed in full.
 */
export const reportFailure =
  <E>(messageOf: (cause: Cause.Cause<E>) => string | undefined) =>
  <A, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.tapCause(effect, (cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.void
      const message = messageOf(cause) ?? Cause.pretty(cause)
      return message === "" ? Effect.void : Console.error(message)
    })

/** The exit code of a command: 1 where it failed, 0 where it succeeded or was told to stop. */
const teardown: Runtime.Teardown = (exit, onExit) =>
  onExit(Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) ? 1 : 0)

/** The options of `runMain` for an effect with `reportFailure`. */
export const runOptions = { disableErrorReporting: true, teardown }
