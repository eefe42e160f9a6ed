import { Events } from "./Events.ts"
import { EventsHttp } from "./EventsHttp.ts"
import { EventsRepo } from "./EventsRepo.ts"

/** What happened in each workspace. */

export const layerSql = EventsRepo.layerSql

export const layerMemory = EventsRepo.layerMemory

/** Needs `EventAudience`, which planning supplies with its storage. */
export const layer = Events.layer

export const layerHttp = EventsHttp
