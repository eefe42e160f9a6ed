import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { NextId } from "./NextId.ts"
import { NewToken } from "./Tokens.ts"

/** Ids and tokens, and the randomness of both. */
export const layer = Layer.provideMerge(Layer.merge(NextId.layer, NewToken.layer), SecureRandom.layerWebCrypto)
