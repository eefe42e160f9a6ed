import { Layer } from "effect"
import { EventFeed } from "./EventFeed.ts"
import { EventPages } from "./EventPages.ts"
import { Events } from "./Events.ts"
import * as EventsHttp from "./EventsHttp.ts"
import * as EventsMemory from "./EventsMemory.ts"
import { events } from "./EventsRepo.ts"
import * as EventsSql from "./EventsSql.ts"
import { EventStreams } from "./EventStreams.ts"
import { EventTurns } from "./EventTurns.ts"

/** What happened in each workspace. */

export const tables = [events]

export const layerSql = EventsSql.layer

export const layerMemory = EventsMemory.layer

/** Writes events. */
export const layer = Events.layer

/** Shows events, also as they come. Needs `EventAudience`, which planning supplies with its storage. */
export const layerReads = EventPages.layer.pipe(
  Layer.provideMerge(EventFeed.layer),
  Layer.provideMerge(EventTurns.layer)
)

/** Needs `CurrentCaller`, which identity supplies. */
export const layerHttp = Layer.provide(EventsHttp.layer, EventStreams.layer)
