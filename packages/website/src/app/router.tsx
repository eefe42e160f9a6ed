import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Outlet,
  parseSearchWith,
  redirect
} from "@tanstack/react-router"
import type { QueryClient } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { cursorQuery } from "../api/cursor.ts"
import { queryClient } from "../api/queries.ts"
import { readAuditFilters } from "../audit/filters.ts"
import { meQuery } from "../api/session.ts"
import { readDeploymentSearch } from "../catalog/search.ts"
import { readCredentialsSearch, readKeysSearch } from "../identity/search.ts"
import { readTicketsSearch } from "../planning/search.ts"
import { readRunFilters } from "../runs/filters.ts"
import {
  readCaseSearch,
  readCasesSearch,
  readCompareSearch,
  readTestSearch,
  readTestsSearch,
  readTrendsSearch
} from "../runs/search.ts"
import { type Address, oneAt, parameter, textsAt, withoutUndefined } from "../ui/address.ts"
import { later } from "../ui/later.tsx"
import { readVaultCompareSearch, readVaultSearch } from "../vault/search.ts"
import { ScreenFailure } from "./ScreenFailure.tsx"
import { Shell } from "./Shell.tsx"
import { lastWorkspace } from "./workspace.ts"

/** The addresses of the website. Screens are loaded when they are first shown, and the others once the page has come to rest. */

/** What a module exports by default. Its type is not looked at: screens know the addresses, whose types are made here. */
const screen = (load: () => Promise<unknown>) => later(load as () => Promise<{ readonly default: () => ReactNode }>)

/** One of several views of a screen, as it stands in the address; none is the first of them. */
const viewAmong =
  <const View extends string>(...views: ReadonlyArray<View>) =>
  (address: Address): { readonly view?: View } =>
    withoutUndefined({ view: oneAt(address, "view", views) })

/** What a screen shows first is asked for beside its code, and when one is about to go there. */
const ahead = <Queries,>(load: () => Promise<Queries>, read: (queries: Queries) => unknown): void => {
  // Browsers remember of a module that it could not be loaded.
  if (navigator.onLine) void load().then(read, () => undefined)
}
const ofRuns = () => import("../runs/queries.ts")
const ofCatalog = () => import("../catalog/queries.ts")
const ofVault = () => import("../vault/queries.ts")
const ofPlanning = () => import("../planning/queries.ts")

const NotFound = screen(() => import("./NotFound.tsx"))

const root = createRootRouteWithContext<{ readonly queries: QueryClient }>()({ component: Outlet })

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: async ({ context }) => {
    const { workspaces } = await context.queries.ensureQueryData(meQuery)
    const workspace = workspaces.find((one) => one.slug === lastWorkspace()) ?? workspaces[0]
    if (workspace !== undefined) throw redirect({ to: "/w/$slug", params: { slug: workspace.slug }, replace: true })
  },
  component: screen(() => import("./NoWorkspace.tsx"))
})

const workspace = createRoute({
  getParentRoute: () => root,
  path: "/w/$slug",
  loader: ({ context, params }) => void context.queries.prefetchQuery(cursorQuery(params.slug)),
  component: Shell
})

const overview = createRoute({
  getParentRoute: () => workspace,
  path: "/",
  component: screen(() => import("./HomeScreen.tsx"))
})

const inbox = createRoute({
  getParentRoute: () => workspace,
  path: "/inbox",
  validateSearch: viewAmong("all"),
  component: screen(() => import("../agents/InboxScreen.tsx"))
})

const agents = createRoute({
  getParentRoute: () => workspace,
  path: "/agents",
  validateSearch: viewAmong("messages"),
  component: screen(() => import("../agents/AgentsScreen.tsx"))
})

const tickets = createRoute({
  getParentRoute: () => workspace,
  path: "/tickets",
  validateSearch: readTicketsSearch,
  component: screen(() => import("../planning/TicketsScreen.tsx"))
})

const ticket = createRoute({
  getParentRoute: () => workspace,
  path: "/tickets/$ticket",
  loader: ({ context, params }) =>
    ahead(ofPlanning, ({ ticketQuery }) => context.queries.prefetchQuery(ticketQuery(params.slug, params.ticket))),
  component: screen(() => import("../planning/TicketScreen.tsx"))
})

