import { Effect, Schema, type SchemaAST } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"

/**
 * All that is wrong with a small body, told at once. A body is decoded up to its first mistake: one of a mebibyte may have a
 * million, and to find them all takes many seconds, in which nobody else is answered (docs/contract.md, Errors).
 */

/** Bytes of the largest body of which more than the first mistake is told. */
const smallBytes = 16 * 1024

type Decode = (body: unknown) => Effect.Effect<unknown, Schema.SchemaError>

const decoders = new WeakMap<HttpApiEndpoint.Top, Decode>()

const decoderOf = (endpoint: HttpApiEndpoint.Top, options: SchemaAST.ParseOptions): Decode => {
  const known = decoders.get(endpoint)
  if (known !== undefined) return known
  const schemas = endpoint.payload.get("application/json")?.schemas ?? []
  const decode = Schema.decodeUnknownEffect(Schema.Union(schemas), { ...options, errors: "all" }) as Decode
  decoders.set(endpoint, decode)
  return decode
}

/** The error of a body, with its other mistakes where it is small. The body has been read, and can be read again. */
export const withAllMistakes = (
  endpoint: HttpApiEndpoint.Top,
  error: Schema.SchemaError,
  options: SchemaAST.ParseOptions = {}
): Effect.Effect<Schema.SchemaError, never, HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Number(request.headers["content-length"] ?? Number.NaN) <= smallBytes
      ? request.text.pipe(
          Effect.flatMap((text) => Effect.try(() => JSON.parse(text) as unknown)),
          Effect.flatMap(decoderOf(endpoint, options)),
          Effect.flip,
          Effect.map((found) => (Schema.isSchemaError(found) ? found : error)),
          Effect.orElseSucceed(() => error)
        )
      : Effect.succeed(error)
  )
