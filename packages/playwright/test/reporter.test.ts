import { createClient, type PromiseClient, type StartTestRun, type TestRun } from "@delivery/client"
import type { IncomingMessage } from "node:http"
import { readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freePort, type RunningServer, startServer } from "../../client/test/support/server.ts"
import {
  configuration,
  makeProject,
  type Outcome,
  type Project,
  publishingTo,
  runPlaywright
} from "./support/project.ts"
import { type Proxy, startProxy } from "./support/proxy.ts"

const slug = "main"
const oneTest = `import { test } from "@playwright/test"\ntest("works", () => {})\n`

let server: RunningServer
let client: PromiseClient
let environment: Record<string, string>
const projects: Array<Project> = []
const proxies: Array<Proxy> = []

beforeAll(async () => {
  server = await startServer()
  client = createClient({ baseUrl: server.url, apiKey: server.apiKey })
  const params = { slug }
  await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "website" } })
  for (const name of ["staging", "fixtures"]) {
    await client.environments.create({ params, payload: { slug: name, name, class: "non-production" } })
    await client.deployments.create({
      params,
      payload: {
        product: "shop",
        environment: name,
        baseUrl: "https://deployed.shop.example.com",
        fixtureUrl: name === "fixtures" ? "https://fixtures.shop.example.com" : null
      }
    })
  }
  environment = publishingTo(server)
}, 240_000)

afterAll(async () => {
  for (const proxy of proxies) proxy.close()
  for (const project of projects) await project.remove()
  await server.stop()
})

const projectOf = async (files: Readonly<Record<string, string>>): Promise<Project> => {
  const project = await makeProject(files)
  projects.push(project)
  return project
}

const proxyOf = async (...args: Parameters<typeof startProxy>): Promise<Proxy> => {
  const proxy = await startProxy(...args)
  proxies.push(proxy)
  return proxy
}

/** How many runs of a commit there are. */
const countRuns = async (commit: string): Promise<number> =>
  (await client.testRuns.list({ params: { slug }, query: { commit } })).runs.length

/** The run that the outcome names on its last line. */
const publishedRun = async ({ lines, output }: Outcome): Promise<TestRun> => {
  const number = /test-runs\/(\d+)(?:\)|$)/.exec(lines.at(-1) ?? "")?.[1]
  if (number === undefined) throw new Error(`Nothing was published:\n${output}`)
  return client.testRuns.get({ params: { slug, run: Number(number) } })
}

// They wait more than they work, so several run at once.
const several = { concurrent: true, timeout: 180_000 }

