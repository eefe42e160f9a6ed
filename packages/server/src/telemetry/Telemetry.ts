import { Effect, Layer } from "effect"
import { HttpMiddleware } from "effect/http"
import { Settings } from "../Config.ts"
import { layerDatabaseMetrics } from "./DatabaseMetrics.ts"
import { layerRegistry } from "./Metrics.ts"
import { MetricsHttp } from "./MetricsHttp.ts"
import { layerProcessMetrics } from "./ProcessMetrics.ts"
import { RequestMetrics } from "./RequestMetrics.ts"

/** What the settings ask to be seen of a server, for a layer around it. Nothing unless they do. */
export const layerTelemetry = Layer.unwrap(
  Effect.map(Settings, ({ metrics }) => (metrics ? layerMetrics.pipe(Layer.provideMerge(layerUntraced)) : Layer.empty))
)

/** Requests have no spans, where nobody asked for traces. */
const layerUntraced = Layer.succeed(HttpMiddleware.TracerDisabledWhen, () => true)

const layerMetrics = Layer.mergeAll(layerDatabaseMetrics, layerProcessMetrics).pipe(Layer.provideMerge(layerRegistry))

/** The routes and middleware that go with it. */
export const TelemetryHttp = Layer.unwrap(
  Effect.map(Settings, ({ metrics }) => (metrics ? Layer.merge(RequestMetrics, MetricsHttp) : Layer.empty))
)
