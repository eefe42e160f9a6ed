import { Internal, InvalidInput } from "@delivery/domain/Errors"
import { Edge } from "@delivery/domain/identity/Authorization"
import { NoStore } from "@delivery/domain/NoStore"
import { Effect, Layer, type Types } from "effect"
import { HttpEffect, HttpServerError, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { errorResponse, invalidInput, unreadableBody } from "./ErrorResponse.ts"
import { RequestId } from "./RequestId.ts"

/** The middleware that endpoints of the API name in their description, except authentication. */

const problem = (message: string) => new InvalidInput({ message, issues: [{ path: [], message }] })

/** What is wrong with a request before its handler runs becomes `InvalidInput` (docs/contract.md, Errors). */
const layerEdge = Layer.succeed(Edge, (httpEffect) =>
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
          // Not made as an error first: that would take a stack trace, which nobody reads for a client's mistake.
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

/** Answers that no cache may keep. */
const layerNoStore = Layer.succeed(NoStore, (httpEffect) =>
  HttpEffect.withPreResponseHandler(httpEffect, (_, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "cache-control", "no-store"))
  )
)

export const layer = Layer.mergeAll(layerEdge, layerNoStore)