describe("a run", several, () => {
  it("publishes each test's first attempt, in every project", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration(
        `{ coverage: "critical", folders: ["tests"], git: { sha: "9fceb02", branch: "main", dirty: true } }`,
        `retries: 1, projects: [{ name: "a" }, { name: "b", grep: /passes/ }], repeatEach: 1`
      ),
      "tests/shop/basket.spec.ts": `
        import { expect, test } from "@playwright/test"
        test.describe("basket", () => {
          test("passes", { tag: ["@critical", "@case:BASKET-1"] }, () => {})
          test("fails, then works", async () => {
            await test.info().attach("note", { body: "attempt " + test.info().retry, contentType: "text/plain" })
            expect(test.info().retry, "\\u001b[31mcolourful\\u001b[39m").toBe(1)
          })
          test("says who it is", () => {
            test.info().annotations.push(
              { type: "caseId", description: "BASKET-3" },
              { type: "testKind", description: "journey" },
              { type: "priority", description: "high" },
              { type: "coverage", description: "exhaustive" }
            )
          })
          test.skip("is skipped", () => {})
        })
        test("says who it is", { annotation: { type: "caseId", description: "BASKET-3" } }, () => {})
      `
    })
    const outcome = await runPlaywright(project, environment)
    expect(outcome.exitCode).toBe(0)
    const run = await publishedRun(outcome)
    expect(outcome.lines).toEqual([`Delivery: run ${run.number} failed (4 passed, 1 failed, 1 skipped): ${run.url}`])
    expect(run).toMatchObject({
      state: "finished",
      result: "failed",
      coverage: "critical",
      baseUrl: "https://staging.shop.example.com",
      git: { sha: "9fceb02", branch: "main", dirty: true },
      counts: { total: 6, passed: 4, failed: 1, skipped: 1, flaky: 0 },
      error: null,
      cleanup: null
    })
    expect(run.durationMs).toBeGreaterThan(0)
    const file = "shop/basket.spec.ts"
    expect(run.tests.map(({ caseId, coverage, priority, testKind }) => [caseId, coverage, testKind, priority])).toEqual(
      [
        [`${file} › basket › fails, then works [a]`, "regression", "behavior", null],
        ["BASKET-1 [a]", "critical", "behavior", null],
        ["BASKET-1 [b]", "critical", "behavior", null],
        ["BASKET-3 [a]", "exhaustive", "journey", "high"],
        ["BASKET-3 [a] (2)", "regression", "behavior", null],
        [`${file} › basket › is skipped [a]`, "regression", "behavior", null]
      ]
    )
    const [failed] = run.tests
    expect(failed).toMatchObject({ title: "basket › fails, then works", file, status: "failed" })
    expect(failed?.errorMessage).toMatch(/^Error: colourful\n/)
    expect(failed?.attempts[0]?.errorStack).toContain("basket.spec.ts:7")
    expect(failed?.files).toEqual([
      expect.stringMatching(/^shop\/basket\.spec\.ts\/basket-fails-then-works-[0-9a-f]{10}\/note\.txt$/),
      expect.stringMatching(/error-context\.md$/)
    ])
    const note = await client.files.download({ slug, run: run.number, path: failed?.files[0] ?? "" })
    expect([note.headers.get("content-type"), await note.text()]).toEqual(["text/plain", "attempt 0"])
  })

  it("fails by its tests that are not muted, and says which are and why", async () => {
    const me = await client.me.get({})
    const params = { slug }
    await client.teams.create({ params, payload: { key: "MUTE", name: "Muting" } })
    const ticket = await client.tickets.create({
      params,
      payload: { team: "MUTE", title: "Pay by card", owner: me.id }
    })
    const until = new Date(Date.now() + 24 * 60 * 60_000).toISOString()
    await client.mutes.set({
      params: { ...params, ticket: ticket.identifier },
      payload: { product: "shop", cases: ["MUTED-1", "MUTED-2"], until }
    })
    const project = await projectOf({
      "playwright.config.ts": configuration(`{ git: { sha: "9fceb02" } }`),
      "tests/pay.spec.ts": `
        import { expect, test } from "@playwright/test"
        test("pays", { tag: "@case:MUTED-2" }, () => {})
        test("pays by card", { tag: "@case:MUTED-1" }, () => { expect(1).toBe(2) })
        test("refunds", () => { expect(process.env.REFUNDS).toBe(undefined) })
      `
    })
    const why = `muted by ${ticket.identifier} until ${until.slice(0, 16).replace("T", " ")} UTC`
    const linesOf = (run: TestRun, summary: string) => [
      `Delivery: run ${run.number} ${summary}: ${run.url}`,
      `Delivery: ${why}: pays by card (failed)`,
      `Delivery: ${why}: pays (passed)`
    ]
    const runOf = ({ lines, output }: Outcome) => publishedRun({ exitCode: null, lines: lines.slice(0, 1), output })
    const muted = await runPlaywright(project, environment)
    const run = await runOf(muted)
    expect(muted.lines).toEqual(linesOf(run, "failed, passed without its muted tests (2 passed, 1 failed, 0 skipped)"))
    expect([muted.exitCode, run.result, run.gateResult]).toEqual([0, "failed", "passed"])

    const failed = await runPlaywright(project, { ...environment, REFUNDS: "no" })
    const other = await runOf(failed)
    expect(failed.lines).toEqual(linesOf(other, "failed (1 passed, 2 failed, 0 skipped)"))
    expect([failed.exitCode, other.gateResult]).toEqual([1, "failed"])
  })

  it("is available to its tests, and has its test data deleted before it finishes", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration(`{ environment: "fixtures", required: true, cleanup }`).replace(
        "export default",
        `const cleanup = async ({ scope, token, url }) => ({
          status: "incomplete", deleted: 2, remaining: 1, error: scope + " at " + url + " " + token.split(".").length
        })
        export default`
      ),
      "tests/a.spec.ts": `
        import { expect, test } from "@playwright/test"
        import { currentRun } from "@delivery/playwright/run"
        test("knows", () => {
          const run = currentRun()
          expect(run.number).toBeGreaterThan(0)
          expect(run.fixture.url).toBe("https://fixtures.shop.example.com")
          expect(process.env.DELIVERY_FIXTURE_SCOPE).toBe(run.fixture.scope)
          expect(run.semaphores.token).toMatch(/^stk_/)
        })
      `
    })
    const outcome = await runPlaywright(project, environment)
    const run = await publishedRun(outcome)
    expect([run.result, outcome.exitCode]).toEqual(["passed", 0])
    expect(run.cleanup).toMatchObject({ status: "incomplete", deleted: 2, remaining: 1 })
    expect(outcome.lines[0]).toBe(
      `Delivery: the cleanup of ${run.cleanup?.scope} is incomplete: ${run.cleanup?.scope} at https://fixtures.shop.example.com 3`
    )
  })

  it("uses the deployment's URL by default, and reports a failing cleanup", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration(`{ environment: "fixtures", cleanup: "missing.ts" }`).replace(/use:.*/, ""),
      "tests/a.spec.ts": oneTest
    })
    const run = await publishedRun(await runPlaywright(project, environment))
    expect(run).toMatchObject({
      result: "passed",
      baseUrl: "https://deployed.shop.example.com",
      cleanup: { status: "failed" }
    })
  })

  it("is finished with the error of a web server that does not start", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration(
        "{}",
        `webServer: { command: "node -e process.exit(3)", url: "http://127.0.0.1:1/", timeout: 5000 },`
      ),
      "tests/a.spec.ts": oneTest
    })
    const outcome = await runPlaywright(project, environment)
    const run = await publishedRun(outcome)
    expect(outcome.exitCode).toBe(1)
    expect(run).toMatchObject({ state: "finished", result: "failed", counts: { total: 0 } })
    expect(run.error).toContain("webServer")
  })

  it("is finished with the error of a global setup that throws", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration("{}", `globalSetup: "./setup.ts",`),
      "setup.ts": `export default () => { throw new Error("no database") }`,
      "tests/a.spec.ts": oneTest
    })
    const run = await publishedRun(await runPlaywright(project, environment))
    expect(run).toMatchObject({ state: "finished", result: "failed", error: "Error: no database", tests: [] })
  })

  it("is finished with the error of tests that run alone where none may", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration("{}", "forbidOnly: true,"),
      "tests/a.spec.ts": oneTest.replace("test(", "test.only(")
    })
    const run = await publishedRun(await runPlaywright(project, environment))
    expect(run).toMatchObject({ state: "finished", result: "failed", tests: [] })
    expect(run.error).toContain("forbidOnly")
  })

  it("fails for workers that end, and for what fails after the last test", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration("{}"),
      "tests/a.spec.ts": `
        import { test } from "@playwright/test"
        test("ends its worker", () => process.exit(3))
      `,
      "tests/b.spec.ts": `
        import { test as base } from "@playwright/test"
        const test = base.extend<{}, { place: string }>({
          place: [async ({}, use) => { await use("a"); throw new Error("not closed") }, { scope: "worker" }]
        })
        test("passes", ({ place }) => { place.length })
      `,
      "tests/c.spec.ts": `
        import { test } from "@playwright/test"
        test.describe("a", () => {
          test.beforeAll(() => { throw new Error("no database") })
          test("never", () => {})
        })
      `
    })
    const run = await publishedRun(await runPlaywright(project, environment))
    expect(run).toMatchObject({ state: "finished", result: "failed" })
    expect(run.error).toMatch(/^Error: not closed/)
    expect(run.tests.map(({ errorMessage, status, title }) => [title, status, errorMessage])).toEqual([
      ["a › never", "failed", "Error: no database"],
      ["ends its worker", "failed", expect.stringMatching(/worker process exited unexpectedly/)],
      ["passes", "passed", null]
    ])
  })

  it("is finished with an error when the global timeout strikes", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration("{}", "globalTimeout: 12000,"),
      "tests/a.spec.ts": `
        import { test } from "@playwright/test"
        test("first", () => {})
        test("hangs", () => new Promise(() => {}))
      `
    })
    const run = await publishedRun(await runPlaywright(project, environment))
    expect(run).toMatchObject({ state: "finished", result: "failed", counts: { total: 2, passed: 1, skipped: 1 } })
    expect(run.error).toMatch(/Timed out waiting 12s/)
  })

  it.each(["SIGINT", "SIGTERM"] as const)("is interrupted by %s and keeps its tests", async (signal) => {
    const project = await projectOf({
      "playwright.config.ts": configuration("{}"),
      "tests/a.spec.ts": `
        import { test } from "@playwright/test"
        test("first", () => {})
        test("hangs", () => { console.log("now"); return new Promise(() => {}) })
        test("never", () => {})
      `
    })
    let isSent = false
    const outcome = await runPlaywright(project, environment, {
      onOutput: (output, process) => {
        if (!isSent && output.includes("now")) isSent = process.kill(signal)
      }
    })
    const run = await publishedRun(outcome)
    expect(outcome.exitCode).toBe(130)
    expect(run).toMatchObject({ state: "interrupted", result: null, counts: { total: 3, passed: 1, skipped: 2 } })
  })

  it("is none where a suite without tests passes, even where publishing is required", async () => {
    const options = `{ git: { sha: "e4f1a2b" } }`
    const project = await projectOf({ "playwright.config.ts": configuration(options), "tests/a.spec.ts": oneTest })
    const args = ["--grep", "no such test"]
    const required = { ...environment, DELIVERY_REQUIRED: "yes" }
    const empty = await runPlaywright(project, required, { args: [...args, "--pass-with-no-tests"] })
    expect([empty.exitCode, empty.lines]).toEqual([0, ["Delivery: nothing is published: there is no test."]])
    expect(await countRuns("e4f1a2b")).toBe(0)
    // Outside of a build no other shard belongs to it.
    const shard = await runPlaywright(project, required, { args: ["--shard=2/2"] })
    expect(shard.exitCode).toBe(0)
    expect(await publishedRun(shard)).toMatchObject({ state: "interrupted", result: null, error: null })
    const failed = await runPlaywright(project, environment, { args })
    expect(failed.exitCode).toBe(1)
    expect(await publishedRun(failed)).toMatchObject({ result: "failed", counts: { total: 0 } })
  })

  it("is interrupted if failures end it early", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration("{}", "maxFailures: 1,"),
      "tests/a.spec.ts": `
        import { expect, test } from "@playwright/test"
        test("fails", () => { expect(1).toBe(2) })
        test("never", () => {})
      `
    })
    const run = await publishedRun(await runPlaywright(project, environment))
    expect(run).toMatchObject({ state: "interrupted", counts: { total: 2, failed: 1, skipped: 1 } })
  })
})

