import { ByteSize, Layer } from "effect"
import { HttpIncomingMessage } from "effect/http"

/** Bytes of a JSON body. The two calls that finish runs take more (runs/LargeBodies.ts). */
export const maxBodyBytes = 1024 * 1024

/** The limit of bodies that are not streams, for a layer around the whole server. */
export const layer = Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes))
