import { Internal, InvalidInput, TooManyRequests } from "@delivery/domain/Errors"
import { Edge } from "@delivery/domain/identity/Authorization"
import { NoStore } from "@delivery/domain/NoStore"
import { Effect, Layer, type Schema, type Types } from "effect"
import { HttpEffect, HttpServerError, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { withAllMistakes } from "./AllMistakes.ts"
import { errorResponse, invalidInput, unreadableBody } from "./ErrorResponse.ts"
import { RequestId } from "./RequestId.ts"

/** The middleware that endpoints of the API name in their description, except authentication. */

const problem = (message: string) => new InvalidInput({ message, issues: [{ path: [], message }] })

/** What is wrong with a request before its handler runs becomes `InvalidInput` (docs/contract.md, Errors). */
const layerEdge = Layer.succeed(Edge, (httpEffect, { endpoint }) =>
  httpEffect.pipe(
    Effect.flatMap((response) =>
      response.status === 415
        ? Effect.fail(problem("The content type must be application/json."))
        : Effect.succeed(response)
    ),
    Effect.catch(
      (
        error
      ): Effect.Effect<
        HttpServerResponse.HttpServerResponse,
        InvalidInput | Internal | Types.unhandled,
        HttpServerRequest.HttpServerRequest
      > => {
        if (!HttpApiError.HttpApiSchemaError.is(error)) return Effect.fail(error)
        if (error.kind !== "Body" && error.kind !== "ResponseHeaders") {
          // Not made as an error first: that would take a stack trace, which nobody reads for a client's mistake.
          const answer = (cause: Schema.SchemaError) => errorResponse(invalidInput(cause), 400)
          return error.kind === "Payload"
            ? Effect.map(withAllMistakes(endpoint, error.cause), answer)
            : Effect.succeed(answer(error.cause))
        }
        return Effect.flatMap(RequestId, (id) =>
          Effect.andThen(
            Effect.logError("A response did not match its schema.", error.cause),
            Effect.fail(new Internal({ message: "Something went wrong.", requestId: id }))
          )
        )
      }
    ),
    Effect.catchDefect((defect): Effect.Effect<never, InvalidInput | TooManyRequests> => {
      if (defect instanceof TooManyRequests) return Effect.fail(defect)
      return HttpServerError.isHttpServerError(defect) && defect.reason._tag === "RequestParseError"
        ? Effect.fail(unreadableBody(defect.reason))
        : Effect.die(defect)
    })
  )
)

/** Answers that no cache may keep. */
const layerNoStore = Layer.succeed(NoStore, (httpEffect) =>
  HttpEffect.withPreResponseHandler(httpEffect, (_, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "cache-control", "no-store"))
  )
)

export const layer = Layer.mergeAll(layerEdge, layerNoStore)
