import { Events } from "./Events.ts"
import * as EventsHttp from "./EventsHttp.ts"
import * as EventsMemory from "./EventsMemory.ts"
import { events } from "./EventsRepo.ts"
import * as EventsSql from "./EventsSql.ts"

/** What happened in each workspace. */

export const tables = [events]

export const layerSql = EventsSql.layer

export const layerMemory = EventsMemory.layer

/** Needs `EventAudience`, which planning supplies with its storage. */
export const layer = Events.layer

export const layerHttp = EventsHttp.layer
