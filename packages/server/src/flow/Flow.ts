import { Layer } from "effect"
import { registered } from "../agents/AgentToolAccess.ts"
import { DeliveryMetrics } from "./DeliveryMetrics.ts"
import * as DeliveryMetricsMemory from "./DeliveryMetricsMemory.ts"
import * as DeliveryMetricsSql from "./DeliveryMetricsSql.ts"
import * as EvidenceHttp from "./EvidenceHttp.ts"
import * as EvidenceMemory from "./EvidenceMemory.ts"
import * as EvidencePorts from "./EvidencePorts.ts"
import * as EvidenceSql from "./EvidenceSql.ts"
import { Mutes } from "./Mutes.ts"
import * as MutesHttp from "./MutesHttp.ts"
import * as MutesMemory from "./MutesMemory.ts"
import * as MutesPorts from "./MutesPorts.ts"
import * as MutesSql from "./MutesSql.ts"
import * as MutesSweep from "./MutesSweep.ts"
import { olderOverdueMutes, overdueMutes } from "./OverdueMutes.ts"
import * as OverdueMutesMemory from "./OverdueMutesMemory.ts"
import * as OverdueMutesSql from "./OverdueMutesSql.ts"
import { Readiness } from "./Readiness.ts"
import * as ReadinessHttp from "./ReadinessHttp.ts"
import * as ReadinessMemory from "./ReadinessMemory.ts"
import * as ReadinessPorts from "./ReadinessPorts.ts"
import { readinessPolicies } from "./ReadinessRepo.ts"
import * as ReadinessSql from "./ReadinessSql.ts"
import * as RunFileResources from "./RunFileResources.ts"
import * as RunToolHandlers from "./RunToolHandlers.ts"
import { RunTools } from "./RunTools.ts"
import { TestRules } from "./TestRules.ts"
import * as TestRulesHttp from "./TestRulesHttp.ts"
import * as TestRulesMemory from "./TestRulesMemory.ts"
import * as TestRulesPorts from "./TestRulesPorts.ts"
import { testRules, testRuleTickets } from "./TestRulesRepo.ts"
import * as TestRulesSql from "./TestRulesSql.ts"

/** From a failure to its fix, and whether a version may go out: what runs, tests, tickets, secrets and releases mean for each other. */

export const tables = [testRules, testRuleTickets, readinessPolicies, overdueMutes, olderOverdueMutes]

export const layerSql = Layer.mergeAll(
  MutesSql.layer,
  TestRulesSql.layer,
  EvidenceSql.layer,
  ReadinessSql.layer,
  DeliveryMetricsSql.layer,
  OverdueMutesSql.layer
)

export const layerMemory = Layer.mergeAll(
  MutesMemory.layer,
  TestRulesMemory.layer,
  EvidenceMemory.layer,
  ReadinessMemory.layer,
  DeliveryMetricsMemory.layer,
  OverdueMutesMemory.layer
)

/** The catalog's `ReleaseReadiness`. */
export const layerReleaseReadiness = Layer.provide(ReadinessPorts.layer, MutesPorts.layerRunMutes)

/** What this room supplies to lower ones. */
export const layerPorts = Layer.mergeAll(
  MutesPorts.layerRunMutes,
  EvidencePorts.layer,
  MutesPorts.layerOwnerEnds,
  layerReleaseReadiness
)

/** The `RunEnds` of `runs`, over the services of planning and agents. */
export const layerRunEnds = TestRulesPorts.layer

export const layer = Layer.mergeAll(Mutes.layer, TestRules.layer, Readiness.layer, DeliveryMetrics.layer)

/** What a server does by itself. */
export const layerBackground = MutesSweep.layer

export const layerHttp = Layer.mergeAll(MutesHttp.layer, EvidenceHttp.layer, TestRulesHttp.layer, ReadinessHttp.layer)

/** The tools and resources of agents about runs, for `/agent/mcp`. */
export const layerTools = Layer.mergeAll(
  Layer.provide(registered(RunTools), RunToolHandlers.layer),
  RunFileResources.layer
)
