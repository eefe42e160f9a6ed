import { HttpApi, OpenApi } from "effect/http-api"
import { AgentApi } from "./agents/AgentApi.ts"
import { AgentInboxApi } from "./agents/AgentInboxApi.ts"
import { AgentPlanningApi } from "./agents/AgentPlanningApi.ts"
import { AgentsApi } from "./agents/AgentsApi.ts"
import { AuthorizationsApi } from "./agents/AuthorizationsApi.ts"
import { MessagesApi } from "./agents/MessagesApi.ts"
import { NotificationsApi } from "./agents/NotificationsApi.ts"
import { OAuthApi } from "./agents/OAuthApi.ts"
import { AuditApi } from "./audit/AuditApi.ts"
import { AuthApi } from "./auth/AuthApi.ts"
import { LoginsApi } from "./auth/LoginsApi.ts"
import { TokensApi } from "./auth/TokensApi.ts"
import { ApprovalsApi } from "./catalog/ApprovalsApi.ts"
import { DeploymentsApi } from "./catalog/DeploymentsApi.ts"
import { EnvironmentsApi } from "./catalog/EnvironmentsApi.ts"
import { ProductsApi } from "./catalog/ProductsApi.ts"
import { DeployApi } from "./deploy/DeployApi.ts"
import { DeploymentTokensApi } from "./deploy/DeploymentTokensApi.ts"
import { EventsApi } from "./events/EventsApi.ts"
import { TestRulesApi } from "./flow/TestRulesApi.ts"
import { EvidenceApi } from "./flow/EvidenceApi.ts"
import { MutesApi } from "./flow/MutesApi.ts"
import { MetricsApi } from "./flow/MetricsApi.ts"
import { ReadinessApi } from "./flow/ReadinessApi.ts"
import { AccountApiKeysApi } from "./identity/AccountApiKeysApi.ts"
import { ApiKeysApi } from "./identity/ApiKeysApi.ts"
import { CredentialsApi } from "./identity/CredentialsApi.ts"
import { InvitesApi } from "./identity/InvitesApi.ts"
import { MeApi } from "./identity/MeApi.ts"
import { MembersApi } from "./identity/MembersApi.ts"
import { TrustedPublishersApi } from "./identity/TrustedPublishersApi.ts"
import { WorkspacesApi } from "./identity/WorkspacesApi.ts"
import { overview, transform } from "./OpenApi.ts"
import { AttachmentsApi } from "./planning/AttachmentsApi.ts"
import { CommentsApi } from "./planning/CommentsApi.ts"
import { TagsApi } from "./planning/TagsApi.ts"
import { TeamsApi } from "./planning/TeamsApi.ts"
import { TicketsApi } from "./planning/TicketsApi.ts"
import { TicketNotificationsApi } from "./planning/TicketNotificationsApi.ts"
import { TicketStatusesApi } from "./planning/TicketStatusesApi.ts"
import { ProjectsApi } from "./planning/ProjectsApi.ts"
import { ViewsApi } from "./planning/ViewsApi.ts"
import { ReleasesApi } from "./releases/ReleasesApi.ts"
import { SystemApi } from "./SystemApi.ts"
import { CasesApi } from "./runs/CasesApi.ts"
import { RetriesApi } from "./runs/RetriesApi.ts"
import { SavedFiltersApi } from "./runs/SavedFiltersApi.ts"
import { LeasesApi, SemaphoresApi } from "./runs/SemaphoresApi.ts"
import { TestRunsApi } from "./runs/TestRunsApi.ts"
import { VaultApi } from "./vault/VaultApi.ts"
import { WebhooksApi } from "./webhooks/WebhooksApi.ts"

/** The whole HTTP interface of the service: the server supplies it, clients are derived from it. */
export class DeliveryApi extends HttpApi.make("delivery")
  .add(MeApi)
  .add(WorkspacesApi)
  .add(MembersApi)
  .add(InvitesApi)
  .add(ApiKeysApi)
  .add(AccountApiKeysApi)
  .add(CredentialsApi)
  .add(TrustedPublishersApi)
  .add(AuthApi)
  .add(LoginsApi)
  .add(TokensApi)
  .add(ProductsApi)
  .add(EnvironmentsApi)
  .add(ApprovalsApi)
  .add(DeploymentsApi)
  .add(VaultApi)
  .add(DeploymentTokensApi)
  .add(DeployApi)
  .add(TestRunsApi)
  .add(RetriesApi)
  .add(CasesApi)
  .add(SavedFiltersApi)
  .add(SemaphoresApi)
  .add(LeasesApi)
  .add(TeamsApi)
  .add(TicketsApi)
  .add(MutesApi)
  .add(EvidenceApi)
  .add(TestRulesApi)
  .add(CommentsApi)
  .add(TicketNotificationsApi)
  .add(AttachmentsApi)
  .add(TicketStatusesApi)
  .add(ProjectsApi)
  .add(ViewsApi)
  .add(AgentsApi)
  .add(AgentApi)
  .add(AgentInboxApi)
  .add(AgentPlanningApi)
  .add(OAuthApi)
  .add(AuthorizationsApi)
  .add(MessagesApi)
  .add(NotificationsApi)
  .add(TagsApi)
  .add(ReleasesApi)
  .add(ReadinessApi)
  .add(MetricsApi)
  .add(EventsApi)
  .add(WebhooksApi)
  .add(AuditApi)
  .add(SystemApi)
  // All that is wrong with a query at once. Of bodies the first mistake: large ones may have millions (server, AllMistakes.ts).
  .annotate(HttpApi.QueryParseOptions, { errors: "all" })
  .annotateMerge(
    OpenApi.annotations({
      title: "Workspace Delivery Service",
      version: "1.0.0",
      description: overview,
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
      servers: [{ url: "/", description: "The server that sent this document." }],
      transform
    })
  ) {}
