import { DeliveryApi } from "@delivery/domain/Api"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as AgentsRoom from "./agents/AgentsRoom.ts"
import * as Catalog from "./catalog/Catalog.ts"
import { layerDatabase } from "./database/Database.ts"
import * as EventsRoom from "./events/EventsRoom.ts"
import { FileStore } from "./files/FileStore.ts"
import { AccessLog } from "./http/AccessLog.ts"
import * as DocsPage from "./http/DocsPage.ts"
import { EdgeLive, EdgeRouter, LargeBodyLive, NoStoreLive, routerConfig } from "./http/EdgeHttp.ts"
import * as NodeServer from "./http/NodeServer.ts"
import { RateLimits } from "./http/RateLimits.ts"
import { RequestQueue } from "./http/RequestQueue.ts"
import { RequestTimes } from "./http/RequestTimes.ts"
import { Starting } from "./http/Starting.ts"
import { Stopping } from "./http/Stopping.ts"
import { layerTelemetry, TelemetryHttp } from "./http/Telemetry.ts"
import * as Identity from "./identity/Identity.ts"
import * as Ids from "./ids/Ids.ts"
import { Keyring } from "./keys/Keyring.ts"
import * as Keys from "./keys/Keys.ts"
import * as Planning from "./planning/Planning.ts"
import * as Runs from "./runs/Runs.ts"
import * as StorageRoom from "./storage/StorageRoom.ts"
import { SystemHttp } from "./SystemHttp.ts"
import * as VaultRoom from "./vault/VaultRoom.ts"

/** The rooms, put together: storage, services over it, HTTP over them. Each room says itself what it is made of. */

/** The storage of every room over a PostgreSQL client, after the migrations. */
export const layerSqlStorage = Layer.mergeAll(
  StorageRoom.layerSql,
  Keys.layerSql,
  EventsRoom.layerSql,
  Identity.layerSql,
  Catalog.layerSql,
  VaultRoom.layerSql,
  Runs.layerSql,
  Planning.layerSql,
  AgentsRoom.layerSql
).pipe(Layer.provide(StorageRoom.layerMigrations))

/** The storage of every room over the memory of the process, gone with it. */
export const layerMemoryStorage = Layer.mergeAll(
  StorageRoom.layerMemory,
  Keys.layerMemory,
  EventsRoom.layerMemory,
  Identity.layerMemory,
  Catalog.layerMemory,
  VaultRoom.layerMemory,
  Runs.layerMemory,
  Planning.layerMemory,
  AgentsRoom.layerMemory
).pipe(Layer.provide(StorageRoom.layerMemoryTables))

/** The services of every room, over a storage, a file store, a keyring and what `layerRequests` has. */
export const layerServices = AgentsRoom.layer.pipe(
  Layer.provideMerge([VaultRoom.layer, Runs.layer, Planning.layer]),
  Layer.provideMerge(Catalog.layer),
  Layer.provideMerge(Identity.layer),
  // What higher rooms supply to lower ones.
  Layer.provideMerge([
    AgentsRoom.layerMentions,
    AgentsRoom.layerMemberChanges,
    Planning.layerNewWorkspaces,
    VaultRoom.layerSecretHoldings
  ]),
  Layer.provideMerge([EventsRoom.layer, Keys.layer]),
  Layer.provideMerge(VaultRoom.layerKeys),
  Layer.provideMerge(Ids.layer)
)

const layerRoutes = Layer.mergeAll(
  EdgeRouter,
  HttpApiBuilder.layer(DeliveryApi, { openapiPath: "/openapi.json" }),
  DocsPage.layer,
  AgentsRoom.layerMcp
).pipe(
  Layer.provide([
    EventsRoom.layerHttp,
    Identity.layerHttp,
    Catalog.layerHttp,
    VaultRoom.layerHttp,
    Runs.layerHttp,
    Planning.layerHttp,
    AgentsRoom.layerHttp,
    SystemHttp
  ]),
  Layer.provide([Identity.layerAuthorization, EdgeLive, LargeBodyLive, NoStoreLive]),
  Layer.provide([AccessLog.layer, RateLimits.layer]),
  // Made before the routes, and so around all that they answer.
  Layer.provideMerge(TelemetryHttp)
)

/** The API over its services, on the socket that the settings name. */
const layerHttp = HttpRouter.serve(layerRoutes, {
  disableLogger: true,
  disableListenLog: true,
  routerConfig
}).pipe(Layer.provide(NodeServer.layer))

/**
 * The API and all services, over a storage, a file store and a keyring. The first workspace and its key are made once the
 * port is held, and before the first answer.
 */
export const layerApp = Layer.effectDiscard(Effect.flatMap(Starting, ({ end }) => end)).pipe(
  Layer.provideMerge(Identity.layerBootstrap),
  Layer.provideMerge(layerHttp),
  Layer.provideMerge(layerServices),
  Layer.provide([Starting.layer, Stopping.layer, RequestQueue.layer]),
  Layer.provide(RequestTimes.layer),
  Layer.provide(layerTelemetry)
)

/** A whole server as the settings describe it. */
export const layerServer = layerApp.pipe(
  Layer.provide(layerSqlStorage),
  Layer.provide(layerDatabase),
  Layer.provide([FileStore.layer, Keyring.layer]),
  Layer.provide(NodeServices.layer)
)

/** A whole server over memory: nothing is kept, nothing is written. */
export const layerMemoryServer = layerApp.pipe(
  Layer.provide(layerMemoryStorage),
  Layer.provide([FileStore.layerMemory, Keyring.layerMemory]),
  Layer.provide(NodeServices.layer)
)
