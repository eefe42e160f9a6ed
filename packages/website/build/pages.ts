/**
 * Which module each address shows first, so that its page asks for all files of it at once. The first pattern that matches a
 * path decides; other paths of the website ask for the frame alone. (`src/app/router.tsx` has the routes.)
 */
export const pages: ReadonlyArray<readonly [pattern: string, module: string]> = [
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
  ["^/w/[^/]+/settings/?$", "src/identity/WorkspaceScreen.tsx"],
  ["^/w/[^/]+/settings/profile/?$", "src/identity/ProfileScreen.tsx"],
  ["^/w/[^/]+/settings/credentials/?$", "src/identity/CredentialsScreen.tsx"],
  ["^/w/[^/]+/settings/trusted-publishers/?$", "src/identity/TrustedPublishersScreen.tsx"],
  ["^/w/[^/]+/settings/members/?$", "src/identity/MembersScreen.tsx"],
  ["^/w/[^/]+/settings/api-keys/?$", "src/identity/ApiKeysScreen.tsx"]
]
