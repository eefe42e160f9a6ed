import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect
} from "@tanstack/react-router"
import type { QueryClient } from "@tanstack/react-query"
import { queryClient } from "../api/queries.ts"
import { readAuditFilters } from "../audit/filters.ts"
import { meQuery } from "../api/session.ts"
import { deploymentsQuery } from "../catalog/queries.ts"
import { readDeploymentSearch } from "../catalog/search.ts"
import { readCredentialsSearch, readKeysSearch } from "../identity/search.ts"
import { readRunFilters } from "../runs/filters.ts"
import { runErrorsQuery, runQuery, runsQuery } from "../runs/queries.ts"
import {
  readCaseSearch,
  readCasesSearch,
  readCompareSearch,
  readTestSearch,
  readTestsSearch,
  readTrendsSearch
} from "../runs/search.ts"
import { readVaultCompareSearch, readVaultSearch } from "../vault/search.ts"
import { vaultQuery } from "../vault/queries.ts"
import { NotFound, ScreenFailure } from "./Failures.tsx"
import { Shell } from "./Shell.tsx"
import { lastWorkspace } from "./workspace.ts"

/** The addresses of the website. Each screen is loaded when it is first shown, or when the pointer is over a link to it. */

const root = createRootRouteWithContext<{ readonly queries: QueryClient }>()({ component: Outlet })

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: async ({ context }) => {
    const { workspaces } = await context.queries.ensureQueryData(meQuery)
    const workspace = workspaces.find((one) => one.slug === lastWorkspace()) ?? workspaces[0]
    if (workspace !== undefined) throw redirect({ to: "/w/$slug", params: { slug: workspace.slug }, replace: true })
  },
  component: lazyRouteComponent(() => import("./NoWorkspace.tsx"))
})

const workspace = createRoute({ getParentRoute: () => root, path: "/w/$slug", component: Shell })

const overview = createRoute({
  getParentRoute: () => workspace,
  path: "/",
  component: lazyRouteComponent(() => import("./HomeScreen.tsx"))
})

const runs = createRoute({
  getParentRoute: () => workspace,
  path: "/test-runs",
  validateSearch: readRunFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps, params }) => void context.queries.prefetchInfiniteQuery(runsQuery(params.slug, deps)),
  component: lazyRouteComponent(() => import("../runs/RunsScreen.tsx"))
})

const run = createRoute({
  getParentRoute: () => workspace,
  path: "/test-runs/$run",
  validateSearch: readTestsSearch,
  loader: ({ context, params }) => {
    const number = Number(params.run)
    void context.queries.prefetchQuery(runQuery(params.slug, number))
    void context.queries.prefetchQuery(runErrorsQuery(params.slug, number))
  },
  component: lazyRouteComponent(() => import("../runs/RunScreen.tsx"))
})

const test = createRoute({
  getParentRoute: () => workspace,
  path: "/test-runs/$run/tests/$case",
  validateSearch: readTestSearch,
  loader: ({ context, params }) => void context.queries.prefetchQuery(runQuery(params.slug, Number(params.run))),
  component: lazyRouteComponent(() => import("../runs/TestScreen.tsx"))
})

const compare = createRoute({
  getParentRoute: () => workspace,
  path: "/compare",
  validateSearch: readCompareSearch,
  component: lazyRouteComponent(() => import("../runs/CompareScreen.tsx"))
})

const cases = createRoute({
  getParentRoute: () => workspace,
  path: "/tests",
  validateSearch: readCasesSearch,
  component: lazyRouteComponent(() => import("../runs/CasesScreen.tsx"))
})

const oneCase = createRoute({
  getParentRoute: () => workspace,
  path: "/products/$product/cases/$case",
  validateSearch: readCaseSearch,
  component: lazyRouteComponent(() => import("../runs/CaseScreen.tsx"))
})

const trends = createRoute({
  getParentRoute: () => workspace,
  path: "/trends",
  validateSearch: readTrendsSearch,
  component: lazyRouteComponent(() => import("../runs/TrendsScreen.tsx"))
})

const deployments = createRoute({
  getParentRoute: () => workspace,
  path: "/deployments",
  loader: ({ context, params }) => void context.queries.prefetchQuery(deploymentsQuery(params.slug)),
  component: lazyRouteComponent(() => import("../catalog/DeploymentsScreen.tsx"))
})

