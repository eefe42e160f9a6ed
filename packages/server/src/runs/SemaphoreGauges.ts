import { Effect, Layer, Metric } from "effect"
import { semaphoreLeases } from "../telemetry/Metrics.ts"
import { onScrape } from "../telemetry/Scrapes.ts"
import { SemaphoresRepo } from "./SemaphoresRepo.ts"

/** Counts the leases of the whole database when somebody scrapes. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(SemaphoresRepo, ({ load }) =>
    onScrape(
      load.pipe(
        Effect.timeout("1 second"),
        Effect.matchCauseEffect({
          onSuccess: ({ held, queued }) =>
            Effect.andThen(
              Metric.update(semaphoreLeases("held"), held),
              Metric.update(semaphoreLeases("queued"), queued)
            ),
          // A database that does not answer leaves its own numbers out, and no others.
          onFailure: () =>
            Effect.andThen(Metric.remove(semaphoreLeases("held")), Metric.remove(semaphoreLeases("queued")))
        })
      )
    )
  )
)
