import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { NextId } from "./NextId.ts"

/** Ids and tokens, and the randomness of both. */
export const layer = Layer.provideMerge(NextId.layer, SecureRandom.layerWebCrypto)
