import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Settings } from "../Config.ts"

/**
 * One line per request, at level info: method, path without query (queries may carry what people typed), status,
 * milliseconds, request id. Written in batches of 100 ms past the logger, which would halve the throughput.
 */
export class AccessLog extends Context.Service<
  AccessLog,
  {
    readonly write: (
      request: HttpServerRequest.HttpServerRequest,
      status: number,
      millis: number,
      requestId: string
    ) => void
  }
>()("@delivery/server/http/AccessLog") {
  static readonly layer = Layer.effect(
    AccessLog,
    Effect.gen(function* () {
      const { logFormat, logLevel } = yield* Settings
      if (logLevel !== "info" && logLevel !== "debug" && logLevel !== "trace") return AccessLog.of({ write: () => {} })

      let lines = ""
      let timer: NodeJS.Timeout | undefined
      const flush = () => {
        timer = undefined
        if (lines !== "") process.stdout.write(lines)
        lines = ""
      }
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          clearTimeout(timer)
          flush()
        })
      )
      return AccessLog.of({
        write: (request, status, millis, requestId) => {
          const end = request.url.indexOf("?")
          const path = redactTokens(end === -1 ? request.url : request.url.slice(0, end))
          const duration = millis.toFixed(1)
          lines +=
            logFormat === "json"
              ? `{"timestamp":"${new Date().toISOString()}","level":"INFO","message":"request","method":"${request.method}",` +
                `"path":${JSON.stringify(path)},"status":${status},"durationMs":${duration},"requestId":"${requestId}"}\n`
              : `${request.method} ${path} ${status} ${duration} ms  ${requestId}\n`
          timer ??= setTimeout(flush, 100)
        }
      })
    })
  )
}

/** A token pasted into a path by mistake must not reach a log. */
const redactTokens = (path: string): string => path.replace(/\b(ctk|atk|rtk|stk|itk)_[0-9A-Za-z]+/g, "$1_***")
