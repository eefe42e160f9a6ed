import { Console, Effect, Layer } from "effect"
import { layerSqlStorage } from "../App.ts"
import * as Keys from "../keys/Keys.ts"
import { SigningKeys } from "../keys/SigningKeys.ts"
import * as Host from "./Host.ts"

const layerKeys = Keys.layer.pipe(
  Layer.provide(layerSqlStorage),
  Layer.provide(Keys.layerKeyring),
  Layer.provideMerge(Host.layer)
)

/** `fixtures rotate`: replaces the key that signs fixture tokens. */
export const rotate = Effect.gen(function* () {
  const kid = yield* (yield* SigningKeys).rotate
  yield* Console.log(
    `Published the new signing key ${kid}. It signs tokens from 15 minutes from now on. Tokens issued before stay valid.`
  )
}).pipe(Effect.provide(layerKeys), Effect.scoped)
