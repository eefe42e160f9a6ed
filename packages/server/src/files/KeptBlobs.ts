import { Context, Effect, Layer, type Scope } from "effect"

interface Keeping {
  /** Deletes no blob until the scope closes. What is garbage meanwhile is swept later. */
  readonly keep: Effect.Effect<void, never, Scope.Scope>
  readonly areKept: () => boolean
}

/** Whether blobs that no file has any longer are kept for a back-up that copies them. Of one process: the embedded database's. */
export const KeptBlobs = Context.Reference<Keeping>("@delivery/server/files/KeptBlobs", {
  defaultValue: () => ({ keep: Effect.void, areKept: () => false })
})

export const layer = Layer.sync(KeptBlobs, () => {
  let keepers = 0
  return {
    keep: Effect.acquireRelease(
      Effect.sync(() => void keepers++),
      () => Effect.sync(() => void keepers--)
    ),
    areKept: () => keepers > 0
  }
})
