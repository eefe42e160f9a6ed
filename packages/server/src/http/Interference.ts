import { Context, type Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"

/** What is done to requests before and after they are answered, by tests of those who call (`testing/Faults.ts`). */
export type Interfere = <E, R>(
  request: HttpServerRequest.HttpServerRequest,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

/** Nothing, unless a test says so. */
export const Interference = Context.Reference<Interfere | undefined>("@delivery/server/http/Interference", {
  defaultValue: () => undefined
})
