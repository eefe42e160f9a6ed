import { Effect } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

type CollectGarbage = (options: { readonly type: "major"; readonly execution: "async" }) => Promise<void>

let collectGarbage: CollectGarbage | undefined

/**
 * Collects the garbage of V8's old generation now, which takes tens of milliseconds. V8 does not count the text of a large body
 * as pressing: it keeps that of several bodies, until a collection of its own. Node gives its `gc` only to whoever asks for it.
 */
export const collected: Effect.Effect<void> = Effect.promise(() => {
  if (collectGarbage === undefined) {
    setFlagsFromString("--expose-gc")
    collectGarbage = runInNewContext("gc") as CollectGarbage
  }
  return collectGarbage({ type: "major", execution: "async" })
})
