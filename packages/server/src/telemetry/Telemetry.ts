import { Layer } from "effect"
import * as DatabaseMetrics from "./DatabaseMetrics.ts"
import * as Metrics from "./Metrics.ts"
import * as ProcessMetrics from "./ProcessMetrics.ts"
import * as Scrapes from "./Scrapes.ts"
import * as Traces from "./Traces.ts"

/** Metrics and traces. A server has them only where its settings ask for them. */

/** A registry of the server's own, and whom a scrape asks. */
export const layerRegistry = Layer.merge(Metrics.layer, Scrapes.layer)

/** The metrics of the database and of the process, in the registry. Those of the database need spans of statements. */
export const layerMetrics = Layer.merge(DatabaseMetrics.layer, ProcessMetrics.layer)

/** Sends spans to the collector at `url`. */
export const layerTraces = Traces.layer
