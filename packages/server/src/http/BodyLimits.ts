import { ByteSize, Effect, Layer } from "effect"
import { HttpIncomingMessage, HttpServerError, type HttpServerRequest } from "effect/http"
import { isUtf8 } from "node:buffer"
import type { Endpoint } from "./Endpoints.ts"

/** Bytes of a JSON body. The two calls that finish runs take more (runs/LargeBodies.ts). */
export const maxBodyBytes = 1024 * 1024

/** The limit of bodies that are not streams, for a layer around the whole server. */
export const layer = Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes))

/** The same for endpoints that need no credential: anybody can send one, and nothing that is sent there is longer. */
const publicBody = ByteSize.kibibytes(64)

/**
 * The request with a body that is read as a whole: within the limit of its endpoint, and UTF-8. Decoded leniently, other
 * characters would be stored than were sent.
 */
export const withStrictBody = (
  request: HttpServerRequest.HttpServerRequest,
  { isPublic }: Pick<Endpoint, "isPublic">
): HttpServerRequest.HttpServerRequest => {
  // Where it is read: what a handler has around it is the limit of the server.
  const arrayBuffer = () =>
    isPublic
      ? Effect.provideService(request.arrayBuffer, HttpIncomingMessage.MaxBodySize, publicBody)
      : request.arrayBuffer
  const text = () => Effect.flatMap(arrayBuffer(), (buffer) => (isUtf8(buffer) ? request.text : notUtf8(request)))
  return Object.defineProperties(Object.create(request), { arrayBuffer: { get: arrayBuffer }, text: { get: text } })
}

const notUtf8 = (request: HttpServerRequest.HttpServerRequest) =>
  new HttpServerError.HttpServerError({
    reason: new HttpServerError.RequestParseError({ request, description: "The body is not UTF-8." })
  })
