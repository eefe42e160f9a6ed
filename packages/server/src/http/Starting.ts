import { Context, Effect, Latch, Layer } from "effect"

/**
 * Whether the server is still preparing its first answer. It takes the port first, so that a server that cannot have the
 * port creates nothing. Requests that arrive meanwhile wait.
 */
export class Starting extends Context.Service<
  Starting,
  {
    readonly isOver: () => boolean
    /** Waits until the server may answer. */
    readonly wait: Effect.Effect<void>
    readonly end: Effect.Effect<void>
  }
>()("@delivery/server/http/Starting") {
  static readonly layer = Layer.effect(
    Starting,
    Effect.map(Latch.make(), (latch) => {
      let isOver = false
      return Starting.of({
        isOver: () => isOver,
        wait: latch.await,
        end: Effect.andThen(
          Effect.sync(() => {
            isOver = true
          }),
          Effect.asVoid(latch.open)
        )
      })
    })
  )
}
