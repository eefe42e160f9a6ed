import { LargeBody } from "@delivery/domain/runs/LargeBody"
import { ByteSize, Effect, Layer } from "effect"
import { HttpIncomingMessage } from "effect/http"

/** Bytes of a JSON body. The two calls that finish runs take more (docs/contract.md, Conventions). */
export const maxBodyBytes = 1024 * 1024
const maxLargeBodyBytes = 64 * 1024 * 1024

/** The limit of bodies that are not streams, for a layer around the whole server. */
export const layer = Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes))

/** The limit of endpoints that take a large body. */
export const layerLargeBody = Layer.succeed(LargeBody, (httpEffect) =>
  Effect.provideService(httpEffect, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxLargeBodyBytes))
)
