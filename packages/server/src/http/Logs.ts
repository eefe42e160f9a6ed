import { Effect, Layer, Logger, type LogLevel as EffectLogLevel, References } from "effect"
import { type LogLevel, Settings } from "../Config.ts"

const levels: Record<LogLevel, EffectLogLevel.LogLevel> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  none: "None"
}

/** Logs to standard output, with `LOG_LEVEL` and `LOG_FORMAT`. */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ logFormat, logLevel }) =>
    Layer.merge(
      Logger.layer([logFormat === "json" ? Logger.consoleJson : Logger.consolePretty()]),
      Layer.succeed(References.MinimumLogLevel, levels[logLevel])
    )
  )
)
