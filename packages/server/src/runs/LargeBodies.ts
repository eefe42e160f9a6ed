import type { Conflict, Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { LargeBody } from "@delivery/domain/runs/LargeBody"
import { NumberInPath } from "@delivery/domain/Numbers"
import { Effect, Layer, Schema, Semaphore, Stream, type Types } from "effect"
import { HttpEffect, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { isUtf8 } from "node:buffer"
import { answerRefused, asCallerNow } from "../http/ArrivedBodies.ts"
import { maxBodyBytes } from "../http/BodyLimits.ts"
import { RequestTimes } from "../http/RequestTimes.ts"
import { collected } from "./Garbage.ts"
import { isParsable } from "./ReportBytes.ts"
import { Retries } from "./Retries.ts"
import { TestRuns } from "./TestRuns.ts"

const mebibyte = 1024 * 1024
const maxReportBytes = 32 * mebibyte

/** How many large bodies are read at once. Each is kept until it is stored. */
const maxBodiesAtOnce = 8
/** After a body of this size its garbage is collected, before the next one is parsed. */
const collectedBytes = 8 * mebibyte

/**
 * Reads the large bodies of reports, so that none takes much memory (docs/contract.md, Conventions): whatever can be refused
 * without the body is refused before, a few are read at once, and one at a time is parsed, decoded and stored.
 */
export const layer = Layer.effect(
  LargeBody,
  Effect.gen(function* () {
    const runs = yield* TestRuns
    const retries = yield* Retries
    const { untimed } = yield* RequestTimes
    const reading = yield* Semaphore.make(maxBodiesAtOnce)
    const storing = yield* Semaphore.make(1)
    /** The wait does not count as the time of the request. */
    const taking =
      (semaphore: Semaphore.Semaphore) =>
      <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.uninterruptibleMask((restore) =>
          Effect.andThen(untimed(restore(semaphore.take(1))), Effect.ensuring(restore(effect), semaphore.release(1)))
        )

    return LargeBody.of((httpEffect) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const length = Number(request.headers["content-length"] ?? Number.NaN)
        if (length <= maxBodyBytes) return yield* httpEffect
        if (length > maxReportBytes) return yield* Effect.die(tooLarge(request))
        const { retry, run } = yield* HttpRouter.params
        yield* declared(
          retry === undefined ? runs.checkFinish(numberOf(run)) : retries.checkFinish(numberOf(run), numberOf(retry))
        )
        return yield* taking(reading)(
          Effect.flatMap(bytesOf(request, length), (bytes) =>
            taking(storing)(
              // The body took its time: whoever has lost access meanwhile is refused.
              Effect.ensuring(
                answerRefused(
                  asCallerNow(
                    Effect.provideService(httpEffect, HttpServerRequest.HttpServerRequest, withBytes(request, bytes))
                  )
                ),
                bytes.length < collectedBytes ? Effect.void : collected
              )
            )
          )
        )
      })
    )
  })
)

const decodeNumber = Schema.decodeSync(NumberInPath)
const numberOf = (text: string | undefined): number => decodeNumber(text ?? "")

/** The endpoints declare these errors, and answer them. */
const declared = (
  check: Effect.Effect<void, NotFound | Forbidden | Conflict, Caller>
): Effect.Effect<void, Types.unhandled, Caller> =>
  Effect.mapError(check, (error) => error as unknown as Types.unhandled)

type Request = HttpServerRequest.HttpServerRequest

const unreadable = (request: Request, description: string) =>
  new HttpServerError.HttpServerError({ reason: new HttpServerError.RequestParseError({ request, description }) })

const tooLarge = (request: Request) => unreadable(request, "The body is too large.")

/** The client may have sent more than is read, so no other request can come on its connection. */
const refuseEndless = (request: Request) =>
  Effect.andThen(
    HttpEffect.appendPreResponseHandler((_, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, "connection", "close"))
    ),
    Effect.die(tooLarge(request))
  )

/** The bytes of the body, in one buffer that grows with what arrives. */
const bytesOf = (
  request: Request,
  length: number
): Effect.Effect<Buffer<ArrayBuffer>, never, HttpServerRequest.HttpServerRequest> =>
  Effect.suspend(() => {
    let buffer = Buffer.allocUnsafeSlow(Number.isNaN(length) ? mebibyte : length)
    let size = 0
    return request.stream.pipe(
      Stream.runForEach((chunk) => {
        if (size + chunk.length > maxReportBytes) return refuseEndless(request)
        if (size + chunk.length > buffer.length) {
          const larger = Math.min(maxReportBytes, Math.max(2 * buffer.length, size + chunk.length))
          buffer = Buffer.from(buffer.buffer.transfer(larger))
        }
        buffer.set(chunk, size)
        size += chunk.length
        return Effect.void
      }),
      Effect.orDie,
      Effect.map(() => buffer.subarray(0, size))
    )
  })

const mark = Buffer.from("\ufeff")

/**
 * The request with this body. Its text is made when it is parsed, and the bytes are freed then: what is only given up stays
 * until V8 collects its old generation, often after the body is stored.
 */
const withBytes = (request: Request, bytes: Buffer<ArrayBuffer>): Request => {
  const isCollected = bytes.length >= collectedBytes
  const text = Effect.ensuring(
    Effect.suspend(() => {
      if (!isUtf8(bytes)) return Effect.fail(unreadable(request, "The body is not UTF-8."))
      const json = bytes.subarray(0, mark.length).equals(mark) ? bytes.subarray(mark.length) : bytes
      return isParsable(json)
        ? Effect.succeed(json.toString())
        : Effect.fail(unreadable(request, "The body has more values than any report, or deeper ones."))
    }),
    Effect.sync(() => bytes.buffer.transfer(0))
  )
  const whole: Request = Object.defineProperty(Object.create(request), "text", {
    // The chunks that the body came in are garbage by now.
    value: isCollected ? Effect.andThen(collected, text) : text
  })
  const json = whole.json
  // Once it is parsed, the text is garbage, and what is stored is copied several times.
  return Object.defineProperty(whole, "json", {
    value: isCollected ? Effect.tap(json, () => collected) : json
  })
}
