import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { NewCode } from "./Codes.ts"
import { NextId } from "./NextId.ts"
import { NewToken } from "./Tokens.ts"

/** Ids, tokens and codes, and their randomness. */
export const layer = Layer.provideMerge(
  Layer.mergeAll(NextId.layer, NewToken.layer, NewCode.layer),
  SecureRandom.layerWebCrypto
)