describe("where something fails", several, () => {
  it("keeps the results of files that cannot be uploaded", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration("{}"),
      "tests/a.spec.ts": `
        import { test } from "@playwright/test"
        import { truncateSync, writeFileSync } from "node:fs"
        test("attaches", () => {
          const path = test.info().outputPath("large.bin")
          writeFileSync(path, "")
          truncateSync(path, 101 * 1024 * 1024)
          test.info().attachments.push(
            { name: "large", path, contentType: "application/zip" },
            { name: "missing.txt", path: path + "-not-there", contentType: "text/plain" },
            { name: "small.txt", body: Buffer.from("small"), contentType: "text/plain" }
          )
        })
      `
    })
    const outcome = await runPlaywright(project, environment)
    const run = await publishedRun(outcome)
    const files = run.tests[0]?.files ?? []
    expect(outcome.exitCode).toBe(0)
    expect(run).toMatchObject({ result: "passed", tests: [{ status: "passed" }] })
    expect(files.map((path) => path.split("/").at(-1))).toEqual(["large.bin", "missing.txt", "small.txt"])
    expect(outcome.lines).toHaveLength(2)
    expect(outcome.lines[0]).toMatch(/^Delivery: 2 of 3 files were not uploaded; the first: a\.spec\.ts\/.*: /)
    const found = await Promise.all(
      files.map(async (path) => (await client.safe.files.download({ slug, run: run.number, path })).ok)
    )
    expect(found).toEqual([false, false, true])
  })

  it("starts one run where the answer to a start is lost, also if all are and the results are published later", async () => {
    let starts = 0
    let lost = 1
    const proxy = await proxyOf(server.url, ({ method, url }) =>
      method === "POST" && url?.endsWith("/test-runs") === true && ++starts <= lost ? "loseAnswer" : "pass"
    )
    const commit = "57a27ed0"
    const project = await projectOf({
      "playwright.config.ts": configuration(`{ git: { sha: "${commit}", branch: "main" } }`),
      "tests/a.spec.ts": oneTest
    })
    const settings = { ...environment, DELIVERY_URL: proxy.url }
    const states = async () => {
      const { runs } = await client.testRuns.list({ params: { slug }, query: { commit } })
      return runs.map(({ state }) => state)
    }
    await publishedRun(await runPlaywright(project, settings))
    expect([await states(), starts]).toEqual([["finished"], 2])
    lost = Infinity
    const outcome = await runPlaywright(project, settings)
    expect(outcome.lines[0]).toMatch(/^Delivery: the run was not published: /)
    expect(await states()).toEqual(["running", "finished"])
    const [saved] = (await project.saved()) as ReadonlyArray<{ start: StartTestRun }>
    await client.testRuns.start({ params: { slug }, payload: saved!.start })
    expect(await states()).toEqual(["running", "finished"])
  })

  // Its tries have ten seconds together, so it does not share the processors.
  it("retries a lost finish, and recognizes its own if the answer was lost", { concurrent: false }, async () => {
    let finishes = 0
    const proxy = await proxyOf(server.url, (request) => {
      if (request.url?.endsWith("/finish") !== true) return "pass"
      finishes++
      return finishes === 1 ? "lose" : finishes === 2 ? "loseAnswer" : "pass"
    })
    const project = await projectOf({ "playwright.config.ts": configuration("{}"), "tests/a.spec.ts": oneTest })
    const outcome = await runPlaywright(project, { ...environment, DELIVERY_URL: proxy.url })
    expect(await publishedRun(outcome)).toMatchObject({ state: "finished", result: "passed" })
    expect([finishes, outcome.lines.length, outcome.exitCode]).toEqual([3, 1, 0])
  })

  it("saves what it cannot finish", async () => {
    const proxy = await proxyOf(server.url, (request) => (request.url?.endsWith("/finish") === true ? "lose" : "pass"))
    const project = await projectOf({ "playwright.config.ts": configuration("{}"), "tests/a.spec.ts": oneTest })
    const outcome = await runPlaywright(project, { ...environment, DELIVERY_URL: proxy.url })
    const run = await publishedRun(outcome)
    expect([run.state, outcome.exitCode]).toEqual(["running", 0])
    expect(outcome.lines[0]).toContain(
      `Its results are kept: delivery runs publish ${project.directory}/delivery-results/`
    )
    const [saved] = (await project.saved()) as ReadonlyArray<{ readonly run: number; readonly finish: never }>
    expect(saved).toMatchObject({ run: run.number, finish: { interrupted: false, tests: [{ title: "works" }] } })

    const payload = saved?.finish as never
    const finished = await client.testRuns.finish({ params: { slug, run: run.number }, payload })
    expect(finished).toMatchObject({ result: "passed", counts: { total: 1 } })
  })

  it("publishes at the end if the service was unavailable at the start", async () => {
    let starts = 0
    const proxy = await proxyOf(server.url, (request) => {
      if (request.method !== "POST" || !request.url?.endsWith("/test-runs")) return "pass"
      return ++starts <= 3 ? "lose" : "pass"
    })
    const project = await projectOf({
      "playwright.config.ts": configuration("{}"),
      "tests/a.spec.ts": `
        import { test } from "@playwright/test"
        test("attaches", () => test.info().attach("a.txt", { body: "late", contentType: "text/plain" }))
      `
    })
    const run = await publishedRun(await runPlaywright(project, { ...environment, DELIVERY_URL: proxy.url }))
    const file = await client.files.download({ slug, run: run.number, path: run.tests[0]?.files[0] ?? "" })
    expect([run.result, await file.text()]).toEqual(["passed", "late"])
  })

  it("reports that the service cannot be reached, and lets the tests pass", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration("{}"),
      "tests/a.spec.ts": `
        import { test } from "@playwright/test"
        test("works", () => test.info().attach("a.txt", { body: "kept", contentType: "text/plain" }))
      `
    })
    const url = `http://localhost:${await freePort()}`
    const outcome = await runPlaywright(project, { ...environment, DELIVERY_URL: url })
    expect(outcome.exitCode).toBe(0)
    expect(outcome.output).toContain("1 passed")
    expect(outcome.lines).toHaveLength(1)
    expect(outcome.lines[0]).toMatch(
      /^Delivery: the run was not published: .*connection refused \(ECONNREFUSED\) .*\. Its results are kept: delivery runs publish /
    )
    const saved = await project.saved()
    expect(saved).toMatchObject([
      {
        service: url,
        workspace: slug,
        start: { product: "shop" },
        finish: { tests: [{ title: "works" }] },
        files: [{ contentType: "text/plain" }]
      }
    ])
    const [{ files }] = saved as readonly [{ readonly files: ReadonlyArray<{ readonly source: string }> }]
    expect(await readFile(join(project.directory, "delivery-results", files[0]!.source), "utf8")).toBe("kept")
  })

  it("names every setting that is missing or wrong", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration(`{ git: { sha: "refused" } }`),
      "tests/a.spec.ts": oneTest
    })
    const { DELIVERY_API_KEY: _, ...keyless } = environment
    const cases: ReadonlyArray<[Record<string, string>, string]> = [
      [
        { ...keyless, DELIVERY_COVERAGE: "everything", DELIVERY_URL: "localhost" },
        "settings are missing: apiKey (or DELIVERY_API_KEY); url is not an http(s) URL such as https://delivery.example.com, without a user, a query or /v1; " +
          "coverage is not one of critical, acceptance, regression, exhaustive"
      ]
    ]
    for (const [settings, problem] of cases) {
      const outcome = await runPlaywright(project, settings)
      expect([outcome.exitCode, outcome.lines]).toEqual([0, [`Delivery: the run was not published: ${problem}.`]])
    }
    expect([await countRuns("refused"), await project.saved()]).toEqual([0, []])
  })

  it("refuses options that it does not have, and what is no answer, before any test", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration(`{ enviroment: "staging" }`),
      "tests/a.spec.ts": oneTest
    })
    const mistyped = await runPlaywright(project, environment)
    expect(mistyped.exitCode).toBe(1)
    expect(mistyped.output).toContain('The reporter knows no option "enviroment". Did you mean environment?')
    await writeFile(join(project.directory, "playwright.config.ts"), configuration("{}"))
    const unclear = await runPlaywright(project, { ...environment, DELIVERY_REQUIRED: "maybe" })
    expect(unclear.exitCode).toBe(1)
    expect(unclear.output).toContain('DELIVERY_REQUIRED is "maybe". Expected one of ')
    for (const options of [`{ git: { sha: "9fceb02" }, onlyFailures: false }`, `{ configDir: "." }`]) {
      await writeFile(join(project.directory, "playwright.config.ts"), configuration(options))
      expect((await runPlaywright(project, environment)).output).toContain("The reporter knows no option ")
    }
    for (const { output } of [mistyped, unclear]) expect(output).not.toContain("1 passed")
  })

  it("saves the results where settings are wrong or the service refuses the start, also without the URL of the deployment", async () => {
    for (const [settings, reason] of [
      [{ DELIVERY_API_KEY: "ctk_wrong" }, /A valid API key is required/],
      [{ DELIVERY_PRODUCT: "none" }, /there is no /i],
      [{ DELIVERY_URL: "localhost:4000" }, /url is not an http\(s\) URL/],
      [{ DELIVERY_COVERAGE: "everything" }, /coverage is not one of /]
    ] as const) {
      for (const use of ["", "use: { baseURL: 'https://staging.shop.example.com' },"]) {
        const project = await projectOf({
          "playwright.config.ts": configuration("{}").replace(/use: .*/, use),
          "tests/a.spec.ts": oneTest
        })
        const outcome = await runPlaywright(project, { ...environment, ...settings })
        expect([outcome.exitCode, outcome.lines.length]).toEqual([0, 1])
        expect(outcome.lines[0]).toMatch(/^Delivery: the run was not published: /)
        expect(outcome.lines[0]).toMatch(reason)
        expect(outcome.lines[0]).toContain(
          `Its results are kept: delivery runs publish ${project.directory}/delivery-results/`
        )
        expect(await project.saved()).toMatchObject([
          { start: { environment: "staging" }, finish: { tests: [{ title: "works" }] } }
        ])
      }
    }
  })

  it("waits for a service that hangs for 5 s before the tests and 10 s after them, and says so", async () => {
    for (const [hangs, line, most] of [
      [() => true, "the run was not published: the service did not answer within", 15_000],
      [
        (request: IncomingMessage) =>
          request.url?.includes("/files/") === true || /\/finish$|health/.test(request.url!),
        "is not finished: the service did not answer within 10 seconds",
        10_000
      ]
    ] as const) {
      const proxy = await proxyOf(server.url, (request) => (hangs(request) ? "hang" : "pass"))
      const project = await projectOf({
        "playwright.config.ts": configuration("{}"),
        "tests/a.spec.ts": `
          import { test } from "@playwright/test"
          test("attaches", () => test.info().attach("a.bin", { body: Buffer.alloc(3e6), contentType: "video/webm" }))
        `
      })
      const timed = (url: string) => {
        const begun = performance.now()
        return runPlaywright(project, { ...environment, DELIVERY_URL: url }).then((outcome) => ({
          outcome,
          millis: performance.now() - begun
        }))
      }
      const usual = await timed(server.url)
      const hanging = await timed(proxy.url)
      expect(hanging.outcome.exitCode).toBe(0)
      expect(hanging.outcome.lines.at(-1)).toContain(line)
      expect(await project.saved()).toMatchObject([{ finish: { tests: [{ title: "attaches" }] } }])
      // Starting processes takes longer or shorter by seconds on a busy machine.
      expect(hanging.millis - usual.millis).toBeLessThan(most + 5_000)
    }
  })

  it("fails before the tests if publishing is required", async () => {
    const project = await projectOf({ "playwright.config.ts": configuration("{}"), "tests/a.spec.ts": oneTest })
    const outcome = await runPlaywright(project, {
      ...environment,
      DELIVERY_PRODUCT: "none",
      DELIVERY_REQUIRED: "Yes"
    })
    expect(outcome.exitCode).toBe(1)
    expect(outcome.output).toContain("Delivery: the run cannot be published: ")
    expect(outcome.output).not.toContain("1 passed")
    expect(outcome.lines).toEqual([])
  })

  it("publishes nothing when it only lists the tests", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration(`{ git: { sha: "listed" } }`),
      "tests/a.spec.ts": oneTest
    })
    const outcome = await runPlaywright(project, environment, { args: ["--list"] })
    expect([outcome.exitCode, outcome.lines, await countRuns("listed")]).toEqual([0, [], 0])
  })
})

