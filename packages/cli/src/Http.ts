import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError } from "effect/http"

/** How long a service may take until it begins to answer, in seconds. */
export const answerSeconds = 30

/** Calls that end where no answer begins in time. An answer itself may take as long as it has bytes to send. */
export const answeringWithin = (seconds: number): Layer.Layer<HttpClient.HttpClient> =>
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
  ).pipe(Layer.provide(FetchHttpClient.layer))
