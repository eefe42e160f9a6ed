import { DeliveryApi } from "@delivery/domain/Api"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder, HttpApiScalar } from "effect/http-api"
import { AgentAuthorizationLive } from "./agents/AgentAuthorizationHttp.ts"
import { Agents } from "./agents/Agents.ts"
import { AgentMcp } from "./agents/AgentMcp.ts"
import { AgentsHttp } from "./agents/AgentsHttp.ts"
import { AgentSessions } from "./agents/AgentSessions.ts"
import { AgentsRepo } from "./agents/AgentsRepo.ts"
import { ChangedMembers } from "./agents/ChangedMembers.ts"
import { AgentUsage } from "./agents/AgentUsage.ts"
import { Inbox } from "./agents/Inbox.ts"
import { InboxWaits } from "./agents/InboxWaits.ts"
import { Messages } from "./agents/Messages.ts"
import { MessagesRepo } from "./agents/MessagesRepo.ts"
import { SignIns } from "./agents/SignIns.ts"
import { SignInsRepo } from "./agents/SignInsRepo.ts"
import { CatalogHttp } from "./catalog/CatalogHttp.ts"
import { Deployments } from "./catalog/Deployments.ts"
import { DeploymentsRepo } from "./catalog/DeploymentsRepo.ts"
import { Environments } from "./catalog/Environments.ts"
import { EnvironmentsRepo } from "./catalog/EnvironmentsRepo.ts"
import { Products } from "./catalog/Products.ts"
import { ProductsRepo } from "./catalog/ProductsRepo.ts"
import { Settings } from "./Config.ts"
import { Keyring } from "./keys/Keyring.ts"
import { SigningKeys } from "./keys/SigningKeys.ts"
import { SigningKeysRepo } from "./keys/SigningKeysRepo.ts"
import { Events } from "./events/Events.ts"
import { EventsHttp } from "./events/EventsHttp.ts"
import { EventsRepo } from "./events/EventsRepo.ts"
import { FileStore } from "./files/FileStore.ts"
import { AccessLog } from "./http/AccessLog.ts"
import { DrainingServer } from "./http/DrainingServer.ts"
import { BodyLimit, EdgeLive, EdgeRouter, LargeBodyLive, NoStoreLive, routerConfig } from "./http/EdgeHttp.ts"
import { layerLeanServer } from "./http/LeanContext.ts"
import { answerMalformedRequests, watchResponses } from "./http/MalformedRequests.ts"
import { RateLimits } from "./http/RateLimits.ts"
import { ClientLimits, endSlowClients } from "./http/SlowClients.ts"
import { RequestQueue } from "./http/RequestQueue.ts"
import { RequestTimes } from "./http/RequestTimes.ts"
import { Stopping } from "./http/Stopping.ts"
import { SystemHttp } from "./SystemHttp.ts"
import { ApiKeys } from "./identity/ApiKeys.ts"
import { ApiKeysRepo } from "./identity/ApiKeysRepo.ts"
import { ApiKeyUsage } from "./identity/ApiKeyUsage.ts"
import { AuthorizationLive } from "./identity/AuthorizationHttp.ts"
import { Bootstrap } from "./identity/Bootstrap.ts"
import { IdentityHttp } from "./identity/IdentityHttp.ts"
import { Invites } from "./identity/Invites.ts"
import { InvitesRepo } from "./identity/InvitesRepo.ts"
import { Members } from "./identity/Members.ts"
import { MembersRepo } from "./identity/MembersRepo.ts"
import { PersonsRepo } from "./identity/PersonsRepo.ts"
import { Workspaces } from "./identity/Workspaces.ts"
import { WorkspacesRepo } from "./identity/WorkspacesRepo.ts"
import { PlanningHttp } from "./planning/PlanningHttp.ts"
import { Comments } from "./planning/Comments.ts"
import { CommentsRepo } from "./planning/CommentsRepo.ts"
import { StatusFilters } from "./planning/StatusFilters.ts"
import { Tags } from "./planning/Tags.ts"
import { TagsRepo } from "./planning/TagsRepo.ts"
import { TeamAudience } from "./planning/TeamAudience.ts"
import { Teams } from "./planning/Teams.ts"
import { TeamsRepo } from "./planning/TeamsRepo.ts"
import { Tickets } from "./planning/Tickets.ts"
import { TicketsHttp } from "./planning/TicketsHttp.ts"
import { TicketsRepo } from "./planning/TicketsRepo.ts"
import { TicketStatuses, TicketStatusTemplates } from "./planning/TicketStatuses.ts"
import { TicketStatusesRepo } from "./planning/TicketStatusesRepo.ts"
import { Milestones } from "./planning/Milestones.ts"
import { MilestonesRepo } from "./planning/MilestonesRepo.ts"
import { Projects } from "./planning/Projects.ts"
import { ProjectsRepo } from "./planning/ProjectsRepo.ts"
import { Views } from "./planning/Views.ts"
import { ViewsRepo } from "./planning/ViewsRepo.ts"
import { layerDatabase } from "./database/Database.ts"
import { MemoryStorage } from "./storage/MemoryStorage.ts"
import { layerMigrations } from "./storage/Migrations.ts"
import { Notices } from "./storage/Notices.ts"
import { Storage } from "./storage/Storage.ts"
import { layerTelemetry, TelemetryHttp } from "./http/Telemetry.ts"
import { Fixtures } from "./runs/Fixtures.ts"
import { Retries } from "./runs/Retries.ts"
import { RetriesHttp } from "./runs/RetriesHttp.ts"
import { RetriesRepo } from "./runs/RetriesRepo.ts"
import { LeaseWaits } from "./runs/LeaseWaits.ts"
import { RunAuthorizationLive } from "./runs/RunAuthorizationHttp.ts"
import { Semaphores } from "./runs/Semaphores.ts"
import { SemaphoresHttp } from "./runs/SemaphoresHttp.ts"
import { SemaphoresRepo } from "./runs/SemaphoresRepo.ts"
import { TestRunExpiry } from "./runs/TestRunExpiry.ts"
import * as TestRunIndexing from "./runs/search/TestRunIndexing.ts"
import { TestRunFiles } from "./runs/TestRunFiles.ts"
import { TestRunFilesRepo } from "./runs/TestRunFilesRepo.ts"
import { TestRuns } from "./runs/TestRuns.ts"
import { TestRunsHttp } from "./runs/TestRunsHttp.ts"
import { TestRunsRepo } from "./runs/TestRunsRepo.ts"
import { DataKeys } from "./vault/DataKeys.ts"
import { Vault } from "./vault/Vault.ts"
import { VaultErasure } from "./vault/VaultErasure.ts"
import { VaultEdgeLive, VaultHttp } from "./vault/VaultHttp.ts"
import { VaultKeys } from "./vault/VaultKeys.ts"
import { VaultKeysRepo } from "./vault/VaultKeysRepo.ts"
import { VaultRepo } from "./vault/VaultRepo.ts"