const view = createRoute({
  getParentRoute: () => workspace,
  path: "/views/$view",
  validateSearch: readTicketsSearch,
  loader: ({ context, params }) =>
    ahead(ofPlanning, ({ viewQuery, viewTicketsQuery }) => {
      void context.queries.prefetchQuery(viewQuery(params.slug, params.view))
      void context.queries.prefetchQuery(viewTicketsQuery(params.slug, params.view))
    }),
  component: screen(() => import("../planning/ViewScreen.tsx"))
})

const projects = createRoute({
  getParentRoute: () => workspace,
  path: "/projects",
  validateSearch: viewAmong("archived"),
  loader: ({ context, params }) =>
    ahead(ofPlanning, ({ projectsQuery }) => context.queries.prefetchQuery(projectsQuery(params.slug))),
  component: screen(() => import("../planning/ProjectsScreen.tsx"))
})

const project = createRoute({
  getParentRoute: () => workspace,
  path: "/projects/$project",
  loader: ({ context, params }) =>
    ahead(ofPlanning, ({ projectQuery }) => context.queries.prefetchQuery(projectQuery(params.slug, params.project))),
  component: screen(() => import("../planning/ProjectScreen.tsx"))
})

const teams = createRoute({
  getParentRoute: () => workspace,
  path: "/teams",
  validateSearch: viewAmong("shared", "archived"),
  loader: ({ context, params }) =>
    ahead(ofPlanning, ({ teamsQuery }) => context.queries.prefetchQuery(teamsQuery(params.slug))),
  component: screen(() => import("../planning/TeamsScreen.tsx"))
})

const team = createRoute({
  getParentRoute: () => workspace,
  path: "/teams/$team",
  loader: ({ context, params }) =>
    ahead(ofPlanning, ({ teamQuery }) => context.queries.prefetchQuery(teamQuery(params.slug, params.team))),
  component: screen(() => import("../planning/TeamScreen.tsx"))
})

const runs = createRoute({
  getParentRoute: () => workspace,
  path: "/test-runs",
  validateSearch: readRunFilters,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps, params }) =>
    ahead(ofRuns, ({ runsQuery }) => context.queries.prefetchInfiniteQuery(runsQuery(params.slug, deps))),
  component: screen(() => import("../runs/RunsScreen.tsx"))
})

const run = createRoute({
  getParentRoute: () => workspace,
  path: "/test-runs/$run",
  validateSearch: readTestsSearch,
  loader: ({ context, params }) => {
    const number = Number(params.run)
    ahead(ofRuns, ({ runErrorsQuery, runQuery }) => {
      void context.queries.prefetchQuery(runQuery(params.slug, number))
      void context.queries.prefetchQuery(runErrorsQuery(params.slug, number))
    })
  },
  component: screen(() => import("../runs/RunScreen.tsx"))
})

const test = createRoute({
  getParentRoute: () => workspace,
  path: "/test-runs/$run/tests/$case",
  validateSearch: readTestSearch,
  loader: ({ context, params }) =>
    ahead(ofRuns, ({ runQuery }) => context.queries.prefetchQuery(runQuery(params.slug, Number(params.run)))),
  component: screen(() => import("../runs/TestScreen.tsx"))
})

const compare = createRoute({
  getParentRoute: () => workspace,
  path: "/compare",
  validateSearch: readCompareSearch,
  component: screen(() => import("../runs/CompareScreen.tsx"))
})

const cases = createRoute({
  getParentRoute: () => workspace,
  path: "/tests",
  validateSearch: readCasesSearch,
  component: screen(() => import("../runs/CasesScreen.tsx"))
})

const oneCase = createRoute({
  getParentRoute: () => workspace,
  path: "/products/$product/cases/$case",
  validateSearch: readCaseSearch,
  component: screen(() => import("../runs/CaseScreen.tsx"))
})

const trends = createRoute({
  getParentRoute: () => workspace,
  path: "/trends",
  validateSearch: readTrendsSearch,
  component: screen(() => import("../runs/TrendsScreen.tsx"))
})

const deployments = createRoute({
  getParentRoute: () => workspace,
  path: "/deployments",
  loader: ({ context, params }) =>
    ahead(ofCatalog, ({ deploymentsQuery }) => context.queries.prefetchQuery(deploymentsQuery(params.slug))),
  component: screen(() => import("../catalog/DeploymentsScreen.tsx"))
})

