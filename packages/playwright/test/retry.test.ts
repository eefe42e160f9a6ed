import { createClient, type PromiseClient, type TestRun } from "@delivery/client"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningServer, startServer } from "../../client/test/support/server.ts"
import { type FixtureApi, startFixtureApi } from "../demo/FixtureApi.ts"
import {
  baseEnvironment,
  configuration,
  makeProject,
  type Outcome,
  type Project,
  runPlaywright
} from "./support/project.ts"

/** A real suite, its run, and retries of it by the command line. */

const slug = "main"
const cli = join(import.meta.dirname, "../src/cli.ts")

let server: RunningServer
let client: PromiseClient
let fixtures: FixtureApi
let environment: Record<string, string>
const projects: Array<Project> = []

beforeAll(async () => {
  server = await startServer()
  fixtures = await startFixtureApi(server.url)
  client = createClient({ baseUrl: server.url, apiKey: server.apiKey })
  const params = { slug }
  await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "website" } })
  await client.environments.create({ params, payload: { slug: "staging", name: "Staging", class: "non-production" } })
  await client.deployments.create({
    params,
    payload: {
      product: "shop",
      environment: "staging",
      baseUrl: "https://deployed.shop.example.com",
      fixtureUrl: fixtures.url
    }
  })
  environment = {
    DELIVERY_URL: server.url,
    DELIVERY_API_KEY: server.apiKey,
    DELIVERY_WORKSPACE: slug,
    DELIVERY_PRODUCT: "shop",
    DELIVERY_ENVIRONMENT: "staging"
  }
}, 60_000)

afterAll(async () => {
  for (const project of projects) await project.remove()
  await fixtures.close()
  await server.stop()
})

/** Runs `delivery-playwright` in the project. */
const deliver = async (project: Project, ...args: ReadonlyArray<string>): Promise<Outcome> => {
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: project.directory,
    env: { ...baseEnvironment, ...environment },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text))
  }
  const [exitCode] = (await once(child, "close")) as [number | null]
  return { exitCode, output, lines: output.split("\n").filter((line) => line.startsWith("Delivery:")) }
}

const projectOf = async (files: Readonly<Record<string, string>>): Promise<Project> => {
  const project = await makeProject(files)
  projects.push(project)
  return project
}

const numberOf = ({ lines, output }: Outcome): number => {
  const number = /test-runs\/(\d+)$/.exec(lines.at(-1) ?? "")?.[1]
  if (number === undefined) throw new Error(`Nothing was published:\n${output}`)
  return Number(number)
}

const readRun = (run: number): Promise<TestRun> => client.testRuns.get({ params: { slug, run } })

const byTitle = (run: TestRun) =>
  Object.fromEntries(
    run.tests.map((test) => [test.title, [test.status, ...test.attempts.map((one) => `${one.retry}:${one.status}`)]])
  )

/** Counts in a file how often a test has begun, over all processes. */
const counted = `
  import { appendFileSync, readFileSync } from "node:fs"
  const times = (name) => {
    appendFileSync(name + ".count", "x")
    return readFileSync(name + ".count", "utf8").length
  }
`

/** What is made when a test first asks for it, and then shared: each run of Playwright takes seconds. */
const shared = <A>(make: () => Promise<A>): (() => Promise<A>) => {
  let made: Promise<A> | undefined
  return () => (made ??= make())
}

