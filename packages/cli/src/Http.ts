import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError } from "effect/http"

/** How long a service may take until it begins to answer, and between two parts of an answer, in seconds. */
export const answerSeconds = 30

/** The answer, whose body fails where nothing of it comes for so many seconds. */
const steady = (answer: Response, seconds: number): Response => {
  if (answer.body === null) return answer
  let timer: NodeJS.Timeout
  const watched = answer.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => {
        timer = setTimeout(
          () => controller.error(new DOMException(`nothing more of the answer within ${seconds} s`, "TimeoutError")),
          seconds * 1_000
        )
      },
      transform: (part, controller) => {
        timer.refresh()
        controller.enqueue(part)
      },
      flush: () => clearTimeout(timer)
    })
  )
  return new Response(watched, answer)
}

/**
 * Calls that end where no answer begins in time, or one that has begun stalls. An answer that goes on may take as long as it has
 * bytes to send.
 */
export const answeringWithin = (seconds: number, stallSeconds = answerSeconds): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      HttpClient.transform((sending, request) =>
        Effect.timeoutOrElse(sending, {
          duration: seconds * 1_000,
          orElse: () =>
            Effect.fail(
              new HttpClientError.HttpClientError({
                reason: new HttpClientError.TransportError({ request, description: `no answer within ${seconds} s` })
              })
            )
        })
      )
    )
  ).pipe(
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(Layer.succeed(FetchHttpClient.Fetch, async (...asked) => steady(await fetch(...asked), stallSeconds)))
  )
