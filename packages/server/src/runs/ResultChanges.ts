import { Context, Effect, Latch, Layer } from "effect"

/** Tells who counts results behind the runs that a run has ended here, or that results of one have changed or are gone. */
export class ResultChanges extends Context.Service<
  ResultChanges,
  {
    readonly note: Effect.Effect<void>
    /** Forgets what was noted until now. */
    readonly forget: Effect.Effect<void>
    /** Waits until something is noted. */
    readonly awaitNoted: Effect.Effect<void>
  }
>()("@delivery/server/runs/ResultChanges") {
  static readonly layer = Layer.effect(
    ResultChanges,
    Effect.map(Latch.make(false), (latch) =>
      ResultChanges.of({
        note: Effect.asVoid(latch.open),
        forget: Effect.asVoid(latch.close),
        awaitNoted: latch.await
      })
    )
  )
}
