import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

/**
 * `pnpm test` runs every project but the slow ones; `pnpm test:slow` runs those; `pnpm test:fast` sets TEST_STORAGES=memory
 * and runs what needs neither a database, S3, a server nor a process.
 */
const isFast = process.env["TEST_STORAGES"] === "memory"

// Suites that start processes (command lines, workers, browsers, Playwright) or many embedded databases, those that kill servers,
// fill disks and flood sockets, those that race and search two servers for what must be in neither, those that ask every endpoint
// everything, long histories beside their models, and those that last as long as the real time that is their subject: minutes in all.
const slow: Readonly<Record<string, ReadonlyArray<string>>> = {
  cli: ["test/Agent.test.ts"],
  playwright: ["test/**/*.test.ts"],
  server: [
    "test/agents/McpConformance.test.ts",
    "test/agents/OAuthConformance.test.ts",
    "test/auth/MailCanaries.test.ts",
    "test/auth/MailRaces.test.ts",
    "test/auth/SingleSignOnServers.test.ts",
    "test/auth/TokenCanaries.test.ts",
    "test/browser/**/*.test.ts",
    "test/cli/**/*.test.ts",
    "test/database/EmbeddedDatabase.test.ts",
    "test/faults/**/*.test.ts",
    "test/http/BadInput.test.ts",
    "test/http/VisibilityMatrix.test.ts",
    "test/identity/PersonsModel.test.ts",
    "test/runs/LargeBodiesHttp.test.ts",
    "test/runs/RetriesModel.test.ts",
    "test/runs/SemaphoresModel.test.ts",
    "test/runs/SemaphoresTimeHttp.test.ts",
    "test/runs/search/ForgottenRuns.test.ts",
    "test/runs/search/TestRunSearch.test.ts",
    "test/telemetry/Traces.test.ts",
    "test/vault/VaultCanaries.test.ts",
    "test/vault/VaultKeys.test.ts",
    "test/workers/**/*.test.ts"
  ]
}

// It asks every endpoint as everybody: over memory in `pnpm test`, over PostgreSQL in `pnpm test:slow`.
const matrix = ["test/http/AuthorizationMatrix.test.ts"]

const project = (name: string) => ({
  name,
  root: `packages/${name}`,
  include: ["test/**/*.test.ts"],
  exclude: [...(slow[name] ?? [])]
})

// Starts what the server's suites share (the database); runs once, before the first of them.
const serverSetup = `${import.meta.dirname}/packages/server/test/globalSetup.ts`

// Tests start many servers, and each compiles the same modules.
const compileCache = { NODE_COMPILE_CACHE: `${import.meta.dirname}/node_modules/.cache/compile` }

const server = {
  ...project("server"),
  exclude: [...slow["server"]!, ...matrix],
  globalSetup: isFast ? [] : [serverSetup],
  // Of the S3 server that suites start, and nothing of the machine's own.
  env: {
    ...compileCache,
    AWS_ACCESS_KEY_ID: "S3RVER",
    AWS_SECRET_ACCESS_KEY: "S3RVER",
    AWS_PROFILE: "",
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_EC2_METADATA_DISABLED: "true"
  }
}

// What `pnpm test:fast` leaves out: suites that need PostgreSQL, the embedded database or S3, whatever the storages; those that
// send requests to a server, since the rules behind the endpoints have suites of their own; those that send many megabytes; and
// those that ask everything of all that there is.
const needMore = [
  "test/**/*Http.test.ts",
  "test/agents/Authorizations.test.ts",
  "test/agents/ClientDocuments.test.ts",
  "test/agents/Mcp*.test.ts",
  "test/audit/AuditTogether.test.ts",
  "test/auth/**",
  "test/database/**",
  "test/files/S3Files.test.ts",
  "test/http/**",
  "test/identity/ApiKeyUsage.test.ts",
  "test/releases/OlderServers.test.ts",
  "test/releases/Races.test.ts",
  "test/runs/Plans.test.ts",
  "test/runs/Semaphores.test.ts",
  "test/storage/Sql.test.ts",
  "test/storage/Tables.test.ts",
  "test/telemetry/**",
  "test/vault/VaultConcurrency.test.ts",
  "test/vault/VaultTampering.test.ts"
]

const exhaustive = [
  "test/agents/OAuthClients.test.ts",
  "test/agents/Quote.test.ts",
  // Redocly's command line takes longer than all the rest.
  "test/OpenApi.test.ts",
  "test/planning/Mentions.test.ts"
]

const slowPaths = Object.entries(slow).flatMap(([name, paths]) => paths.map((path) => `${name}/${path}`))

const projects = [
  project("domain"),
  { ...project("client"), env: compileCache },
  { ...project("cli"), env: compileCache },
  { name: "examples", root: "examples", include: ["*.test.ts"], env: compileCache },
  server,
  {
    ...server,
    name: "matrix",
    include: matrix,
    exclude: [],
    globalSetup: [],
    env: { ...server.env, TEST_STORAGES: "memory" }
  },
  { ...server, name: "slow", root: "packages", include: slowPaths, exclude: [] },
  {
    ...server,
    name: "slow matrix",
    include: matrix,
    exclude: [],
    env: { ...server.env, TEST_STORAGES: "databases" }
  }
]

const fastProjects = [
  { ...project("domain"), exclude: exhaustive },
  { ...server, exclude: [...server.exclude, ...needMore] }
]

export default defineConfig({
  test: {
    projects: (isFast ? fastProjects : projects).map((test) => ({ extends: true, test })),
    // Many tests start servers and databases, on machines that may be busy.
    testTimeout: 120_000,
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