const deployment = createRoute({
  getParentRoute: () => workspace,
  path: "/deployments/$product/$environment",
  validateSearch: readDeploymentSearch,
  component: screen(() => import("../catalog/DeploymentScreen.tsx"))
})

const vault = createRoute({
  getParentRoute: () => workspace,
  path: "/vault",
  validateSearch: readVaultSearch,
  loader: ({ context, params }) =>
    ahead(ofVault, ({ vaultQuery }) => context.queries.prefetchQuery(vaultQuery(params.slug))),
  component: screen(() => import("../vault/VaultScreen.tsx"))
})

const vaultCompare = createRoute({
  getParentRoute: () => workspace,
  path: "/vault/compare",
  validateSearch: readVaultCompareSearch,
  loader: ({ context, params }) =>
    ahead(ofVault, ({ vaultQuery }) => context.queries.prefetchQuery(vaultQuery(params.slug))),
  component: screen(() => import("../vault/VaultCompareScreen.tsx"))
})

const secret = createRoute({
  getParentRoute: () => workspace,
  path: "/products/$product/secrets/$name",
  component: screen(() => import("../vault/SecretScreen.tsx"))
})

const semaphores = createRoute({
  getParentRoute: () => workspace,
  path: "/semaphores",
  component: screen(() => import("../runs/SemaphoresScreen.tsx"))
})

const members = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/members",
  component: screen(() => import("../identity/MembersScreen.tsx"))
})

const keys = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/api-keys",
  validateSearch: readKeysSearch,
  component: screen(() => import("../identity/ApiKeysScreen.tsx"))
})

const settings = createRoute({
  getParentRoute: () => workspace,
  path: "/settings",
  component: screen(() => import("../identity/WorkspaceScreen.tsx"))
})

const profile = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/profile",
  component: screen(() => import("../identity/ProfileScreen.tsx"))
})

const credentials = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/credentials",
  validateSearch: readCredentialsSearch,
  component: screen(() => import("../identity/CredentialsScreen.tsx"))
})

const publishers = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/trusted-publishers",
  component: screen(() => import("../identity/TrustedPublishersScreen.tsx"))
})

const events = createRoute({
  getParentRoute: () => workspace,
  path: "/events",
  validateSearch: (address: Address) => withoutUndefined({ types: textsAt(address, "types") }),
  component: screen(() => import("../events/EventsScreen.tsx"))
})

const audit = createRoute({
  getParentRoute: () => workspace,
  path: "/audit",
  validateSearch: readAuditFilters,
  component: screen(() => import("../audit/AuditScreen.tsx"))
})

const webhooks = createRoute({
  getParentRoute: () => workspace,
  path: "/webhooks",
  component: screen(() => import("../webhooks/WebhooksScreen.tsx"))
})

const webhook = createRoute({
  getParentRoute: () => workspace,
  path: "/webhooks/$webhook",
  component: screen(() => import("../webhooks/WebhookScreen.tsx"))
})

/** What is shown on the page of something else, or seldom looked at. */
const other = createRoute({
  getParentRoute: () => workspace,
  path: "/$",
  component: screen(() => import("./OtherScreen.tsx"))
})

const screens = workspace.addChildren([
  overview,
  inbox,
  agents,
  tickets,
  ticket,
  view,
  projects,
  project,
  teams,
  team,
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
        component: screen(() => import("../design/DesignScreen.tsx"))
      })
    ]
  : []

// A page that was just opened is at its top: to scroll there, the browser would lay it out in the middle of drawing it.
let isOpened = performance.getEntriesByType("navigation").some((entry) => "type" in entry && entry.type === "navigate")

export const router = createRouter({
  routeTree: root.addChildren([home, screens, ...design]),
  context: { queries: queryClient },
  parseSearch: parseSearchWith(parameter),
  defaultPreload: "intent",
  defaultPreloadDelay: 40,
  // The queries keep what was read, and say when it is old.
  defaultPreloadStaleTime: 0,
  defaultPendingMs: 150,
  defaultErrorComponent: ScreenFailure,
  defaultNotFoundComponent: () => <NotFound />,
  scrollRestoration: ({ location }) => {
    const isAtTop = isOpened && location.hash === ""
    isOpened = false
    return !isAtTop
  },
  scrollToTopSelectors: ["#screen"]
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}
