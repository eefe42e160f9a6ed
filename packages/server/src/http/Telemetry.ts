import { Effect, Layer, Option, References, Tracer } from "effect"
import { HttpMiddleware } from "effect/http"
import { Settings } from "../Config.ts"
import { layerDatabaseMetrics } from "../telemetry/DatabaseMetrics.ts"
import { layerRegistry } from "../telemetry/Metrics.ts"
import * as Scrapes from "../telemetry/Scrapes.ts"
import * as MetricsHttp from "./MetricsHttp.ts"
import { layerProcessMetrics } from "../telemetry/ProcessMetrics.ts"
import { RequestMetrics } from "./RequestMetrics.ts"
import { layerTraces } from "../telemetry/Traces.ts"

/** What the settings ask to be seen of a server, for a layer around it. Nothing unless they do. */
export const layerTelemetry = Layer.unwrap(
  Effect.map(Settings, ({ metrics, otlpUrl }) => {
    const layerSpans = Option.match(otlpUrl, { onNone: () => layerUntraced, onSome: layerTraces })
    return metrics
      ? Layer.provideMerge(Layer.provideMerge(layerMetrics, layerSpans), Layer.merge(layerRegistry, Scrapes.layer))
      : Option.isSome(otlpUrl)
        ? layerSpans
        : layerNothing
  })
)

/** No spans at all, not even unsent ones, where nobody looks at any: who embeds the server may have a tracer. */
const layerNothing = Layer.unwrap(
  Effect.map(Tracer.Tracer, (tracer) =>
    tracer === Tracer.nativeTracer ? Layer.succeed(References.TracerEnabled, false) : Layer.empty
  )
)

/** Requests have no spans, where nobody asked for traces. */
const layerUntraced = Layer.succeed(HttpMiddleware.TracerDisabledWhen, () => true)

const layerMetrics = Layer.merge(layerDatabaseMetrics, layerProcessMetrics)

/** The routes and middleware that go with it. */
export const TelemetryHttp = Layer.unwrap(
  Effect.map(Settings, ({ metrics }) => (metrics ? Layer.merge(RequestMetrics, MetricsHttp.layer) : Layer.empty))
)