// Alone, since no other test could upload meanwhile.
describe("where no file can be stored", { timeout: 180_000 }, () => {
  it("keeps the results", async () => {
    const directory = join(server.dataDir, "files")
    const project = await projectOf({
      "playwright.config.ts": configuration("{}"),
      "tests/a.spec.ts": `
        import { test } from "@playwright/test"
        test("attaches", () => test.info().attach("a.txt", { body: "a", contentType: "text/plain" }))
      `
    })
    await rename(directory, `${directory}-aside`)
    await writeFile(directory, "not a directory")
    try {
      const outcome = await runPlaywright(project, environment)
      expect(await publishedRun(outcome)).toMatchObject({ result: "passed", tests: [{ files: [/a\.txt$/] }] })
      expect(outcome.lines[0]).toMatch(/^Delivery: a file was not uploaded: /)
      const [, path] = /lacks files\. All of it is kept.*: delivery runs publish --again (\S+)$/.exec(
        outcome.lines[1]!
      )!
      const { files } = JSON.parse(await readFile(path!, "utf8")) as { files: ReadonlyArray<{ source: string }> }
      expect(await readFile(join(dirname(path!), files[0]!.source), "utf8")).toBe("a")
    } finally {
      await rm(directory)
      await rename(`${directory}-aside`, directory)
    }
  })
})
