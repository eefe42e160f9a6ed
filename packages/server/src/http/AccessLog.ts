import { mayHoldToken, withoutTokens } from "@delivery/domain/Text"
import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Settings } from "../Config.ts"

/**
 * One line per request, at level info: method, path without query (a query may contain what people typed), status,
 * milliseconds, request id. Written in batches of 100 ms, not through the logger, which would halve the throughput. Only
 * `kill -9` loses the last batch.
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

      const { write } = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const batches = batched((text) => process.stdout.write(text))
          // Also when the process crashes.
          process.on("exit", batches.flush)
          return batches
        }),
        ({ flush }) =>
          Effect.sync(() => {
            process.off("exit", flush)
            flush()
          })
      )
      const timestamp = clock()
      return AccessLog.of({
        write: (request, status, millis, requestId) => {
          const end = request.url.indexOf("?")
          const path = redactTokens(end === -1 ? request.url : request.url.slice(0, end))
          const duration = millis.toFixed(1)
          write(
            logFormat === "json"
              ? `{"timestamp":"${timestamp()}","level":"INFO","message":"request","method":"${request.method}",` +
                  `"path":${JSON.stringify(path)},"status":${status},"durationMs":${duration},"requestId":"${requestId}"}\n`
              : `${request.method} ${path} ${status} ${duration} ms  ${requestId}\n`
          )
        }
      })
    })
  )
}

/** Several processes may write into one pipe: up to this many bytes (POSIX, PIPE_BUF) arrive in one piece. */
const maxWrite = 4096

/** Collects lines for 100 ms and writes them in pieces of whole lines. */
const batched = (write: (text: string) => void) => {
  let pieces: Array<string> = []
  let piece = ""
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (piece !== "") pieces.push(piece)
    const written = pieces
    pieces = []
    piece = ""
    for (const text of written) write(text)
  }
  return {
    flush,
    write: (line: string) => {
      // Bytes are at least as many as characters; a path is sent in ASCII.
      if (piece.length + line.length > maxWrite && piece !== "") {
        pieces.push(piece)
        piece = ""
      }
      piece += line
      timer ??= setTimeout(flush, 100)
    }
  }
}

/** The time in ISO 8601, formatted once per millisecond. */
const clock = () => {
  let at = 0
  let text = ""
  return (): string => {
    const now = Date.now()
    if (now !== at) {
      at = now
      text = new Date(now).toISOString()
    }
    return text
  }
}

/** A token pasted into a path by mistake must not reach a log. */
const redactTokens = (path: string): string =>
  mayHoldToken(path) ? path.split("/").map(withoutTokens).join("/") : path
