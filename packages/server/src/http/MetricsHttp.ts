import { Context, Effect, Metric } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { SemaphoresRepo } from "../runs/SemaphoresRepo.ts"
import * as Metrics from "../telemetry/Metrics.ts"

export type Snapshot = ReadonlyArray<Metric.Metric.Snapshot>

/** What one process of a server tells, and labels that tell it from the others. */
export interface ProcessSnapshot {
  readonly labels: Metric.Metric.AttributeSet
  readonly snapshot: Snapshot
}

/** The processes that serve behind one port, seen from one of them. */
export interface Siblings {
  /** Tells the others what they ask for, until the scope closes. */
  readonly tell: (own: Effect.Effect<Snapshot>) => Effect.Effect<void>
  /** What all of them tell, this one too. */
  readonly ask: Effect.Effect<ReadonlyArray<ProcessSnapshot>>
}

/** Absent where the process serves alone. */
export const Siblings = Context.Reference<Siblings | undefined>("@delivery/server/http/Siblings", {
  defaultValue: () => undefined
})

/**
 * `GET /metrics` in the text format of Prometheus. It stands beside the API, not in its description: it is for those
 * who run the server, has no form that clients may rely on, and is not there unless `METRICS=true`.
 */
export const MetricsHttp = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const semaphores = yield* SemaphoresRepo
    const siblings = yield* Siblings
    yield* Metric.update(Metrics.buildInfo, 1)

    /** A database that does not answer leaves its own numbers out, and no others. */
    const askDatabase = semaphores.load.pipe(
      Effect.timeout("1 second"),
      Effect.matchCauseEffect({
        onSuccess: ({ held, queued }) =>
          Effect.andThen(
            Metric.update(Metrics.semaphoreLeases("held"), held),
            Metric.update(Metrics.semaphoreLeases("queued"), queued)
          ),
        onFailure: () =>
          Effect.andThen(
            Metric.remove(Metrics.semaphoreLeases("held")),
            Metric.remove(Metrics.semaphoreLeases("queued"))
          )
      })
    )
    // Whoever asks, it is of this server's registry.
    const own = Effect.provideContext(Effect.andThen(askDatabase, Metric.snapshot), yield* Effect.context<never>())
    if (siblings !== undefined) yield* siblings.tell(own)

    const text = Effect.map(
      siblings === undefined ? Effect.map(own, (snapshot) => [{ labels: {}, snapshot }]) : siblings.ask,
      format
    )
    yield* router.add(
      "GET",
      "/metrics",
      Effect.map(text, (text) =>
        HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
      )
    )
  })
)

/** One answer of what several processes told. */
const format = (processes: ReadonlyArray<ProcessSnapshot>): string => {
  const registry: Metric.MetricRegistry = new Map()
  for (const { labels, snapshot } of processes) {
    for (const { state, ...metric } of snapshot) {
      const attributes = { ...labels, ...metric.attributes }
      const hooks = { get: () => state, update: () => {}, modify: () => {} }
      registry.set(`${metric.id} ${JSON.stringify(attributes)}`, { ...metric, attributes, hooks })
    }
  }
  return PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, registry))
}
