import { createClient, type PromiseClient } from "@delivery/client"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningServer, startServer } from "../../client/test/support/server.ts"
import { startProxy } from "../../playwright/test/support/proxy.ts"

/** Real suites of Vitest in projects of their own, published to a real server. */

const slug = "main"
const vitest = dirname(createRequire(import.meta.url).resolve("vitest/package.json"))
let server: RunningServer
let client: PromiseClient
const directories: Array<string> = []

beforeAll(async () => {
  server = await startServer()
  client = createClient({ baseUrl: server.url, apiKey: server.apiKey })
  const params = { slug }
  await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "library" } })
  await client.environments.create({ params, payload: { slug: "ci", name: "CI", class: "non-production" } })
  const baseUrl = "https://shop.example.com"
  await client.deployments.create({ params, payload: { product: "shop", environment: "ci", baseUrl } })
}, 240_000)

afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true, force: true })
  await server.stop()
})

const projectOf = async (suite: string, config = "", options = `git: { sha: "9fceb02" }`): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "delivery-vitest-"))
  directories.push(directory)
  await mkdir(join(directory, "node_modules/@delivery"), { recursive: true })
  await symlink(vitest, join(directory, "node_modules/vitest"))
  await symlink(join(import.meta.dirname, ".."), join(directory, "node_modules/@delivery/vitest"))
  await writeFile(join(directory, "package.json"), JSON.stringify({ type: "module" }))
  await writeFile(join(directory, "shop.test.js"), suite)
  await writeFile(
    join(directory, "vitest.config.js"),
    `import DeliveryReporter from "@delivery/vitest"
    export default { test: { ${config} reporters: ["default", new DeliveryReporter({ ${options} })] } }`
  )
  return directory
}

const runVitest = (
  directory: string,
  environment: Readonly<Record<string, string>> = {},
  more: ReadonlyArray<string> = [],
  whenSaidNow?: (process: ChildProcess) => void
) =>
  new Promise<{ readonly exitCode: number; readonly output: string; readonly lines: ReadonlyArray<string> }>(
    (resolve) => {
      const env = {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        DELIVERY_URL: server.url,
        DELIVERY_API_KEY: server.apiKey,
        DELIVERY_WORKSPACE: slug,
        DELIVERY_PRODUCT: "shop",
        DELIVERY_ENVIRONMENT: "ci",
        ...environment
      }
      const args = [join(vitest, "vitest.mjs"), "run", ...more]
      // A group of its own, as a terminal makes one for each command.
      const child = spawn(process.execPath, args, {
        cwd: directory,
        env,
        detached: true,
        stdio: ["ignore", "pipe", "pipe"]
      })
      let [output, isSaid] = ["", false]
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text
          if (isSaid || !output.includes("now")) return
          isSaid = true
          whenSaidNow?.(child)
        })
      }
      child.once("close", (exitCode) => {
        const lines = output.split("\n").filter((line) => line.startsWith("Delivery:"))
        resolve({ exitCode: exitCode ?? -1, output, lines })
      })
    }
  )

/** A reporter that says "now" once Vitest knows that a test has ended. */
const sayingNow = `reporters: [{ onTestCaseResult: () => console.log("now") }, `

/** The second test does not end. */
const endless = `
  import { test } from "vitest"
  test("first", () => {})
  test("hangs", { timeout: 0 }, () => new Promise(() => {}))
  test("never", () => {})
`

const publishedRun = async (lines: ReadonlyArray<string>) => {
  const number = Number(/test-runs\/(\d+)$/.exec(lines.at(-1) ?? "")?.[1])
  return client.testRuns.get({ params: { slug, run: number } })
}

