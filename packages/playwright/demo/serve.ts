/**
 * A server that keeps running, with a workspace that looks like a real team's, and the link that signs its owner in.
 *
 *     pnpm demo --serve
 */
import { createClient, type PromiseClient } from "@delivery/client"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { main, startServer } from "../../client/test/support/server.ts"
import { chromiumOptions } from "../../server/test/support/Chromium.ts"
import {
  addCatalog,
  addPeople,
  addPolicy,
  addReleases,
  addRule,
  addRuns,
  addSecrets,
  addTickets,
  askForEvidence,
  commits,
  type Commit,
  day,
  gitOf,
  slug
} from "./history.ts"
import { addDeploymentTokens, addPublishers, addWebhooks, startSharing } from "./machines.ts"
import { startShop } from "./shop/Shop.ts"

const print = (line = ""): void => void process.stdout.write(`${line}\n`)

const hour = 60 * 60_000

interface RealRun {
  readonly commit: Commit
  /** How many milliseconds ago it is to have run. */
  readonly behind: number
  readonly isRounding?: boolean
  readonly isFlaky?: boolean
}

/** Runs the suite in `shop` and publishes it; answers the number of its run. */
type Run = (run: RealRun) => Promise<number>

const runnerOf = (
  client: PromiseClient,
  output: string,
  setBehind: (millis: number) => void,
  base: NodeJS.ProcessEnv
): Run => {
  let isFirst = true
  return async ({ behind, commit, isFlaky = false, isRounding = false }) => {
    setBehind(behind)
    const shop = await startShop({ isRounding })
    const config = join(import.meta.dirname, "shop/playwright.config.ts")
    const environment = {
      ...base,
      DEMO_FLAKY: String(isFlaky),
      DEMO_RUN: JSON.stringify({
        chromium: await chromiumOptions(),
        git: gitOf(commit),
        output,
        baseURL: shop.url,
        // The first run draws what the later ones are compared with.
        updateSnapshots: isFirst ? "all" : "none"
      }),
      DELIVERY_BASE_URL: "https://staging.shop.example.com"
    }
    isFirst = false
    const node = async (environment: NodeJS.ProcessEnv, ...args: ReadonlyArray<string>) => {
      const child = spawn(process.execPath, args, {
        cwd: join(import.meta.dirname, ".."),
        env: environment,
        stdio: ["ignore", "ignore", "inherit"]
      })
      await once(child, "close")
    }
    await node(environment, join(import.meta.dirname, "../node_modules/@playwright/test/cli.js"), "test", "-c", config)
    const [latest] = (await client.testRuns.list({ params: { slug } })).runs
    const number = latest?.number ?? 0
    if (isFlaky) {
      const retry = [
        join(import.meta.dirname, "../src/cli.ts"),
        "retry",
        String(number),
        "--passes",
        "1",
        "--",
        "-c",
        config
      ]
      await node({ ...environment, DEMO_FLAKY: "false" }, ...retry)
    }
    await shop.close()
    return number
  }
}

const folder = await mkdtemp(join(tmpdir(), "delivery-demo-"))
const clock = join(folder, "clock")
const setBehind = (millis: number) => writeFileSync(clock, String(millis))
const output = join(folder, "output")
await mkdir(output)

await using resources = new AsyncDisposableStack()
resources.defer(() => rm(folder, { recursive: true, force: true }))

print("Starting a server with an embedded database ...")
const nodeFlags = ["--import", pathToFileURL(join(import.meta.dirname, "clock.ts")).href]
setBehind(26 * day)
const settings = Object.fromEntries(
  ["PORT", "WEBSITE"].flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
)
const server = resources.adopt(
  await startServer({ DEMO_CLOCK: clock, WEBHOOK_PRIVATE: "true", ...settings }, nodeFlags),
  (server) => server.stop()
)
const client = createClient({ baseUrl: server.url, apiKey: server.apiKey })

print("Filling its workspace: products, secrets, people, tickets, releases ...")
await addCatalog(client)
await addSecrets(client)
const people = (await addPeople(client, server.url))
  .slice(0, 3)
  .map((apiKey) => createClient({ baseUrl: server.url, apiKey }))
await addTickets(client)
await addReleases(client, setBehind)

print("Running a suite of Playwright, and telling its past ...")
const { CI: _, ...environment } = process.env
const run = runnerOf(client, output, setBehind, {
  ...environment,
  DEMO_CLOCK: clock,
  NODE_OPTIONS: nodeFlags.join(" "),
  DELIVERY_URL: server.url,
  DELIVERY_API_KEY: server.apiKey,
  DELIVERY_WORKSPACE: slug,
  DELIVERY_PRODUCT: "shop",
  DELIVERY_ENVIRONMENT: "staging"
})
const first = await run({ commit: commits[0]!, behind: 25 * day })
await addRuns(people, await client.testRuns.get({ params: { slug, run: first } }), setBehind)

const release = (environment: string, commit: Commit) =>
  client.deployments.update({
    params: { slug, product: "shop", environment },
    payload: { version: commit.sha, commits: [{ ...commit, author: "Ben Okafor" }] }
  })
setBehind(3 * hour)
await release("staging", commits[6]!)
await run({ commit: commits[6]!, behind: 2 * hour, isFlaky: true })
setBehind(hour / 2)
const rule = await addRule(client, await client.testRuns.get({ params: { slug, run: first } }))
await addDeploymentTokens(client, server.url)
await addPublishers(client)
resources.defer(await addWebhooks(client))
await release("staging", commits[7]!)
await run({ commit: commits[7]!, behind: hour / 6, isRounding: true })
await askForEvidence(client, rule)
await addPolicy(client)
rmSync(clock)
resources.defer(await startSharing(people[1]!, commits[7]!))

const me = await client.me.get()
const { stdout } = await promisify(execFile)(
  process.execPath,
  [main, "sign-in-link", me.kind === "user" ? me.email : ""],
  {
    env: { PATH: process.env["PATH"], DATA_DIR: server.dataDir }
  }
)
const link = /http\S+#ltk_\S+/.exec(stdout)?.[0]
print()
print(`The server answers at ${server.url} until you press Ctrl+C; its data is gone then.`)
print(`The API key of its owner is ${server.apiKey}, and this link signs them in with a browser, once:`)
print()
print(`  ${link}`)
print()
await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")])
