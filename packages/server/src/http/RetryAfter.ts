import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"

/** Fails with the error, and says in the header of the answer in how many seconds to try again. */
export const failFor = <E>(seconds: number, error: E) =>
  Effect.andThen(
    HttpEffect.appendPreResponseHandler((_, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(seconds)))
    ),
    Effect.fail(error)
  )