/** The layer graph: storage, services over it, HTTP over them. Nothing else wires anything. */

/** Every repository over a PostgreSQL client, after the migrations. */
export const layerSqlStorage = Layer.mergeAll(
  Storage.layerSql,
  Notices.layerSql,
  EventsRepo.layerSql,
  TeamAudience.layerSql,
  TeamsRepo.layerSql,
  TicketsRepo.layerSql,
  CommentsRepo.layerSql,
  TicketStatusesRepo.layerSql,
  ProjectsRepo.layerSql,
  MilestonesRepo.layerSql,
  ViewsRepo.layerSql,
  TagsRepo.layerSql,
  PersonsRepo.layerSql,
  WorkspacesRepo.layerSql,
  MembersRepo.layerSql,
  InvitesRepo.layerSql,
  ApiKeysRepo.layerSql,
  ProductsRepo.layerSql,
  EnvironmentsRepo.layerSql,
  DeploymentsRepo.layerSql,
  VaultRepo.layerSql,
  VaultKeysRepo.layerSql,
  TestRunsRepo.layerSql,
  RetriesRepo.layerSql,
  TestRunFilesRepo.layerSql,
  SemaphoresRepo.layerSql,
  SigningKeysRepo.layerSql,
  AgentsRepo.layerSql,
  SignInsRepo.layerSql,
  MessagesRepo.layerSql
).pipe(Layer.provide(layerMigrations))

/** Every repository over the memory of the process, gone with it. */
export const layerMemoryStorage = Layer.mergeAll(
  Storage.layerMemory,
  Notices.layerMemory,
  EventsRepo.layerMemory,
  TeamAudience.layerMemory,
  TeamsRepo.layerMemory,
  TicketsRepo.layerMemory,
  CommentsRepo.layerMemory,
  TicketStatusesRepo.layerMemory,
  ProjectsRepo.layerMemory,
  MilestonesRepo.layerMemory,
  ViewsRepo.layerMemory,
  TagsRepo.layerMemory,
  PersonsRepo.layerMemory,
  WorkspacesRepo.layerMemory,
  MembersRepo.layerMemory,
  InvitesRepo.layerMemory,
  ApiKeysRepo.layerMemory,
  ProductsRepo.layerMemory,
  EnvironmentsRepo.layerMemory,
  DeploymentsRepo.layerMemory,
  VaultRepo.layerMemory,
  VaultKeysRepo.layerMemory,
  TestRunsRepo.layerMemory,
  RetriesRepo.layerMemory,
  TestRunFilesRepo.layerMemory,
  SemaphoresRepo.layerMemory,
  SigningKeysRepo.layerMemory,
  AgentsRepo.layerMemory,
  SignInsRepo.layerMemory,
  MessagesRepo.layerMemory
).pipe(Layer.provide(MemoryStorage.layer))

