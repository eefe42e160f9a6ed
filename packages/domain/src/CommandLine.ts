import { Cause, Console, Effect, Exit, Layer, type Runtime } from "effect"
import { CliConfig, type CliError, CliOutput, GlobalFlag } from "effect/cli"

/** How the command lines of the service report failures and end. */

/** Text that a terminal prints and does not obey, whoever wrote it. Its lines stay. */
export const printable = (text: string): string => text.replaceAll(/[^\P{Cc}\n\t]/gu, " ").replaceAll(/\p{Cf}/gu, "")

/** The text without keys and tokens, of which somebody may have given one as an argument by mistake. */
const withoutTokens = (text: string): string =>
  printable(text)
    .replaceAll(/\b([a-z]tk_)[0-9A-Za-z]{8,}/g, "$1…")
    .replaceAll(/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, "eyJ…")

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
      return message === "" ? Effect.void : Console.error(withoutTokens(message))
    })

/** A wrong use in one line: what is wrong, and what may have been meant. */
const wrongUse = (error: CliError.NonShowHelpErrors): string => {
  const [message = ""] = error.message.split("\n")
  const suggestions = "suggestions" in error ? error.suggestions : []
  const sentence = /[.?]$/.test(message) ? message : `${message}.`
  return suggestions.length === 0 ? sentence : `${sentence} Did you mean ${suggestions.join(" or ")}?`
}

/**
 * How a command line answers `--help`, `--version`, `--completions` and a wrong use, which gets a line or two on standard
 * error instead of the whole help, so that the error is what is seen last.
 *
 * @param elsewhere A line for each command that people look for here and that another command line has.
 * @param hasOwnVersion Whether a `--version` is one of the command that is called: if it has none, that is a wrong use.
 */
export const layer = (elsewhere: Readonly<Record<string, string>>, hasOwnVersion = false): Layer.Layer<never> =>
  Layer.merge(
    // Without `--log-level`: LOG_LEVEL sets the level of the server, and the rest logs nothing.
    CliConfig.layer({
      builtIns: GlobalFlag.BuiltIns.filter(
        (flag) => flag !== GlobalFlag.LogLevel && !(hasOwnVersion && flag === GlobalFlag.Version)
      )
    }),
    CliOutput.layerPresenter({
      present: (event) => {
        if (event._tag !== "InvalidInvocation") return CliOutput.defaultPresenter.present(event)
        for (const error of event.errors) {
          const line = error._tag === "UnknownSubcommand" ? elsewhere[error.subcommand] : undefined
          if (line !== undefined) return Console.error(line)
        }
        return Console.error(
          withoutTokens(
            `${event.errors.map(wrongUse).join("\n")}\nUsage: ${event.helpDoc.usage}\nAdd --help to see how it is used.`
          )
        )
      }
    })
  )

/** The exit code of a command: 1 where it failed, 0 where it succeeded or was told to stop. */
const teardown: Runtime.Teardown = (exit, onExit) =>
  onExit(Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) ? 1 : 0)

/** The options of `runMain` for an effect with `reportFailure`. */
export const runOptions = { disableErrorReporting: true, teardown }
