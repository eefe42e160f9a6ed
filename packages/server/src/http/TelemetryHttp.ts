import { Effect, Layer, Option, References, Tracer } from "effect"
import { HttpMiddleware } from "effect/http"
import { Settings } from "../Config.ts"
import * as Telemetry from "../telemetry/Telemetry.ts"
import { endpointOf } from "./Endpoints.ts"
import * as MetricsHttp from "./MetricsHttp.ts"
import * as RequestMetrics from "./RequestMetrics.ts"

/** The metrics and traces that the settings ask for, for a layer around the server. Nothing unless they do. */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ metrics, otlpUrl }) => {
    const layerSpans = Option.match(otlpUrl, { onNone: () => layerUntraced, onSome: layerTraced })
    return metrics
      ? Layer.provideMerge(Layer.provideMerge(Telemetry.layerMetrics, layerSpans), Telemetry.layerRegistry)
      : Option.isSome(otlpUrl)
        ? layerSpans
        : layerNothing
  })
)

/** The routes and middleware of metrics. */
export const layerHttp = Layer.unwrap(
  Effect.map(Settings, ({ metrics }) => (metrics ? Layer.merge(RequestMetrics.layer, MetricsHttp.layer) : Layer.empty))
)

/** No spans at all, not even unsent ones, unless the program that embeds the server has a tracer of its own. */
const layerNothing = Layer.unwrap(
  Effect.map(Tracer.Tracer, (tracer) =>
    tracer === Tracer.nativeTracer ? Layer.succeed(References.TracerEnabled, false) : Layer.empty
  )
)

/** Metrics need spans of statements, but none of requests. */
const layerUntraced = Layer.succeed(HttpMiddleware.TracerDisabledWhen, () => true)

const layerTraced = (url: string) =>
  Layer.mergeAll(
    Telemetry.layerTraces(url),
    // Probes and scrapes repeat without end.
    Layer.succeed(HttpMiddleware.TracerDisabledWhen, isRepeated),
    // The id of a request, which its log lines have too, is the one header that spans show.
    Layer.succeed(HttpMiddleware.TracerHeaderFilter, (name, phase) => name === "x-request-id" && phase === "response")
  )

const isRepeated = ({ method, url }: { readonly method: string; readonly url: string }): boolean => {
  const { isMetrics, isProbe } = endpointOf(method, url)
  return isMetrics || isProbe
}