/** Every service, over a storage, a file store and a keyring. */
const layerServices = Layer.mergeAll(
  Bootstrap.layer,
  Workspaces.layer,
  Members.layer,
  Invites.layer,
  Products.layer,
  Environments.layer,
  Teams.layer,
  Comments.layer,
  TicketStatuses.layer,
  Projects.layer,
  Milestones.layer,
  Views.layer,
  Tags.layer,
  TestRunFiles.layer,
  Retries.layer,
  TestRunExpiry,
  TestRunIndexing.layer,
  Semaphores.layer,
  VaultErasure,
  Agents.layer,
  AgentSessions.layer
).pipe(
  Layer.provideMerge([ChangedMembers, SignIns.layer, Inbox.layer]),
  Layer.provideMerge([AgentUsage.layer, Messages.layer, InboxWaits.layer]),
  Layer.provideMerge([TestRuns.layer, Vault.layer, Tickets.layer, StatusFilters.layer]),
  Layer.provideMerge([ApiKeys.layer, Deployments.layer, Fixtures.layer, DataKeys.layer, LeaseWaits.layer]),
  Layer.provideMerge([ApiKeyUsage.layer, Events.layer, SigningKeys.layer, TicketStatusTemplates]),
  // Before anything is sealed: the keys are those of this database.
  Layer.provideMerge(VaultKeys.layerProven),
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

/** The page of the API's description, made when it is first asked for: its script takes 13 MiB. */
const DocsPage = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const scope = yield* Effect.scope
    const page = yield* Effect.cached(
      Scope.provide(HttpRouter.toHttpEffect(HttpApiScalar.layer(DeliveryApi, { path: "/docs" })), scope)
    )
    yield* router.add("GET", "/docs", Effect.flatten(page))
  })
)

const layerRoutes = Layer.mergeAll(
  EdgeRouter,
  HttpApiBuilder.layer(DeliveryApi, { openapiPath: "/openapi.json" }),
  DocsPage,
  AgentMcp
).pipe(
  Layer.provide([
    IdentityHttp,
    CatalogHttp,
    VaultHttp,
    TestRunsHttp,
    RetriesHttp,
    SemaphoresHttp,
    PlanningHttp,
    TicketsHttp,
    AgentsHttp,
    EventsHttp,
    SystemHttp
  ]),
  Layer.provide([
    EdgeLive,
    LargeBodyLive,
    NoStoreLive,
    VaultEdgeLive,
    AuthorizationLive,
    RunAuthorizationLive,
    AgentAuthorizationLive,
    AccessLog.layer,
    RateLimits.layer
  ]),
  // Made before the routes, and so around all that they answer.
  Layer.provideMerge(TelemetryHttp)
)

const layerNodeServer = Layer.unwrap(
  Effect.gen(function* () {
    const { host, port } = yield* Settings
    const limits = yield* ClientLimits
    const stopping = yield* Stopping
    return NodeHttpServer.layerServer(
      () => {
        const options = {
          maxHeaderSize: 16 * 1024,
          headersTimeout: limits.headersMillis,
          connectionsCheckingInterval: limits.headersMillis / 2,
          // A slow upload of 100 MiB may take longer than Node's 300 s.
          requestTimeout: 0,
          keepAliveTimeout: 65_000,
          // EdgeHttp.ts answers what has none.
          requireHostHeader: false
        }
        const server = new DrainingServer(options, stopping.begin)
        const responses = watchResponses(server)
        answerMalformedRequests(server, responses)
        endSlowClients(server, responses, limits)
        return server
      },
      // A burst of connections waits for the server, and not for its client to try again.
      { host, port, backlog: 4096, gracefulShutdownTimeout: "10 seconds" }
    )
  })
)

/** The API over its services, on the socket that the settings name. */
const layerHttp = HttpRouter.serve(layerRoutes, {
  disableLogger: true,
  disableListenLog: true,
  routerConfig
}).pipe(Layer.provide(layerLeanServer), Layer.provide([BodyLimit, layerNodeServer, NodeHttpServer.layerHttpServices]))

/** The API and all services, over a storage, a file store and a keyring. */
export const layerApp = Layer.provideMerge(layerHttp, layerServices).pipe(
  Layer.provide([Stopping.layer, RequestQueue.layer]),
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
