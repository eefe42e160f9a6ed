import { createClient, type PromiseClient, type TestRun } from "@delivery/client"
import { access, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningServer, startServer } from "../../client/test/support/server.ts"
import {
  configuration,
  makeProject,
  type Outcome,
  type Project,
  publishingTo,
  runPlaywright
} from "./support/project.ts"
import { type Proxy, startProxy } from "./support/proxy.ts"

/** Real suites in shards, each a process of its own, which publish one run (docs/contract.md, Shards). */

const slug = "main"

interface Service {
  readonly server: RunningServer
  readonly client: PromiseClient
  readonly environment: Readonly<Record<string, string>>
}

let service: Service
const projects: Array<Project> = []
const proxies: Array<Proxy> = []

const serviceOf = async (settings: Readonly<Record<string, string>> = {}): Promise<Service> => {
  const server = await startServer(settings)
  const client = createClient({ baseUrl: server.url, apiKey: server.apiKey })
  const params = { slug }
  await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "website" } })
  await client.environments.create({ params, payload: { slug: "staging", name: "Staging", class: "non-production" } })
  const baseUrl = "https://deployed.shop.example.com"
  await client.deployments.create({ params, payload: { product: "shop", environment: "staging", baseUrl } })
  return { server, client, environment: publishingTo(server) }
}

beforeAll(async () => {
  service = await serviceOf()
}, 240_000)

afterAll(async () => {
  for (const proxy of proxies) proxy.close()
  for (const project of projects) await project.remove()
  await service.server.stop()
})

const passing = `import { test } from "@playwright/test"\ntest("works", () => {})\n`
const failing = `import { test } from "@playwright/test"\ntest("fails", () => { throw new Error("no") })\n`

/** A project whose commit is its own: the files of its tests by their names. */
const projectOf = async (commit: string, tests: Readonly<Record<string, string>>): Promise<Project> => {
  const files = Object.entries(tests).map(([name, text]) => [`tests/${name}.spec.ts`, text])
  const project = await makeProject({
    "playwright.config.ts": configuration(`{ git: { sha: "${commit}", branch: "main" } }`),
    ...Object.fromEntries(files)
  })
  projects.push(project)
  return project
}

const runShard = (
  project: Project,
  shard: string,
  more: Readonly<Record<string, string>>,
  options: Parameters<typeof runPlaywright>[2] = {}
): Promise<Outcome> =>
  runPlaywright(
    project,
    { ...service.environment, ...more },
    { ...options, args: [`--shard=${shard}`, ...(options.args ?? [])] }
  )

const runsOf = async (commit: string, { client } = service): Promise<ReadonlyArray<TestRun>> => {
  const { runs } = await client.testRuns.list({ params: { slug }, query: { commit } })
  return Promise.all(runs.map(({ number }) => client.testRuns.get({ params: { slug, run: number } })))
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false
  )

const eventually = async (isDone: () => Promise<boolean>): Promise<void> => {
  while (!(await isDone())) await new Promise((resume) => setTimeout(resume, 100))
}

/** A test that says that it runs, and then hangs unless it is told not to. */
const hanging = `
  import { test } from "@playwright/test"
  import { existsSync, writeFileSync } from "node:fs"
  test("hangs at first", async () => {
    test.setTimeout(0)
    writeFileSync("hangs", "")
    if (!existsSync("goOn")) await new Promise(() => setInterval(() => {}, 1_000))
  })
`

/** Runs a shard until its test hangs, and kills its process. */
const killShard = async (project: Project, shard: string, more: Readonly<Record<string, string>>): Promise<void> => {
  let kill: (() => boolean) | undefined
  const killed = runShard(project, shard, more, {
    onOutput: (_, process) => {
      kill = () => process.kill("SIGKILL")
    }
  })
  await eventually(() => exists(join(project.directory, "hangs")))
  await eventually(() => Promise.resolve(kill?.() === true))
  expect((await killed).exitCode).toBeNull()
}

