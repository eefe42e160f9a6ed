import { Internal } from "@delivery/domain/Errors"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Cause, Context, Effect, Option, type Scope } from "effect"
import { HttpMethod, HttpPlatform, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Settings } from "../Config.ts"
import { AccessLog } from "./AccessLog.ts"
import { withStrictBody } from "./BodyLimits.ts"
import { withClientAddress } from "./ClientAddress.ts"
import { compressed, compressingOnce } from "./Compression.ts"
import { corsOf } from "./Cors.ts"
import { endpointOf } from "./Endpoints.ts"
import { errorOf, errorResponse, wrongHost } from "./ErrorResponse.ts"
import { FilesOrigin } from "./FilesOrigin.ts"
import { Interference } from "./Interference.ts"
import { isReadByPeople, notFoundPage } from "./NotFoundPage.ts"
import { RateLimits, RequestAdmission } from "./RateLimits.ts"
import { readableByPeople } from "./RefusalPage.ts"
import { RequestId, requestId } from "./RequestId.ts"
import { RequestQueue } from "./RequestQueue.ts"
import { RequestTimes } from "./RequestTimes.ts"
import { routed } from "./Routing.ts"
import { Starting } from "./Starting.ts"

const httpVersion = (request: HttpServerRequest.HttpServerRequest): string =>
  NodeHttpServerRequest.toIncomingMessage(request).httpVersion

/** Whether it has a host, and one alone: of two, something on the way may have read the other. */
const hasOneHost = (request: HttpServerRequest.HttpServerRequest): boolean => {
  const { rawHeaders } = NodeHttpServerRequest.toIncomingMessage(request)
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === "host") hosts++
  }
  return hosts === 1 || (hosts === 0 && httpVersion(request) !== "1.1")
}

type Around = HttpServerRequest.HttpServerRequest | HttpPlatform.HttpPlatform | Scope.Scope

const tookTooLong = (requestId: string) =>
  Effect.as(
    Effect.annotateLogs(Effect.logError("A request took too long."), { requestId }),
    errorResponse(new Internal({ message: "The request took too long.", requestId }), 500)
  )

/** Compresses each answer that never changes once. */
const once = (platform: HttpPlatform.HttpPlatform["Service"]): typeof compressed => {
  const compressing = { ...platform, compression: compressingOnce(platform.compression) }
  return (answer) => Effect.provideService(compressed(answer), HttpPlatform.HttpPlatform, compressing)
}

/** Says how to authenticate, unless the answer says so itself. */
const challenging = (answer: HttpServerResponse.HttpServerResponse) =>
  answer.status === 401 && answer.headers["www-authenticate"] === undefined
    ? HttpServerResponse.setHeader(answer, "www-authenticate", "Bearer")
    : answer

/** Around the whole router: the request id, errors of every path in the contract's form, and the access log. */
export const layer = HttpRouter.middleware(
  Effect.gen(function* () {
    const log = yield* AccessLog
    const limits = yield* RateLimits
    const queue = yield* RequestQueue
    const times = yield* RequestTimes
    const starting = yield* Starting
    const interfere = yield* Interference
    const filesOrigin = yield* FilesOrigin
    const { baseUrl, corsOrigins, trustedProxies } = yield* Settings
    const cors = corsOf(corsOrigins, filesOrigin.isAsked)
    const secured = baseUrl.startsWith("https:") ? { "strict-transport-security": "max-age=31536000" } : undefined
    const compressedOnce = once(yield* HttpPlatform.HttpPlatform)
    const ofClient = withClientAddress(trustedProxies)
    return (httpEffect) =>
      Effect.withFiber((fiber) => {
        const received = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const request = ofClient(received)
        const id = requestId(request.headers["x-request-id"])
        const started = performance.now()
        const url = routed(request.url)
        const endpoint = endpointOf(request.method, url)
        const admission = limits.admit(request, endpoint)
        const finish = (answered: HttpServerResponse.HttpServerResponse) => {
          if (answered.status === 401) admission?.reject()
          const refusal = answered.status === 401 ? admission?.refusal() : undefined
          const answer = readableByPeople(request, refusal === undefined ? answered : errorResponse(refusal, 429))
          const kept = secured === undefined ? answer : HttpServerResponse.setHeaders(answer, secured)
          const headers = admission?.headers()
          const response = cors.readable(
            request,
            headers === undefined ? kept : HttpServerResponse.setHeaders(kept, headers)
          )
          log.write(request, response.status, performance.now() - started, id)
          const named = HttpServerResponse.setHeader(response, "x-request-id", id)
          return challenging(named)
        }
        const refusal = admission?.refusal()
        if (refusal !== undefined) return Effect.succeed(finish(errorResponse(refusal, 429)))
        if (!hasOneHost(request)) {
          return Effect.succeed(finish(errorResponse(wrongHost, 400)))
        }
        const preflight = cors.preflight(request)
        if (Option.isSome(preflight)) return Effect.succeed(finish(preflight.value))
        const found = url === request.url ? request : request.modify({ url })
        const read = HttpMethod.hasBody(request.method) ? withStrictBody(found, endpoint) : found
        const isCompressed = endpoint.isCompressed && request.headers["accept-encoding"] !== undefined
        const compress = endpoint.isConstant ? compressedOnce : compressed
        const routing = filesOrigin.isAsked(request) ? filesOrigin.answer(request) : httpEffect
        const answering = interfere === undefined ? routing : interfere(request, routing)
        const answered = isCompressed ? compress(answering) : answering
        const admitted = Effect.updateContext(answered, (context: Context.Context<Around>) => {
          const identified = Context.add(context, RequestId, id)
          const found = admission === undefined ? identified : Context.add(identified, RequestAdmission, admission)
          return read === received ? found : Context.add(found, HttpServerRequest.HttpServerRequest, read)
        })
        const time = times.begin(fiber, request, endpoint)
        const working = queue.work(request, endpoint, admitted)
        return Effect.matchCauseEffect(starting.isOver() ? working : Effect.andThen(starting.wait, working), {
          onSuccess: (response) => {
            times.end(fiber)
            return Effect.succeed(finish(response))
          },
          onFailure: (cause) => {
            times.end(fiber)
            if (Cause.hasInterruptsOnly(cause)) {
              if (time?.isOver !== true) return Effect.failCause(cause)
              return Effect.map(tookTooLong(id), finish)
            }
            const { error, isFault, status } = errorOf(cause, id)
            const response = finish(
              status === 404 && isReadByPeople(request) ? notFoundPage : errorResponse(error, status)
            )
            return isFault
              ? Effect.as(Effect.annotateLogs(Effect.logError("A request failed.", cause), { requestId: id }), response)
              : Effect.succeed(response)
          }
        })
      })
  }),
  { global: true }
)
