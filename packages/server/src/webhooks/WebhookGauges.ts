import { Effect, Layer, Metric } from "effect"
import { webhookLag } from "../telemetry/Metrics.ts"
import { onScrape } from "../telemetry/Scrapes.ts"
import { WebhookQueue } from "./WebhookQueue.ts"

/** Tells how far the webhooks of the whole database are behind, when somebody scrapes. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(WebhookQueue, ({ lag }) =>
    onScrape(
      lag.pipe(
        Effect.timeout("1 second"),
        Effect.matchCauseEffect({
          onSuccess: (seconds) => Metric.update(webhookLag, seconds),
          // A database that does not answer leaves its own numbers out, and no others.
          onFailure: () => Metric.remove(webhookLag)
        })
      )
    )
  )
)
