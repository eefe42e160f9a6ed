import { Layer } from "effect"
import { Audit } from "./Audit.ts"
import { AuditedEvents } from "./AuditedEvents.ts"
import * as AuditErasure from "./AuditErasure.ts"
import * as AuditHttp from "./AuditHttp.ts"
import * as AuditMemory from "./AuditMemory.ts"
import { auditEntries } from "./AuditRepo.ts"
import * as AuditSql from "./AuditSql.ts"

/** Who did what in each workspace, with which credential and from where. */

export const tables = [auditEntries]

export const layerSql = AuditSql.layer

export const layerMemory = AuditMemory.layer

/** Needs `Events`. */
export const layer = Layer.provideMerge(AuditedEvents.layer, Audit.layer)

/** What a server does by itself, over the services. */
export const layerBackground = AuditErasure.layer

export const layerHttp = AuditHttp.layer
