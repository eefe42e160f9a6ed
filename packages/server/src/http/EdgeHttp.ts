import { Internal, InvalidInput, TooManyRequests } from "@delivery/domain/Errors"
import { Edge } from "@delivery/domain/identity/Authorization"
import { NoStore } from "@delivery/domain/NoStore"
import { LargeBody } from "@delivery/domain/runs/LargeBody"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { ByteSize, Cause, Context, Effect, Layer, type Types } from "effect"
import {
  HttpEffect,
  HttpIncomingMessage,
  HttpMethod,
  HttpRouter,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { HttpApiError } from "effect/http-api"
import { isUtf8 } from "node:buffer"
import { AccessLog } from "./AccessLog.ts"
import { beforeRestOfPath } from "./EndpointTraits.ts"
import { errorOf, errorResponse, invalidInput, missingHost, unreadableBody } from "./ErrorResponse.ts"
import { RateLimits, RequestAdmission } from "./RateLimits.ts"
import { RequestId, requestId } from "./RequestId.ts"
import { RequestQueue } from "./RequestQueue.ts"
import { RequestTimes } from "./RequestTimes.ts"
import { Starting } from "./Starting.ts"

/** Bytes of a JSON body; the two finish calls take more (docs/contract.md, Conventions). */
export const maxBodyBytes = 1024 * 1024
const maxLargeBodyBytes = 64 * 1024 * 1024

const problem = (message: string) => new InvalidInput({ message, issues: [{ path: [], message }] })

/** Inside the API: what a request does wrong before its handler runs becomes the contract's `InvalidInput`. */
export const EdgeLive = Layer.succeed(Edge, (httpEffect) =>
  httpEffect.pipe(
    Effect.flatMap((response) =>
      response.status === 415
        ? Effect.fail(problem("The content type must be application/json."))
        : Effect.succeed(response)
    ),
    Effect.catch(
      (error): Effect.Effect<HttpServerResponse.HttpServerResponse, InvalidInput | Internal | Types.unhandled> => {
        if (!HttpApiError.HttpApiSchemaError.is(error)) return Effect.fail(error)
        if (error.kind !== "Body" && error.kind !== "ResponseHeaders") {
          // Not an error first: an error takes a stack trace, which nobody reads of what a client sent wrong.
          return Effect.succeed(errorResponse(invalidInput(error.cause), 400))
        }
        return Effect.flatMap(RequestId, (id) =>
          Effect.andThen(
            Effect.logError("A response did not match its schema.", error.cause),
            Effect.fail(new Internal({ message: "Something went wrong.", requestId: id }))
          )
        )
      }
    ),
    Effect.catchDefect((defect) =>
      HttpServerError.isHttpServerError(defect) && defect.reason._tag === "RequestParseError"
        ? Effect.fail(unreadableBody(defect.reason))
        : Effect.die(defect)
    )
  )
)

export const NoStoreLive = Layer.succeed(NoStore, (httpEffect) =>
  HttpEffect.withPreResponseHandler(httpEffect, (_, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "cache-control", "no-store"))
  )
)

export const LargeBodyLive = Layer.succeed(LargeBody, (httpEffect) =>
  Effect.provideService(httpEffect, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxLargeBodyBytes))
)

/** The limit of bodies that are not streams, for a layer around the whole server. */
export const BodyLimit = Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes))

/**
 * Paths are written as they are described: in this case. A longer path parameter is not found; paths of files are
 * refused above 512 characters by a rule with a message.
 */
export const routerConfig = { caseSensitive: true, maxParamLength: 16_384 }

/**
 * The URL as the router is to read it. It would end the path at `;` or `#`, and so delete `a` when asked to delete `a;b`.
 * A file's path has slashes, and the router wants one segment: written as `%2F` they are decoded once, like the rest. An
 * empty one becomes a slash, which is as wrong and finds its way.
 */
