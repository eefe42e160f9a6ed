import { Context, Effect, Layer, type Scope } from "effect"

/** Whether the server is about to end. Calls that wait for something then answer as if their time were up. */
export class Stopping extends Context.Service<
  Stopping,
  {
    readonly hasBegun: () => boolean
    /** From now on answers end their connections, so that clients that call again find another server, or none. */
    readonly begin: () => void
    /** Calls back until the scope closes. */
    readonly onBegin: (wake: () => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@delivery/server/http/Stopping") {
  static readonly layer = Layer.sync(Stopping, () => {
    const listeners = new Set<() => void>()
    let hasBegun = false
    return Stopping.of({
      hasBegun: () => hasBegun,
      begin: () => {
        hasBegun = true
        for (const wake of listeners) wake()
      },
      onBegin: (wake) =>
        Effect.acquireRelease(
          Effect.sync(() => void listeners.add(wake)),
          () => Effect.sync(() => void listeners.delete(wake))
        )
    })
  })
}
