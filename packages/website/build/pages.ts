/** Shows several screens, which are modules of their own: each needs both. */
export const otherScreen = "src/app/OtherScreen.tsx"

/**
 * Which module each address shows first, and what follows in it, so that its page asks for all files of them at once. The first
 * pattern that matches a path decides; other paths of the website ask for the frame alone. (`src/app/router.tsx` has the routes.)
 */
export const pages: ReadonlyArray<readonly [pattern: string, module: string, ...next: ReadonlyArray<string>]> = [
  ["^/w/[^/]+/?$", "src/app/HomeScreen.tsx"],
  ["^/w/[^/]+/test-runs/?$", "src/runs/RunsScreen.tsx"],
  ["^/w/[^/]+/test-runs/[^/]+/?$", "src/runs/RunScreen.tsx"],
  ["^/w/[^/]+/test-runs/[^/]+/tests/[^/]+$", "src/runs/TestScreen.tsx"],
  ["^/w/[^/]+/tests/?$", "src/runs/CasesScreen.tsx"],
  ["^/w/[^/]+/trends/?$", "src/runs/TrendsScreen.tsx"],
  ["^/w/[^/]+/compare/?$", "src/runs/CompareScreen.tsx"],
  ["^/w/[^/]+/products/[^/]+/cases/[^/]+$", "src/runs/CaseScreen.tsx"],
  ["^/w/[^/]+/deployments/?$", "src/catalog/DeploymentsScreen.tsx"],
  ["^/w/[^/]+/deployments/[^/]+/[^/]+/?$", "src/catalog/DeploymentScreen.tsx"],
  ["^/w/[^/]+/vault/?$", "src/vault/VaultScreen.tsx"],
  ["^/w/[^/]+/vault/compare/?$", "src/vault/VaultCompareScreen.tsx"],
  ["^/w/[^/]+/products/[^/]+/secrets/[^/]+$", "src/vault/SecretScreen.tsx"],
  ["^/w/[^/]+/events/?$", "src/events/EventsScreen.tsx"],
  ["^/w/[^/]+/semaphores/?$", "src/runs/SemaphoresScreen.tsx"],
  ["^/w/[^/]+/audit/?$", "src/audit/AuditScreen.tsx"],
  ["^/w/[^/]+/webhooks/?$", "src/webhooks/WebhooksScreen.tsx"],
  ["^/w/[^/]+/webhooks/[^/]+/?$", "src/webhooks/WebhookScreen.tsx"],
  ["^/w/[^/]+/inbox/?$", "src/agents/InboxScreen.tsx"],
  ["^/w/[^/]+/agents/?$", "src/agents/AgentsScreen.tsx"],
  ["^/w/[^/]+/tickets/?$", "src/planning/TicketsScreen.tsx", "src/planning/TicketFilterBar.tsx"],
  [
    "^/w/[^/]+/tickets/[^/]+/?$",
    "src/planning/TicketScreen.tsx",
    "src/planning/TicketProperties.tsx",
    "src/planning/TicketActivity.tsx"
  ],
  ["^/w/[^/]+/views/[^/]+/?$", "src/planning/ViewScreen.tsx", "src/planning/TicketFilterBar.tsx"],
  ["^/w/[^/]+/projects/?$", "src/planning/ProjectsScreen.tsx"],
  [
    "^/w/[^/]+/projects/[^/]+/?$",
    "src/planning/ProjectScreen.tsx",
    "src/planning/ProjectProperties.tsx",
    "src/planning/Milestones.tsx"
  ],
  ["^/w/[^/]+/teams/?$", "src/planning/TeamsScreen.tsx"],
  [
    "^/w/[^/]+/teams/[^/]+/?$",
    "src/planning/TeamScreen.tsx",
    "src/planning/TeamMembers.tsx",
    "src/planning/Statuses.tsx",
    "src/planning/Tags.tsx"
  ],
  ["^/w/[^/]+/products/[^/]+/?$", "src/catalog/ProductScreen.tsx", otherScreen],
  ["^/w/[^/]+/environments/[^/]+/?$", "src/catalog/EnvironmentScreen.tsx", otherScreen],
  ["^/w/[^/]+/(?:products/[^/]+/)?muted-tests/?$", "src/flow/MutedScreen.tsx", otherScreen, "src/flow/MutedList.tsx"],
  ["^/w/[^/]+/test-rules/?$", "src/flow/TestRulesScreen.tsx", otherScreen, "src/flow/TestRuleList.tsx"],
  [
    "^/w/[^/]+/(?:products/[^/]+/)?delivery/?$",
    "src/flow/DeliveryScreen.tsx",
    otherScreen,
    "src/flow/DeliveryMeasures.tsx"
  ],
  ["^/w/[^/]+/messages/[^/]+/?$", "src/agents/MessageScreen.tsx", otherScreen],
  ["^/w/[^/]+/settings/?$", "src/identity/WorkspaceScreen.tsx"],
  ["^/w/[^/]+/settings/profile/?$", "src/identity/ProfileScreen.tsx"],
  ["^/w/[^/]+/settings/credentials/?$", "src/identity/CredentialsScreen.tsx"],
  ["^/w/[^/]+/settings/trusted-publishers/?$", "src/identity/TrustedPublishersScreen.tsx"],
  ["^/w/[^/]+/settings/members/?$", "src/identity/MembersScreen.tsx"],
  ["^/w/[^/]+/settings/api-keys/?$", "src/identity/ApiKeysScreen.tsx"]
]
