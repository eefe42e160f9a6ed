import { Cause, Effect, Layer, Logger, type LogLevel as EffectLogLevel, References } from "effect"
import { type LogLevel, Settings } from "../Config.ts"

const levels: Record<LogLevel, EffectLogLevel.LogLevel> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  none: "None"
}

/** What an error and its causes say, without their stacks. */
const withoutStack = ({ cause, message, name }: Error): object => ({
  name,
  message,
  ...(cause instanceof Error && { cause: withoutStack(cause) })
})

/** No line of a log holds a stack trace (docs/contract.md, Errors): spans do. */
const withoutStacks = <A>(logger: Logger.Logger<unknown, A>) =>
  Logger.make<unknown, A>((options) => {
    const errors = Cause.prettyErrors(options.cause).map(withoutStack)
    return logger.log({ ...options, cause: Cause.fromReasons(errors.map((error) => Cause.makeDieReason(error))) })
  })

/** Logs to standard output, with `LOG_LEVEL` and `LOG_FORMAT`. */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ logFormat, logLevel }) =>
    Layer.merge(
      Logger.layer([withoutStacks(logFormat === "json" ? Logger.consoleJson : Logger.consolePretty())]),
      Layer.succeed(References.MinimumLogLevel, levels[logLevel])
    )
  )
)
