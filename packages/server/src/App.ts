import * as NodeServices from "@effect/platform-node/NodeServices"
import { Layer } from "effect"
import * as AgentsRoom from "./agents/AgentsRoom.ts"
import * as AuditRoom from "./audit/AuditRoom.ts"
import * as Auth from "./auth/Auth.ts"
import * as Catalog from "./catalog/Catalog.ts"
import * as Database from "./database/Database.ts"
import * as Deploy from "./deploy/Deploy.ts"
import * as EventsRoom from "./events/EventsRoom.ts"
import * as Files from "./files/Files.ts"
import * as Flow from "./flow/Flow.ts"
import * as Http from "./http/Http.ts"
import * as Identity from "./identity/Identity.ts"
import * as Ids from "./ids/Ids.ts"
import * as Keys from "./keys/Keys.ts"
import * as Planning from "./planning/Planning.ts"
import * as ReleasesRoom from "./releases/ReleasesRoom.ts"
import * as Runs from "./runs/Runs.ts"
import * as StorageRoom from "./storage/StorageRoom.ts"
import * as SystemHttp from "./SystemHttp.ts"
import * as VaultRoom from "./vault/VaultRoom.ts"
import * as WebhooksRoom from "./webhooks/WebhooksRoom.ts"
import * as Website from "./website/Website.ts"

/** The rooms, put together: storage, services over it, HTTP over them. The face of each room says what it consists of. */

/** The storage of every room over a PostgreSQL client, whose tables are there. */
export const layerSqlRepositories = Layer.mergeAll(
  StorageRoom.layerSql,
  Files.layerBlobsSql,
  Keys.layerSql,
  EventsRoom.layerSql,
  AuditRoom.layerSql,
  Identity.layerSql,
  Auth.layerSql,
  Catalog.layerSql,
  VaultRoom.layerSql,
  Runs.layerSql,
  Deploy.layerSql,
  Planning.layerSql,
  AgentsRoom.layerSql,
  ReleasesRoom.layerSql,
  WebhooksRoom.layerSql,
  Flow.layerSql
)

/** The storage of every room over a PostgreSQL client, after the migrations. */
export const layerSqlStorage = Layer.provide(layerSqlRepositories, StorageRoom.layerMigrations)

/** The storage of every room in the memory of the process, gone with it. */
export const layerMemoryStorage = Layer.mergeAll(
  StorageRoom.layerMemory,
  Files.layerBlobsMemory,
  Keys.layerMemory,
  EventsRoom.layerMemory,
  AuditRoom.layerMemory,
  Identity.layerMemory,
  Auth.layerMemory,
  Catalog.layerMemory,
  VaultRoom.layerMemory,
  Runs.layerMemory,
  Deploy.layerMemory,
  Planning.layerMemory,
  AgentsRoom.layerMemory,
  ReleasesRoom.layerMemory,
  WebhooksRoom.layerMemory,
  Flow.layerMemory
).pipe(Layer.provide(StorageRoom.layerMemoryTables))

/** The services of every room, over what higher rooms supply to lower ones. */
export const layerRooms = Flow.layer.pipe(
  Layer.provideMerge([ReleasesRoom.layer, WebhooksRoom.layer]),
  Layer.provideMerge(Runs.layerServices),
  Layer.provideMerge(Flow.layerRunEnds),
  Layer.provideMerge(AgentsRoom.layer),
  Layer.provideMerge(Deploy.layerServices),
  Layer.provideMerge([VaultRoom.layerServices, Planning.layer]),
  Layer.provideMerge([Catalog.layer, Auth.layer]),
  Layer.provideMerge(Identity.layer)
)

/** What higher rooms supply to lower ones. */
export const layerPorts = Layer.mergeAll(
  AgentsRoom.layerPorts,
  WebhooksRoom.layerPorts,
  Runs.layerPorts,
  Deploy.layerPorts,
  Auth.layerIdentityMail,
  Planning.layerNewWorkspaces,
  VaultRoom.layerSecretHoldings
).pipe(Layer.provideMerge(Flow.layerPorts))

/** All services, over a storage, a file store, a keyring and `Http.layer`. */
const layerServices = Layer.mergeAll(
  EventsRoom.layerReads,
  Keys.layerBackground,
  VaultRoom.layerBackground,
  Runs.layerBackground,
  Deploy.layerBackground,
  AuditRoom.layerBackground,
  Identity.layerBackground,
  AgentsRoom.layerBackground,
  WebhooksRoom.layerBackground,
  Flow.layerBackground
).pipe(
  Layer.provideMerge(layerRooms),
  Layer.provideMerge(layerPorts),
  Layer.provideMerge(AuditRoom.layer),
  Layer.provideMerge([EventsRoom.layer, Keys.layer]),
  Layer.provideMerge(VaultRoom.layerKeys),
  Layer.provideMerge(Ids.layer)
)

/** The API over the services, on the socket that the settings name. */
const layerHttp = Layer.mergeAll(
  Http.layerApi,
  AgentsRoom.layerMcp(Flow.layerTools),
  AgentsRoom.layerPage,
  Auth.layerPage,
  Website.layerHttp
).pipe(
  Layer.provide(
    Layer.mergeAll(
      SystemHttp.layer,
      EventsRoom.layerHttp,
      AuditRoom.layerHttp,
      Identity.layerHttp,
      Auth.layerHttp,
      Catalog.layerHttp,
      VaultRoom.layerHttp,
      Runs.layerHttp,
      Deploy.layerHttp,
      Planning.layerHttp,
      AgentsRoom.layerHttp,
      ReleasesRoom.layerHttp,
      WebhooksRoom.layerHttp,
      Flow.layerHttp
    )
  ),
  Layer.provide([Identity.layerAuthorization, Auth.layerAuthorization, Runs.layerFilesOrigin]),
  Http.serve
)

/**
 * The API and all services, over a storage, a file store and a keyring. The first workspace and its key are made once the
 * port is held, and before the first answer.
 */
export const layerApp = Http.layerStarted.pipe(
  Layer.provideMerge(Identity.layerBootstrap),
  Layer.provideMerge(layerHttp),
  Layer.provideMerge(layerServices),
  Layer.provide(Http.layerTurns),
  Layer.provide([Http.layer, Website.layer]),
  Layer.provide(Http.layerTelemetry)
)

/** A whole server as the settings describe it, with its storage and its files, which commands of the host use too. */
export const layerServer = layerApp.pipe(
  Layer.provideMerge(layerSqlStorage),
  Layer.provideMerge(Database.layer),
  Layer.provide([Keys.layerKeyring, Website.layer]),
  // The first that tries DATA_DIR, and says best what is wrong with it.
  Layer.provideMerge(Files.layer),
  Layer.provide(NodeServices.layer)
)

/** A whole server in memory: nothing is kept, nothing is written. */
export const layerMemoryServer = layerApp.pipe(
  Layer.provide(layerMemoryStorage),
  Layer.provide([Files.layerMemory, Keys.layerMemoryKeyring]),
  Layer.provide(NodeServices.layer)
)
