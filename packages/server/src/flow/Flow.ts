import { Layer } from "effect"
import { Mutes } from "./Mutes.ts"
import * as MutesHttp from "./MutesHttp.ts"
import * as MutesMemory from "./MutesMemory.ts"
import * as MutesPorts from "./MutesPorts.ts"
import * as MutesSql from "./MutesSql.ts"
import * as MutesSweep from "./MutesSweep.ts"

/** From a failure to its fix: what runs, tests, tickets and releases mean for each other. */

export const layerSql = MutesSql.layer

export const layerMemory = MutesMemory.layer

/** What this room supplies to lower ones. */
export const layerPorts = Layer.mergeAll(MutesPorts.layerRunMutes, MutesPorts.layerGuards, MutesPorts.layerOwnerEnds)

export const layer = Mutes.layer

/** What a server does by itself. */
export const layerBackground = MutesSweep.layer

export const layerHttp = MutesHttp.layer
