import { Layer } from "effect"
import { DeliveryMetrics } from "./DeliveryMetrics.ts"
import * as DeliveryMetricsMemory from "./DeliveryMetricsMemory.ts"
import * as DeliveryMetricsSql from "./DeliveryMetricsSql.ts"
import { OverdueMutes } from "./OverdueMutes.ts"
import { Readiness } from "./Readiness.ts"
import * as ReadinessHttp from "./ReadinessHttp.ts"
import * as ReadinessMemory from "./ReadinessMemory.ts"
import { readinessPolicies } from "./ReadinessRepo.ts"
import * as ReadinessSql from "./ReadinessSql.ts"

/** What is told of runs, tickets, secrets and releases together, none of which knows of it: whether a version may go out. */

export const tables = [readinessPolicies]

export const layerSql = Layer.merge(ReadinessSql.layer, DeliveryMetricsSql.layer)

export const layerMemory = Layer.merge(ReadinessMemory.layer, DeliveryMetricsMemory.layer)

export const layer = Layer.merge(Layer.provide(Readiness.layer, OverdueMutes.layerNone), DeliveryMetrics.layer)

export const layerHttp = ReadinessHttp.layer