describe("the reporter of Vitest", { timeout: 120_000 }, () => {
  it("publishes each test's first attempt, with files, and tells tests their run", async () => {
    const directory = await projectOf(
      `
      import { currentRun } from "@delivery/vitest/run"
      import { describe, expect, test } from "vitest"
      let times = 0
      describe("basket", () => {
        test("knows its run", () => { expect(currentRun().number).toBeGreaterThan(0) })
        test("passes on Vitest's own retry", { retry: 1 }, () => { expect(++times).toBe(2) })
        test("attaches", async ({ annotate }) => {
          await annotate("CART-1", "caseId")
          await annotate("critical", "coverage")
          await annotate("a note", { body: Buffer.from("noted"), contentType: "text/plain" })
        })
        test.fails("is expected to fail", () => { throw new Error("as expected") })
        test("has tags", { tags: ["exhaustive", "@case:CART-2"] }, () => {})
        test.skip("is skipped", () => {})
        test.todo("is to do")
      })
    `,
      `tags: [{ name: "exhaustive" }, { name: "@case:CART-2" }],`
    )
    const outcome = await runVitest(directory)
    expect(outcome.lines).toHaveLength(1)
    const run = await publishedRun(outcome.lines)
    expect(outcome.exitCode).toBe(0)
    expect(run).toMatchObject({
      state: "finished",
      result: "failed",
      baseUrl: "https://shop.example.com",
      git: { sha: "9fceb02" },
      counts: { total: 7, passed: 4, failed: 1, skipped: 2 }
    })
    expect(run.tests.map(({ caseId, coverage, status }) => [caseId, coverage, status])).toEqual([
      ["shop.test.js › basket › passes on Vitest's own retry", "regression", "failed"],
      ["CART-1", "critical", "passed"],
      ["CART-2", "exhaustive", "passed"],
      ["shop.test.js › basket › is expected to fail", "regression", "passed"],
      ["shop.test.js › basket › knows its run", "regression", "passed"],
      ["shop.test.js › basket › is skipped", "regression", "skipped"],
      ["shop.test.js › basket › is to do", "regression", "skipped"]
    ])
    expect(run.tests[0]?.errorMessage).toContain("expected 1 to be 2")
    expect(run.tests[0]?.attempts[0]?.errorStack).toContain("shop.test.js:7")
    const path = run.tests.find(({ caseId }) => caseId === "CART-1")?.files[0] ?? ""
    expect(path).toMatch(/^shop\.test\.js\/basket-attaches-[0-9a-f]{10}\/a-note\.txt$/)
    expect(await (await client.files.download({ slug, run: run.number, path })).text()).toBe("noted")
  })

  it("says which tests are muted and why, and leaves the exit code to Vitest", async () => {
    const params = { slug }
    const me = await client.me.get({})
    await client.teams.create({ params, payload: { key: "MUTE", name: "Muting" } })
    const { identifier } = await client.tickets.create({
      params,
      payload: { team: "MUTE", title: "Pay by card", owner: me.id }
    })
    const until = new Date(Date.now() + 24 * 60 * 60_000).toISOString()
    await client.mutes.set({
      params: { ...params, ticket: identifier },
      payload: { product: "shop", cases: ["shop.test.js › pays by card"], until }
    })
    const suite = `
      import { expect, test } from "vitest"
      test("pays by card", () => { expect(1).toBe(2) })
      test("pays", () => {})
    `
    const { exitCode, lines } = await runVitest(await projectOf(suite))
    const run = await publishedRun(lines.slice(0, 1))
    expect([exitCode, lines, run.gateResult]).toEqual([
      1,
      [
        `Delivery: run ${run.number} failed, passed without its muted tests (1 passed, 1 failed, 0 skipped): ${run.url}`,
        `Delivery: muted by ${identifier} until ${until.slice(0, 16).replace("T", " ")} UTC: pays by card (failed)`
      ],
      "passed"
    ])
  })

  it("has the error of a file that cannot be loaded, and is interrupted by bail", async () => {
    const broken = await publishedRun((await runVitest(await projectOf(`throw new Error("no database")`))).lines)
    expect(broken).toMatchObject({ state: "finished", result: "failed", error: "no database" })
    const suite = `
      import { test } from "vitest"
      test("fails", () => { throw new Error("no") })
      test("is left out", () => {})
    `
    const bailed = await publishedRun((await runVitest(await projectOf(suite, "bail: 1,"))).lines)
    expect(bailed).toMatchObject({ state: "interrupted", counts: { total: 2, failed: 1, skipped: 1 } })
  })

  it.each([
    [
      "a hook of a group within groups",
      `describe("a", () => describe("b", () => { describe("c", () => { afterAll(broken); test("ran", () => {}) }) }))`,
      "broke"
    ],
    [
      "several hooks",
      `describe("a", () => { beforeAll(broken); test("never", () => {}) })
      describe("b", () => { aroundAll(() => { throw new Error("too") }); test("never", () => {}) })
      describe("c", () => { afterAll(() => { throw new Error("late") }); test("ran", () => {}) })`,
      "broke\n\ntoo\n\nlate"
    ],
    [
      "a hook that throws what has no message",
      `describe("a", () => { beforeAll(() => { throw new Error("") }); test("never", () => {}) })`,
      expect.stringMatching(/^Error: *\n.*shop\.test\.js/)
    ],
    ["a group without tests", `describe("nothing", () => {})`, "No test found in suite nothing"],
    [
      "a group that runs alone where none may",
      `describe.only("a", () => { test("never", () => {}) })`,
      expect.stringContaining("[Vitest] Unexpected .only modifier")
    ]
  ])("has the error of %s", async (_, suite, error) => {
    const names = "afterAll, aroundAll, beforeAll, describe, test"
    const directory = await projectOf(
      `import { ${names} } from "vitest"
      const broken = () => { throw new Error("broke") }
      ${suite}
      test("fine", () => {})`,
      "allowOnly: false,"
    )
    const outcome = await runVitest(directory)
    expect(outcome.exitCode).toBe(1)
    const run = await publishedRun(outcome.lines)
    expect(run).toMatchObject({ state: "finished", result: "failed", gateResult: "failed", error })
  })

  it("fails where Vitest fails and says of nothing why", async () => {
    const directory = await projectOf(`import { test } from "vitest"\ntest("fine", () => {})`)
    const config = join(directory, "vitest.config.js")
    const failing = `new (class extends DeliveryReporter {
      onTestRunEnd(modules, unhandled) {
        return super.onTestRunEnd(modules, unhandled, "failed")
      }
    })({`
    await writeFile(config, (await readFile(config, "utf8")).replace("new DeliveryReporter({", failing))
    expect(await publishedRun((await runVitest(directory)).lines)).toMatchObject({
      result: "failed",
      error: "Vitest says that the run failed, and names no test or error.",
      counts: { passed: 1, failed: 0 }
    })
  })

  it("fails a test that Vitest fails before it runs", async () => {
    const directory = await projectOf(
      `import { test } from "vitest"
      test.only("alone", () => {})
      test("fine", () => {})`,
      "allowOnly: false,"
    )
    const outcome = await runVitest(directory)
    expect(outcome.exitCode).toBe(1)
    const run = await publishedRun(outcome.lines)
    expect(run).toMatchObject({ state: "finished", result: "failed", counts: { failed: 1 } })
    expect(run.tests[0]).toMatchObject({ title: "alone", status: "failed" })
    expect(run.tests[0]?.errorMessage).toContain("[Vitest] Unexpected .only modifier")
  })

  /** A project of the suite that does not end. */
  const endlessProject = async (more = "") => {
    const directory = await projectOf(endless, more)
    const config = join(directory, "vitest.config.js")
    await writeFile(config, (await readFile(config, "utf8")).replace(`reporters: ["default", `, sayingNow))
    return directory
  }

  const interrupted = { state: "interrupted", result: null, error: null, counts: { total: 3, passed: 1, skipped: 2 } }

  it.each([
    ["SIGINT", "forks", 130],
    ["SIGINT", "threads", 130],
    ["SIGTERM", "forks", 143]
  ] as const)("is interrupted by %s over %s and keeps its tests", async (signal, pool, exitCode) => {
    const directory = await endlessProject(`pool: "${pool}",`)
    const outcome = await runVitest(directory, {}, [], (child) => {
      // As from a terminal, and once more as npm passes it on.
      process.kill(-child.pid!, signal)
      child.kill(signal)
    })
    expect([outcome.exitCode, outcome.lines.length]).toEqual([exitCode, 1])
    expect(await publishedRun(outcome.lines)).toMatchObject(interrupted)
  })

  it("saves its tests when it is interrupted and the service is lost, and does not wait for it when interrupted again", async () => {
    const finishing: Array<() => void> = []
    const proxy = await startProxy(server.url, ({ method, url }) => {
      if (method !== "POST" || url?.endsWith("/finish") !== true) return "pass"
      for (const told of finishing) told()
      return "hang"
    })
    const directory = await endlessProject()
    const outcome = await runVitest(directory, { DELIVERY_URL: proxy.url }, [], (child) => {
      finishing.push(() => {
        const again = setInterval(() => child.kill("SIGINT"), 100)
        child.once("exit", () => clearInterval(again))
      })
      child.kill("SIGINT")
    })
    proxy.close()
    expect(outcome.exitCode).toBe(130)
    expect(outcome.lines).toEqual([
      expect.stringMatching(
        /run \d+ \(.*\) is not finished: it was interrupted twice. Its results are kept: delivery runs/
      )
    ])
    const results = join(directory, "delivery-results")
    const [name = ""] = await readdir(results)
    const saved = JSON.parse(await readFile(join(results, name), "utf8"))
    expect(saved.finish).toMatchObject({ interrupted: true, tests: [{ attempt: { status: "passed" } }, {}, {}] })
  })

  it("lets tests pass and saves them where the service refuses, unless publishing is required", async () => {
    const directory = await projectOf(`import { test } from "vitest"\ntest("works", () => {})`)
    const refused = await runVitest(directory, { DELIVERY_API_KEY: "ctk_wrong" })
    expect([refused.exitCode, refused.lines.length]).toEqual([0, 1])
    expect(refused.lines[0]).toContain(
      `A valid API key is required. Its results are kept: delivery runs publish ${directory}/delivery-results/`
    )
    expect(await readdir(join(directory, "delivery-results"))).toHaveLength(1)
    const required = await runVitest(directory, { DELIVERY_API_KEY: "ctk_wrong", DELIVERY_REQUIRED: "yes" })
    expect(required.exitCode).toBe(1)
    expect(required.output).toContain("Delivery: the run cannot be published: A valid API key is required")
  })

  it("publishes no run of a suite without tests that Vitest passes, even where publishing is required", async () => {
    const directory = await projectOf("")
    await rm(join(directory, "shop.test.js"))
    const before = await client.testRuns.list({ params: { slug }, query: {} })
    const empty = await runVitest(directory, { DELIVERY_REQUIRED: "yes" }, ["--passWithNoTests"])
    expect([empty.exitCode, empty.lines]).toEqual([0, ["Delivery: nothing is published: there is no test."]])
    // Outside of a build no other shard belongs to it.
    const shard = await runVitest(directory, { DELIVERY_REQUIRED: "yes" }, ["--passWithNoTests", "--shard=2/2"])
    expect([shard.exitCode, shard.lines]).toEqual([empty.exitCode, empty.lines])
    const after = await client.testRuns.list({ params: { slug }, query: {} })
    expect(after.runs[0]?.number).toBe(before.runs[0]?.number)
    const failed = await runVitest(directory)
    expect(failed.exitCode).toBe(1)
    expect(await publishedRun(failed.lines)).toMatchObject({ result: "failed", error: "No tests ran." })
  })

  it("says which Vitest it needs where there is an older one", async () => {
    const older = `new (class extends DeliveryReporter {
      onInit(vitest) {
        super.onInit(Object.create(vitest, { version: { value: "4.1.12" } }))
      }
    })()`
    const directory = await projectOf(`import { it } from "vitest"; it("sells", () => {})`)
    const config = join(directory, "vitest.config.js")
    await writeFile(config, (await readFile(config, "utf8")).replace(/new DeliveryReporter\(.*?\}\)/, older))
    const problem = "@delivery/vitest needs Vitest 5 or later, and this is 4.1.12."
    const ran = await runVitest(directory)
    expect([ran.exitCode, ran.lines]).toEqual([0, [`Delivery: nothing is published: ${problem}`]])
    const required = await runVitest(directory, { DELIVERY_REQUIRED: "yes" })
    expect(required.exitCode).toBe(1)
    expect(required.output).toContain(`Delivery: the run cannot be published: ${problem}`)
  })

  it("refuses options that it does not have", async () => {
    const directory = await projectOf(`import { test } from "vitest"\ntest("works", () => {})`, "", `baseURL: "x"`)
    const { exitCode, output } = await runVitest(directory)
    expect(exitCode).toBe(1)
    expect(output).toContain('The reporter knows no option "baseURL". Did you mean baseUrl?')
    expect(output).not.toContain("1 passed")
  })

  it("publishes the shards of one build as one run, also one without tests", async () => {
    const suite = (title: string) => `import { test } from "vitest"\ntest("${title}", () => {})`
    const directory = await projectOf(suite("one"), "passWithNoTests: true,")
    await writeFile(join(directory, "basket.test.js"), suite("two"))
    const build = { GITHUB_RUN_ID: "5", GITHUB_RUN_ATTEMPT: "2" }
    const outcomes = []
    for (const shard of ["1/3", "2/3", "3/3"]) outcomes.push(await runVitest(directory, build, [`--shard=${shard}`]))
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0])
    const runs = await Promise.all(outcomes.map(({ lines }) => publishedRun(lines)))
    expect(new Set(runs.map(({ number }) => number)).size).toBe(1)
    expect(runs[0]).toMatchObject({
      state: "finished",
      result: "passed",
      counts: { total: 2, passed: 2 },
      shards: { total: 3, started: 3, finished: 3 }
    })
  })
})