describe("shards of one build", { concurrent: true, timeout: 240_000 }, () => {
  it("are one run: one without tests, one whose test fails, and leases in each", async () => {
    const leasing = `
      import { expect, test } from "@delivery/playwright/fixtures"
      test.use({ semaphore: { name: "sandbox", capacity: 1 } })
      test("has a lease", ({ lease }) => { expect(lease?.slot).toBe(1) })
    `
    const project = await projectOf("aaaa001", { a: leasing, b: leasing + failing.split("\n")[1] })
    const build = { DELIVERY_BUILD: "one" }
    const outcomes = await Promise.all(["1/3", "2/3", "3/3"].map((shard) => runShard(project, shard, build)))
    expect(outcomes.map(({ exitCode }) => exitCode).toSorted()).toEqual([0, 0, 1])
    const [run, ...others] = await runsOf("aaaa001")
    expect(others).toEqual([])
    expect(run).toMatchObject({
      state: "finished",
      result: "failed",
      error: null,
      counts: { total: 3, passed: 2, failed: 1 },
      shards: { total: 3, started: 3, finished: 3 }
    })
    expect(run?.tests.map(({ file, status, title }) => [file, title, status])).toEqual([
      ["b.spec.ts", "fails", "failed"],
      ["a.spec.ts", "has a lease", "passed"],
      ["b.spec.ts", "has a lease", "passed"]
    ])
    const lines = outcomes.flatMap((outcome) => outcome.lines)
    expect(lines).toHaveLength(3)
    for (const line of lines) expect(line).toContain(`Delivery: run ${run?.number} `)
    expect(lines.filter((line) => line.includes("failed (2 passed, 1 failed"))).toHaveLength(1)
    expect(lines.filter((line) => line.includes("has 1 of 3 shards"))).toHaveLength(1)
  })

  it("are one run, too, where the answer to a start is lost", async () => {
    const project = await projectOf("aaaa002", { a: passing, b: passing })
    let starts = 0
    const proxy = await startProxy(service.server.url, ({ method, url }) =>
      method === "POST" && url?.endsWith("/test-runs") && ++starts === 1 ? "loseAnswer" : "pass"
    )
    proxies.push(proxy)
    const build = { DELIVERY_BUILD: "two", DELIVERY_URL: proxy.url }
    for (const shard of ["1/2", "2/2"]) expect((await runShard(project, shard, build)).exitCode).toBe(0)
    const runs = await runsOf("aaaa002")
    expect(runs.map(({ counts, result }) => [result, counts.total])).toEqual([["passed", 2]])
    expect(starts).toBe(3)
  })

  it("are one run, too, where the answer to a finish is lost", async () => {
    const project = await projectOf("aaaa003", { a: passing, b: passing })
    let finishes = 0
    const proxy = await startProxy(service.server.url, ({ method, url }) =>
      method === "POST" && url?.endsWith("/finish") && ++finishes % 2 === 1 ? "loseAnswer" : "pass"
    )
    proxies.push(proxy)
    const build = { DELIVERY_BUILD: "three", DELIVERY_URL: proxy.url }
    const first = await runShard(project, "1/2", build)
    const last = await runShard(project, "2/2", build)
    const [run] = await runsOf("aaaa003")
    expect(first.lines).toEqual([
      `Delivery: run ${run?.number} has 1 of 2 shards (1 passed, 0 failed, 0 skipped): ${run?.url}`
    ])
    expect(last.lines).toEqual([`Delivery: run ${run?.number} passed (2 passed, 0 failed, 0 skipped): ${run?.url}`])
    expect(await project.saved()).toEqual([])
  })

  it("finish their run where one is killed and runs again", async () => {
    const project = await projectOf("aaaa004", { a: hanging, b: passing })
    const build = { DELIVERY_BUILD: "four" }
    await killShard(project, "1/3", build)
    for (const shard of ["2/3", "3/3"]) await runShard(project, shard, build)
    expect(await runsOf("aaaa004")).toMatchObject([{ state: "running", shards: { total: 3, started: 3, finished: 2 } }])
    await writeFile(join(project.directory, "goOn"), "")
    expect((await runShard(project, "1/3", build)).exitCode).toBe(0)
    expect(await runsOf("aaaa004")).toMatchObject([{ state: "finished", result: "passed", counts: { total: 2 } }])
  })

  it("are runs of their own when they run again after the end, and without a build", async () => {
    const project = await projectOf("aaaa006", { a: passing, b: passing })
    const build = { GITHUB_RUN_ID: "77", GITHUB_RUN_ATTEMPT: "1", DELIVERY_COVERAGE: "regression" }
    for (const shard of ["1/2", "2/2"]) await runShard(project, shard, build)
    expect((await runsOf("aaaa006")).map(({ counts }) => counts.total)).toEqual([2])
    // A CI runs a job again in the same build.
    const again = await runShard(project, "2/2", build)
    expect(again.lines).toEqual([
      expect.stringMatching(
        /^Delivery: this shard is run \d+, a run of its own\. The run of this build, or this shard of it, has ended\.$/
      ),
      expect.stringContaining("passed (1 passed, 0 failed, 0 skipped)")
    ])
    for (const shard of ["1/2", "2/2"]) await runShard(project, shard, { DELIVERY_COVERAGE: "regression" })
    // Another number of shards in the same build.
    const other = await runShard(project, "1/3", build)
    expect(other.lines).toEqual([
      expect.stringMatching(
        /^Delivery: this shard is run \d+, a run of its own\. The run of this build has 2 shards\.$/
      ),
      expect.stringContaining("passed (1 passed, 0 failed, 0 skipped)")
    ])
    // Another coverage in the same build.
    await runShard(project, "2/2", { ...build, GITHUB_RUN_ID: "78" })
    const critical = await runShard(project, "1/2", { ...build, GITHUB_RUN_ID: "78", DELIVERY_COVERAGE: "critical" })
    expect(critical.lines).toEqual([
      expect.stringMatching(
        /^Delivery: this shard is run \d+, a run of its own\. The run of this build is of other tests: all of the coverage regression\. All shards of a build select the same\.$/
      ),
      expect.stringContaining("passed (1 passed, 0 failed, 0 skipped)")
    ])
    const runs = await runsOf("aaaa006")
    // A part says nothing of the coverage, so that no version is ready by it.
    expect(runs.map(({ counts, coverage, shards, state }) => [counts.total, shards?.total, state, coverage])).toEqual([
      [1, undefined, "finished", null],
      [1, 2, "running", "regression"],
      [1, undefined, "finished", null],
      [1, undefined, "finished", null],
      [1, undefined, "finished", null],
      [1, undefined, "finished", null],
      [2, 2, "finished", "regression"]
    ])
  })

  it("fail nothing when they have no tests and run again after the end", async () => {
    const project = await projectOf("aaaa007", { a: passing })
    const build = { DELIVERY_BUILD: "seven" }
    for (const shard of ["1/2", "2/2", "2/2"]) await runShard(project, shard, build)
    expect((await runsOf("aaaa007")).map(({ result, state }) => [state, result])).toEqual([
      ["interrupted", null],
      ["finished", "passed"]
    ])
  })
})

// Alone, so that its shards are done long before the time of the run is over.
describe("shards of one build, one of which never comes back", { timeout: 400_000 }, () => {
  it("leave their run interrupted, with what they reported", async () => {
    const limited = await serviceOf({ RUN_LIMIT_MS: "120000" })
    const project = await projectOf("aaaa005", { a: hanging, b: failing })
    const build = { ...limited.environment, DELIVERY_BUILD: "five" }
    await killShard(project, "1/3", build)
    for (const shard of ["2/3", "3/3"]) await runShard(project, shard, build)
    await eventually(async () => (await runsOf("aaaa005", limited))[0]?.state === "interrupted")
    expect(await runsOf("aaaa005", limited)).toMatchObject([
      {
        result: null,
        counts: { total: 1, failed: 1 },
        shards: { total: 3, started: 3, finished: 2 },
        tests: [{ file: "b.spec.ts", status: "failed" }]
      }
    ])
    await limited.server.stop()
  })
})
