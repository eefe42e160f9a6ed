import { Context, Effect, Metric } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import * as Metrics from "../telemetry/Metrics.ts"
import { ScrapeTasks } from "../telemetry/Scrapes.ts"
import { type ProcessSnapshot, Siblings } from "../telemetry/Siblings.ts"
import { isMetricsUrl } from "./Routing.ts"

/**
 * `GET /metrics` in the text format of Prometheus. It is not part of the API description: it is for operators,
 * its content may change, and it exists only with `METRICS=true`.
 */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const siblings = yield* Siblings
    const tasks = yield* ScrapeTasks
    yield* Metric.update(Metrics.buildInfo, 1)
    const runTasks = Effect.suspend(() => Effect.all([...tasks], { concurrency: "unbounded", discard: true }))
    // Another process that asks also gets this server's registry.
    const own = Effect.provideContext(Effect.andThen(runTasks, Metric.snapshot), yield* Effect.context<never>())
    if (siblings !== undefined) yield* siblings.answer(own)
    const all = siblings === undefined ? Effect.map(own, (snapshot) => [{ labels: {}, snapshot }]) : siblings.ask
    yield* router.add("GET", "/metrics", Effect.andThen(toTheLetter, Effect.map(all, answer)))
  })
)

/** Whatever else the router takes for the page's path does not exist. */
const toTheLetter = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
  isMetricsUrl(request.url)
    ? Effect.void
    : Effect.fail(new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) }))
)

const answer = (processes: ReadonlyArray<ProcessSnapshot>) =>
  HttpServerResponse.text(format(processes), { contentType: "text/plain; version=0.0.4; charset=utf-8" })

/** The metrics of several processes as one text. */
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
