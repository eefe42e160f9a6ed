import { globSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { matchesGlob } from "node:path"
import { defineConfig } from "vitest/config"

/**
 * `pnpm test` runs the first two projects, `pnpm test:slow` the slow ones, `pnpm test:exhaustive` those that try very much,
 * `pnpm test:storages` those that show again on another storage what the others have shown on one. `pnpm test:fast` sets
 * TEST_STORAGES=memory and runs what needs neither a database, S3, a server nor a process.
 */
const isFast = process.env["TEST_STORAGES"] === "memory"

// A browser beside two other suites may be slower than what a test does next: a key that is pressed before its page takes keys is
// lost, as it is for people, who press it again.
const browsers = ["packages/server", "packages/website"].map((path) => `${path}/test/browser/**/*.test.ts`)

// Those that open many screens for one question, and long ones.
const exhaustiveBrowsers = [
  "Afternoon",
  "BigBoard",
  "Headers",
  "Hostile",
  "HostileFlow",
  "HostilePeople",
  "HostilePlanning",
  "HostileTests",
  "Narrow",
  "Records",
  "ScreensNarrow"
].map((name) => `packages/website/test/browser/${name}.test.ts`)

// Long histories beside their models, soaks, conformance suites of others, thousands of clients, and races and searches of two
// servers: hours of luck, in minutes.
const exhaustive = [
  "agents/McpConformance.test.ts",
  "agents/OAuthConformance.test.ts",
  "auth/MailRaces.test.ts",
  "database/PowerLoss.test.ts",
  "faults/FullDisk.test.ts",
  "faults/ManyClients.test.ts",
  "faults/PackageManagers.test.ts",
  "faults/SlowClients.test.ts",
  "faults/Soak.test.ts",
  "identity/PersonsModel.test.ts",
  "runs/RetriesModel.test.ts",
  "runs/SemaphoresModel.test.ts",
  "runs/cases/CasesPlanted.test.ts",
  "runs/search/ForgottenRuns.test.ts",
  "runs/search/TestRunSearch.test.ts"
].map((path) => `packages/server/test/${path}`)

// Suites that start processes (command lines, workers, browsers, Playwright) or many embedded databases, those that kill servers
// and flood sockets, those that ask every endpoint everything, and those that last as long as the real time that is their subject:
// minutes in all.
const slow = [
  "examples/examples.test.ts",
  "examples/testing.test.ts",
  "packages/cli/test/Agent.test.ts",
  "packages/cli/test/Ci.test.ts",
  "packages/cli/test/CommandLine.test.ts",
  "packages/cli/test/Login.test.ts",
  "packages/cli/test/ProductStarts.test.ts",
  "packages/cli/test/RunsPlaywright.test.ts",
  "packages/cli/test/SecretsDocs.test.ts",
  "packages/cli/test/SecretsRun.test.ts",
  "packages/cli/test/WrongSettings.test.ts",
  "packages/playwright/test/**/*.test.ts",
  ...browsers,
  "packages/vitest/test/**/*.test.ts",
  ...[
    "auth/MailCanaries.test.ts",
    "auth/SingleSignOnServers.test.ts",
    "auth/TokenCanaries.test.ts",
    "backups/**/*.test.ts",
    "cli/**/*.test.ts",
    "database/EmbeddedDatabase.test.ts",
    "faults/**/*.test.ts",
    "http/AuthorizationMatrix.test.ts",
    "http/BadInput.test.ts",
    "http/VisibilityMatrix.test.ts",
    "runs/LargeBodiesHttp.test.ts",
    "runs/SemaphoresTimeHttp.test.ts",
    "telemetry/Traces.test.ts",
    "vault/VaultCanaries.test.ts",
    "vault/VaultKeys.test.ts",
    "workers/**/*.test.ts"
  ].map((path) => `packages/server/test/${path}`)
]

// What many do at once. The embedded database does one thing after the other, for minutes: it has them in `pnpm test:storages`.
const races = [
  "agents/SignIns.test.ts",
  "auth/EndedSessions.test.ts",
  "auth/SessionRaces.test.ts",
  "auth/TokenExchangeRaces.test.ts",
  "planning/Projects.test.ts",
  "planning/TicketsConcurrency.test.ts",
  "planning/TicketsOrder.test.ts",
  "planning/TicketStatuses.test.ts",
  "planning/Views.test.ts",
  "runs/cases/CountingRaces.test.ts",
  "runs/erasure/ErasureRaces.test.ts",
  "runs/Races.test.ts",
  "runs/RetriesConcurrency.test.ts",
  "runs/RunShardsRaces.test.ts",
  "runs/SavedFilters.test.ts",
  "vault/ApprovalRaces.test.ts"
].map((path) => `packages/server/test/${path}`)

// What `pnpm test:fast` leaves out: suites that need PostgreSQL, the embedded database or S3, whatever the storages; those that
// send requests to a server, since the rules behind the endpoints have suites of their own; those that send many megabytes; and
// those that ask everything of all that there is.
const needMore = [
  "**/*Http.test.ts",
  "agents/Authorizations.test.ts",
  "agents/ClientDocuments.test.ts",
  "agents/Mcp*.test.ts",
  "audit/AuditPlans.test.ts",
  "audit/AuditTogether.test.ts",
  "auth/**",
  "database/**",
  "deploy/Races.test.ts",
  "files/S3Files.test.ts",
  "http/**",
  "identity/ApiKeyUsage.test.ts",
  "releases/OlderServers.test.ts",
  "releases/Races.test.ts",
  "runs/cases/CasesUpgrade.test.ts",
  "runs/cases/CountingRaces.test.ts",
  "runs/Plans.test.ts",
  "runs/Semaphores.test.ts",
  "storage/Sql.test.ts",
  "storage/Tables.test.ts",
  "telemetry/**",
  "vault/ApprovalRaces.test.ts",
  "vault/VaultConcurrency.test.ts",
  "vault/VaultTampering.test.ts"
].map((path) => `packages/server/test/${path}`)

const wide = [
  "agents/OAuthClients.test.ts",
  "agents/Quote.test.ts",
  // Redocly's command line takes longer than all the rest.
  "OpenApi.test.ts",
  "planning/Mentions.test.ts"
].map((path) => `packages/domain/test/${path}`)

// One project of all packages: each project has processes of its own, and each of these loads all modules.
const packages = {
  name: "packages",
  root: import.meta.dirname,
  include: ["packages/*/test/**/*.test.ts", "examples/*.test.ts"],
  exclude: [...slow, ...exhaustive, ...races],
  // Starts what the server's suites share (the database); runs once, before the first of them.
  globalSetup: [`${import.meta.dirname}/packages/server/test/globalSetup.ts`],
  env: {
    // Tests start many servers, and each compiles the same modules.
    NODE_COMPILE_CACHE: `${import.meta.dirname}/node_modules/.cache/compile`,
    // Of the S3 server that suites start, and nothing of the machine's own.
    AWS_ACCESS_KEY_ID: "S3RVER",
    AWS_SECRET_ACCESS_KEY: "S3RVER",
    AWS_PROFILE: "",
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_EC2_METADATA_DISABLED: "true"
  }
}

// Suites that send requests to a server: over memory in `pnpm test`, for the rules behind the endpoints have suites of their own
// on every storage; over PostgreSQL in `pnpm test:storages`.
const overHttp = globSync(["packages/server/test/**/*.test.ts"], { cwd: import.meta.dirname }).filter(
  (path) =>
    ![...slow, ...exhaustive, ...races, "packages/server/test/webhooks/WebhookWaitsHttp.test.ts"].some((one) =>
      matchesGlob(path, one)
    ) &&
    /\b(?:onEachServer|withClockOnEachServer|servers)\b/.test(readFileSync(`${import.meta.dirname}/${path}`, "utf8"))
)

// What ends servers and waits for processes meets time limits of the product, which a machine that runs something else as well may not
// keep. The output says "retry x1" beside a test that passed at the second try.
const whereShared = process.env["CI"] === undefined ? 0 : 1

const ofBrowsers = {
  ...packages,
  globalSetup: [...packages.globalSetup, `${import.meta.dirname}/packages/website/test/globalSetup.ts`],
  retry: 1
}

const withEnv = (env: Readonly<Record<string, string>>) => ({ ...packages, env: { ...packages.env, ...env } })

const projects = [
  withEnv({ TEST_SERVERS: "memory" }),
  { ...withEnv({ TEST_STORAGES: "memory,PostgreSQL" }), name: "races", include: races, exclude: [] },
  {
    ...packages,
    name: "slow",
    include: slow,
    exclude: [...browsers, ...exhaustive],
    retry: whereShared,
    globalSetup: [...packages.globalSetup, `${import.meta.dirname}/packages/cli/test/globalSetup.ts`]
  },
  { ...ofBrowsers, name: "slow browsers", include: browsers, exclude: exhaustiveBrowsers },
  { ...packages, name: "exhaustive", include: exhaustive, exclude: [], retry: whereShared },
  { ...ofBrowsers, name: "exhaustive browsers", include: exhaustiveBrowsers, exclude: [] },
  {
    ...ofBrowsers,
    env: withEnv({ TEST_SITES: "PostgreSQL" }).env,
    name: "storage browsers",
    include: ["packages/website/test/browser/**/*.test.ts"],
    exclude: []
  },
  { ...withEnv({ TEST_SERVERS: "PostgreSQL" }), name: "storage servers", include: overHttp, exclude: [] },
  { ...withEnv({ TEST_STORAGES: "the embedded database" }), name: "storage races", include: races, exclude: [] }
]

const fastProject = {
  ...packages,
  include: ["packages/domain/test/**/*.test.ts", "packages/server/test/**/*.test.ts"],
  exclude: [...slow, ...exhaustive, ...needMore, ...wide],
  globalSetup: []
}

export default defineConfig({
  test: {
    projects: (isFast ? [fastProject] : projects).map((test) => ({ extends: true, test })),
    // Many tests start servers and databases, on machines that may be busy.
    testTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 120_000,
    // A process runs many files: loading Effect anew for each costs more than the tests. Files share modules, so they
    // may not leave changes in them, in process.env or in globals.
    isolate: false,
    // Node itself takes the types off and keeps what it compiled; through Vite all calls between modules are slower.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // One more than processors, since tests wait for databases and timers a quarter of their time. No more than four, since
    // each may hold an embedded database of several hundred megabytes.
    maxWorkers: Math.min(4, availableParallelism() + 1),
    // .ci/run reads its counts from the file.
    reporters:
      process.env["TEST_RESULTS"] === undefined
        ? ["default"]
        : ["default", ["json", { outputFile: process.env["TEST_RESULTS"] }]]
  }
})
