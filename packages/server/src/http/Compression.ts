import { Effect } from "effect"
import {
  type HttpBody,
  HttpMiddleware,
  type HttpPlatform,
  type HttpServerRequest,
  HttpServerResponse
} from "effect/http"

/** Answers that are compressed where the client allows it (docs/contract.md, Conventions). */

type Compression = HttpPlatform.HttpPlatform["Service"]["compression"]

type Answer<E, R> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

/** Levels that cost little more time than the lowest: an answer is compressed each time, unless it is always the same. */
export const compressed: <E, R>(
  answer: Answer<E, R>
) => Answer<E, R | HttpServerRequest.HttpServerRequest | HttpPlatform.HttpPlatform> = HttpMiddleware.compression({
  algorithms: ["br", "gzip"],
  levels: { br: 4, gzip: 5 }
})

/** Compresses each body once, which must be the same object each time. */
export const compressingOnce = (compression: Compression): Compression => {
  const kept = new WeakMap<HttpBody.HttpBody, Map<string, Answer<never, never>>>()
  return {
    algorithms: compression.algorithms,
    compressResponse: (response, algorithm, options) =>
      Effect.suspend(() => {
        const { body } = response
        const ofBody = kept.get(body) ?? new Map<string, Answer<never, never>>()
        kept.set(body, ofBody)
        const known = ofBody.get(algorithm)
        // Others wait for it, also where the first client has gone.
        const once =
          known ??
          Effect.runSync(
            Effect.cached(Effect.uninterruptible(compression.compressResponse(response, algorithm, options)))
          )
        ofBody.set(algorithm, once)
        return Effect.map(once, (made) => withBodyOf(made, response))
      })
  }
}

/** The answer with the body of another, and the headers that speak of it. */
const withBodyOf = (
  made: HttpServerResponse.HttpServerResponse,
  answer: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  const headers = ["content-encoding", "content-length", "vary"].flatMap((name) => {
    const value = made.headers[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return HttpServerResponse.setHeaders(HttpServerResponse.setBody(answer, made.body), headers)
}