/** A run of each of two shards, and one of both that are merged. Its one failed test passes from the second time on. */
const shards = shared(async () => {
  const project = await projectOf({
    "playwright.config.ts": configuration(
      `{ git: { sha: "9fceb02" } }`,
      `...(process.env.PLAYWRIGHT_BLOB_OUTPUT_FILE ? { reporter: [["blob"], ["@delivery/playwright", { git: { sha: "9fceb02" } }]] } : {})`
    ),
    "tests/one.spec.ts": `
      import { expect, test } from "@playwright/test"
      ${counted}
      test("one", () => { expect(times("one")).toBeGreaterThan(1) })
    `,
    "tests/two.spec.ts": `
      import { test } from "@playwright/test"
      test("two", () => {})
    `
  })
  const published = async (outcome: Outcome) => {
    const number = numberOf(outcome)
    return { number, tests: byTitle(await readRun(number)) }
  }
  const shard = async (number: number) => {
    const name = { PLAYWRIGHT_BLOB_OUTPUT_FILE: `blobs/${number}.zip` }
    return published(await runPlaywright(project, { ...environment, ...name }, { args: ["--shard", `${number}/2`] }))
  }
  // One after the other, here and below: each run empties the directory of results.
  const [first, second] = [await shard(1), await shard(2)]
  const args = ["-c", "playwright.config.ts", "blobs"]
  const merged = await published(await runPlaywright(project, environment, { command: "merge-reports", args }))
  return { project, first, second, merged }
})

const retries = shared(async () => {
  const { first, merged, project } = await shards()
  return {
    ofShard: await deliver(project, "retry", String(first.number), "--passes", "2"),
    ofMerged: await deliver(project, "retry", String(merged.number), "--passes", "1")
  }
})