const deployment = createRoute({
  getParentRoute: () => workspace,
  path: "/deployments/$product/$environment",
  validateSearch: readDeploymentSearch,
  component: lazyRouteComponent(() => import("../catalog/DeploymentScreen.tsx"))
})

const vault = createRoute({
  getParentRoute: () => workspace,
  path: "/vault",
  validateSearch: readVaultSearch,
  loader: ({ context, params }) => void context.queries.prefetchQuery(vaultQuery(params.slug)),
  component: lazyRouteComponent(() => import("../vault/VaultScreen.tsx"))
})

const vaultCompare = createRoute({
  getParentRoute: () => workspace,
  path: "/vault/compare",
  validateSearch: readVaultCompareSearch,
  loader: ({ context, params }) => void context.queries.prefetchQuery(vaultQuery(params.slug)),
  component: lazyRouteComponent(() => import("../vault/VaultCompareScreen.tsx"))
})

const secret = createRoute({
  getParentRoute: () => workspace,
  path: "/products/$product/secrets/$name",
  component: lazyRouteComponent(() => import("../vault/SecretScreen.tsx"))
})

const semaphores = createRoute({
  getParentRoute: () => workspace,
  path: "/semaphores",
  component: lazyRouteComponent(() => import("../runs/SemaphoresScreen.tsx"))
})

const members = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/members",
  component: lazyRouteComponent(() => import("../identity/MembersScreen.tsx"))
})

const keys = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/api-keys",
  validateSearch: readKeysSearch,
  component: lazyRouteComponent(() => import("../identity/ApiKeysScreen.tsx"))
})

const settings = createRoute({
  getParentRoute: () => workspace,
  path: "/settings",
  component: lazyRouteComponent(() => import("../identity/WorkspaceScreen.tsx"))
})

const profile = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/profile",
  component: lazyRouteComponent(() => import("../identity/ProfileScreen.tsx"))
})

const credentials = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/credentials",
  validateSearch: readCredentialsSearch,
  component: lazyRouteComponent(() => import("../identity/CredentialsScreen.tsx"))
})

const publishers = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/trusted-publishers",
  component: lazyRouteComponent(() => import("../identity/TrustedPublishersScreen.tsx"))
})

const events = createRoute({
  getParentRoute: () => workspace,
  path: "/events",
  component: lazyRouteComponent(() => import("../events/EventsScreen.tsx"))
})

const audit = createRoute({
  getParentRoute: () => workspace,
  path: "/audit",
  validateSearch: readAuditFilters,
  component: lazyRouteComponent(() => import("../audit/AuditScreen.tsx"))
})

const webhooks = createRoute({
  getParentRoute: () => workspace,
  path: "/webhooks",
  component: lazyRouteComponent(() => import("../webhooks/WebhooksScreen.tsx"))
})

const webhook = createRoute({
  getParentRoute: () => workspace,
  path: "/webhooks/$webhook",
  component: lazyRouteComponent(() => import("../webhooks/WebhookScreen.tsx"))
})

/** What has no screen yet. */
const other = createRoute({
  getParentRoute: () => workspace,
  path: "/$",
  component: lazyRouteComponent(() => import("./FactsScreen.tsx"))
})

const screens = workspace.addChildren([
  overview,
  runs,
  run,
  test,
  compare,
  cases,
  oneCase,
  trends,
  deployments,
  deployment,
  vault,
  vaultCompare,
  secret,
  semaphores,
  settings,
  profile,
  members,
  keys,
  credentials,
  publishers,
  events,
  audit,
  webhooks,
  webhook,
  other
])

// The parts of the design, where the website is developed.
const design = import.meta.env.DEV
  ? [
      createRoute({
        getParentRoute: () => root,
        path: "/design",
        component: lazyRouteComponent(() => import("../design/DesignScreen.tsx"))
      })
    ]
  : []

export const router = createRouter({
  routeTree: root.addChildren([home, screens, ...design]),
  context: { queries: queryClient },
  defaultPreload: "intent",
  defaultPreloadDelay: 40,
  // The queries keep what was read, and say when it is old.
  defaultPreloadStaleTime: 0,
  defaultPendingMs: 150,
  defaultErrorComponent: ScreenFailure,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
  scrollToTopSelectors: ["#screen"]
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}