export const routed = (url: string): string => {
  const before = beforeRestOfPath(url)
  if (before === undefined && !/[;#]/.test(url)) return url
  const query = url.indexOf("?")
  const end = query === -1 ? url.length : query
  const path = url.slice(0, end).replaceAll(";", "%3B").replaceAll("#", "%23")
  const start = before === undefined ? path.length : beforeRestOfPath(path)!.length
  const rest = before === undefined ? "" : path.slice(start).replaceAll("/", "%2F") || "%2F"
  return path.slice(0, start) + rest + url.slice(end)
}

/** A body as text. What is not UTF-8 is refused: read leniently, it would be kept as other characters than were sent. */
const withStrictText = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest =>
  Object.defineProperty(Object.create(request), "text", {
    get: () =>
      Effect.flatMap(request.arrayBuffer, (buffer) =>
        isUtf8(buffer)
          ? request.text
          : new HttpServerError.HttpServerError({
              reason: new HttpServerError.RequestParseError({ request, description: "The body is not UTF-8." })
            })
      )
  })

const httpVersion = (request: HttpServerRequest.HttpServerRequest): string =>
  NodeHttpServerRequest.toIncomingMessage(request).httpVersion

/**
 * Around the whole router: the request id, errors of every kind and path in the contract's form, and the access log.
 */
export const EdgeRouter = HttpRouter.middleware(
  Effect.gen(function* () {
    const log = yield* AccessLog
    const limits = yield* RateLimits
    const queue = yield* RequestQueue
    const times = yield* RequestTimes
    const starting = yield* Starting
    return (httpEffect) =>
      Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const id = requestId(request.headers["x-request-id"])
        const started = performance.now()
        const url = routed(request.url)
        const admission = limits.admit(request)
        const finish = (answer: HttpServerResponse.HttpServerResponse) => {
          const response = admission === undefined ? answer : HttpServerResponse.setHeaders(answer, admission.headers)
          log.write(request, response.status, performance.now() - started, id)
          const named = HttpServerResponse.setHeader(response, "x-request-id", id)
          return response.status === 401 && response.headers["www-authenticate"] === undefined
            ? HttpServerResponse.setHeader(named, "www-authenticate", "Bearer")
            : named
        }
        if (admission?.retryAfter !== undefined) {
          const message = `Too many requests: ${limits.words}. Try again in ${admission.retryAfter} s.`
          return Effect.succeed(finish(errorResponse(new TooManyRequests({ message }), 429)))
        }
        if (request.headers["host"] === undefined && httpVersion(request) === "1.1") {
          return Effect.succeed(finish(errorResponse(missingHost, 400)))
        }
        const found = url === request.url ? request : request.modify({ url })
        const read = HttpMethod.hasBody(request.method) ? withStrictText(found) : found
        const served =
          read === request ? httpEffect : Effect.provideService(httpEffect, HttpServerRequest.HttpServerRequest, read)
        const identified = Effect.provideService(served, RequestId, id)
        const admitted =
          admission === undefined ? identified : Effect.provideService(identified, RequestAdmission, admission)
        const time = times.begin(fiber, request)
        const working = queue.work(request, admitted)
        return Effect.matchCauseEffect(starting.isOver() ? working : Effect.andThen(starting.wait, working), {
          onSuccess: (response) => {
            times.end(fiber)
            return Effect.succeed(finish(response))
          },
          onFailure: (cause) => {
            times.end(fiber)
            if (Cause.hasInterruptsOnly(cause)) {
              if (time?.isOver !== true) return Effect.failCause(cause)
              const error = new Internal({ message: "The request took too long.", requestId: id })
              return Effect.as(
                Effect.annotateLogs(Effect.logError("A request took too long."), { requestId: id }),
                finish(errorResponse(error, 500))
              )
            }
            const { error, isFault, status } = errorOf(cause, id)
            const response = finish(errorResponse(error, status))
            return isFault
              ? Effect.as(Effect.annotateLogs(Effect.logError("A request failed.", cause), { requestId: id }), response)
              : Effect.succeed(response)
          }
        })
      })
  }),
  { global: true }
)