// They wait for each other's processes more than they work.
describe("delivery-playwright retry", { concurrent: true, timeout: 300_000 }, () => {
  it("finds which failed tests are flaky", async () => {
    const options = `{ git: { sha: "9fceb02" }, cleanup: "cleanup.ts" }`
    const project = await projectOf({
      "playwright.config.ts": configuration(
        options,
        `projects: [{ name: "setup", testMatch: /setup/ }, { name: "web", testMatch: /spec/, dependencies: ["setup"] }]`
      ),
      "cleanup.ts": `export { default } from ${JSON.stringify(join(import.meta.dirname, "../demo/cleanup.ts"))}`,
      "tests/one.setup.ts": `
        import { test } from "@playwright/test"
        test("prepares", () => {})
      `,
      "tests/shop.spec.ts": `
        import { expect, test } from "@playwright/test"
        import { currentRun } from "@delivery/playwright/run"
        ${counted}
        test("passes", () => { expect(times("passes")).toBe(1) })
        test("is flaky", async ({}, testInfo) => {
          const run = currentRun()
          const { fixture } = run
          const answer = await fetch(fixture.url + "/" + fixture.scope, {
            method: "POST",
            headers: { authorization: "Bearer " + fixture.token },
            body: JSON.stringify({ customer: "Ana" })
          })
          expect(answer.status).toBe(201)
          await testInfo.attach("retry", { body: String(run.retry), contentType: "text/plain" })
          expect(times("flaky")).toBeGreaterThan(1)
        })
        test("is broken", () => { times("broken"); expect(1).toBe(2) })
        test("passes now and then", () => { expect(times("now-and-then") % 2).toBe(0) })
        test("says who it is", () => {
          test.info().annotations.push({ type: "caseId", description: "SHOP-5" })
          expect(times("says")).toBeGreaterThan(1)
        })
        test.describe.serial("in order", () => {
          test("logs in", () => { times("login") })
          test("pays", () => { expect(times("pays")).toBeGreaterThan(1) })
          test("logs out", () => { times("logout") })
        })
      `
    })
    const number = numberOf(await runPlaywright(project, environment))
    const before = await readRun(number)
    expect(before).toMatchObject({
      result: "failed",
      counts: { total: 9, passed: 3, failed: 5, skipped: 1, flaky: 0 },
      passRate: 3 / 8,
      firstAttemptPassRate: 3 / 8,
      cleanup: { status: "complete", deleted: 1 }
    })

    const outcome = await deliver(project, "retry", String(number), "--passes", "3")
    expect(outcome.lines).toEqual([
      `Delivery: retry 1 of run ${number}: 3 of 5 failed tests are flaky; ` +
        `run ${number} failed (3 passed, 3 flaky, 2 failed, 1 skipped): ${before.url}`
    ])
    expect(outcome.exitCode).toBe(1)
    const run = await readRun(number)
    expect(run).toMatchObject({
      result: "failed",
      counts: { total: 9, passed: 3, flaky: 3, failed: 2, skipped: 1 },
      passRate: 6 / 8,
      firstAttemptPassRate: 3 / 8,
      cleanup: before.cleanup,
      retries: [
        {
          number: 1,
          state: "finished",
          requiredPasses: 3,
          testCount: 5,
          flakyCount: 3,
          baseUrl: "https://staging.shop.example.com",
          gitSha: "9fceb02",
          cleanup: { status: "complete", deleted: 3, remaining: 0 }
        }
      ]
    })
    const passed3 = ["1:passed", "1:passed", "1:passed"]
    expect(byTitle(run)).toEqual({
      prepares: ["passed", "null:passed"],
      passes: ["passed", "null:passed"],
      "is flaky": ["flaky", "null:failed", ...passed3],
      "is broken": ["failed", "null:failed", "1:failed", "1:failed", "1:failed"],
      "passes now and then": ["failed", "null:failed", "1:passed", "1:failed", "1:passed"],
      "says who it is": ["flaky", "null:failed", ...passed3],
      "in order › logs in": ["passed", "null:passed"],
      "in order › pays": ["flaky", "null:failed", ...passed3],
      "in order › logs out": ["skipped"]
    })
    expect(fixtures.count()).toBe(0)

    const flaky = run.tests.find((test) => test.title === "is flaky")
    expect(flaky?.attempts.map((attempt) => attempt.number)).toEqual([1, 2, 3, 4])
    const paths = flaky?.attempts.slice(1).flatMap((attempt) => attempt.files) ?? []
    expect(new Set(paths).size).toBe(3)
    for (const path of paths) {
      expect(path).toMatch(/^retry-1\/shop\.spec\.ts\/is-flaky-[0-9a-f]{10}\/retry\.txt$/)
      const file = await client.files.download({ slug, run: number, path })
      expect(await file.text()).toBe("1")
    }

    // Only what still fails runs again; with one pass asked for, the one of every second time may be flaky now.
    const again = await deliver(project, "retry", String(number), "--passes", "1", "--", "--workers", "1")
    expect(again.lines.at(-1)).toMatch(/^Delivery: retry 2 of run \d+: 0 of 2 failed tests are flaky; /)
    const third = await deliver(project, "retry", String(number), "--passes", "1")
    expect(third.lines.at(-1)).toMatch(/^Delivery: retry 3 of run \d+: 1 of 2 failed tests are flaky; /)
    const last = await readRun(number)
    expect(byTitle(last)["is broken"]).toHaveLength(7)
    expect(last).toMatchObject({ counts: { flaky: 4, failed: 1 }, passRate: 7 / 8, firstAttemptPassRate: 3 / 8 })
  })

  it("runs a repeated test again for all of its repetitions, in the projects where it failed", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration(
        `{ git: { sha: "9fceb02" } }`,
        `repeatEach: 3, projects: [{ name: "a" }, { name: "b" }]`
      ),
      "tests/shop.spec.ts": `
        import { expect, test } from "@playwright/test"
        ${counted}
        const here = () => test.info().project.name
        // Each repetition fails; once they are over it passes.
        test("is flaky", () => { expect(times("flaky-" + here())).toBeGreaterThan(3) })
        test("is broken in b", { tag: "@case:B" }, () => { expect(here()).toBe("a") })
        // The second repetition alone.
        test("fails once", () => { expect(times("once-" + here())).not.toBe(2) })
        test("says who it is", () => {
          test.info().annotations.push({ type: "caseId", description: "SAYS" })
          expect(times("says-" + here())).toBeGreaterThan(here() === "a" ? 3 : 0)
        })
        test("passes", () => {})
      `
    })
    const number = numberOf(await runPlaywright(project, environment))
    expect((await readRun(number)).counts).toMatchObject({ total: 30, passed: 16, failed: 14 })
    const outcome = await deliver(project, "retry", String(number), "--passes", "2")
    expect(outcome.lines).toHaveLength(1)
    expect(outcome.lines[0]).toContain(`retry 1 of run ${number}: 11 of 14 failed tests are flaky`)
    const run = await readRun(number)
    expect(run.counts).toMatchObject({ total: 30, passed: 16, flaky: 11, failed: 3 })
    expect(
      Object.fromEntries(
        run.tests
          .filter((test) => test.attempts.some((attempt) => attempt.retry === 1))
          .map((test) => [test.caseId, [test.status, ...test.attempts.map((attempt) => attempt.status)]])
      )
    ).toEqual(
      Object.fromEntries(
        [
          ...["a", "b"].flatMap((name) => [
            ...["", " #2", " #3"].map((times) => `shop.spec.ts › is flaky [${name}]${times}`),
            `shop.spec.ts › fails once [${name}] #2`
          ]),
          ...["", " #2", " #3"].map((times) => `SAYS [a]${times}`)
        ]
          .map((caseId): [string, Array<string>] => [caseId, ["flaky", "failed", "passed", "passed"]])
          .concat(["", " #2", " #3"].map((times) => [`B [b]${times}`, ["failed", "failed", "failed", "failed"]]))
      )
    )
  })

  it("publishes a run of each shard, or one of all that are merged, and retries both", async () => {
    const { first, merged, second } = await shards()
    expect(first.tests).toEqual({ one: ["failed", "null:failed"] })
    expect(second.tests).toEqual({ two: ["passed", "null:passed"] })
    expect(merged.tests).toEqual({ one: ["failed", "null:failed"], two: ["passed", "null:passed"] })

    const { ofMerged, ofShard } = await retries()
    expect([ofShard.exitCode, byTitle(await readRun(first.number))["one"]]).toEqual([
      0,
      ["flaky", "null:failed", "1:passed", "1:passed"]
    ])
    expect([ofMerged.exitCode, byTitle(await readRun(merged.number))["one"]]).toEqual([
      0,
      ["flaky", "null:failed", "1:passed"]
    ])
  })

  it("exits with 0 when the run passes, and rejects what cannot be retried", async () => {
    const { first, project } = await shards()
    const { number } = first
    const { ofShard: outcome } = await retries()
    expect([outcome.exitCode, outcome.lines]).toEqual([
      0,
      [expect.stringContaining(`run ${number} passed (0 passed, 1 flaky, 0 failed, 0 skipped)`)]
    ])
    expect((await readRun(number)).result).toBe("passed")

    const nothing = await deliver(project, "retry", String(number), "--passes", "2")
    expect(nothing.exitCode).toBe(1)
    expect(nothing.output).toContain(`Delivery: run ${number} cannot be retried: The run has no failed tests.`)
    const unknown = await deliver(project, "retry", "999", "--passes", "2")
    expect([unknown.exitCode, unknown.output]).toEqual([
      1,
      expect.stringContaining('There is no test run "999" that you can see.')
    ])
    expect((await readRun(number)).retries).toHaveLength(1)
  })

  it("prints its usage, and runs nothing without the reporter", async () => {
    const project = await projectOf({
      "playwright.config.ts": `export default { testDir: "tests", reporter: "line" }`,
      "tests/shop.spec.ts": `import { test } from "@playwright/test"\ntest("runs", () => { throw "ran" })`
    })
    for (const args of [
      [],
      ["retry"],
      ["retry", "x", "--passes", "1"],
      ["retry", "1"],
      ["retry", "1", "--passes", "6"]
    ]) {
      const outcome = await deliver(project, ...args)
      expect([outcome.exitCode, outcome.output]).toEqual([
        2,
        expect.stringContaining("Usage: delivery-playwright retry")
      ])
    }
    const outcome = await deliver(project, "retry", "1", "--passes", "2")
    expect([outcome.exitCode, outcome.output]).toEqual([
      2,
      "The Playwright configuration cannot be loaded, or its reporters do not include @delivery/playwright.\n"
    ])
  })
})
