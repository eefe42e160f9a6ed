import { createClient, createSemaphores, type PromiseClient } from "@delivery/client"
import { readdir, readFile, writeFile } from "node:fs/promises"
import { setTimeout } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningServer, startServer } from "../../client/test/support/server.ts"
import { configuration, makeProject, type Project, runPlaywright } from "./support/project.ts"

const slug = "main"

let server: RunningServer
let client: PromiseClient
let environment: Record<string, string>
let project: Project | undefined

beforeAll(async () => {
  server = await startServer()
  client = createClient({ baseUrl: server.url, apiKey: server.apiKey })
  const params = { slug }
  await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "library" } })
  await client.environments.create({ params, payload: { slug: "ci", name: "CI", class: "non-production" } })
  await client.deployments.create({ params, payload: { product: "shop", environment: "ci" } })
  environment = {
    DELIVERY_URL: server.url,
    DELIVERY_API_KEY: server.apiKey,
    DELIVERY_WORKSPACE: slug,
    DELIVERY_PRODUCT: "shop",
    DELIVERY_ENVIRONMENT: "ci"
  }
}, 240_000)

afterAll(async () => {
  await project?.remove()
  await server.stop()
})

/** How long a test may take, in milliseconds; those that wait for a lease wait for longer. */
const testMillis = 5_000

const suite = `
import { expect, test } from "@delivery/playwright/fixtures"
import { existsSync, writeFileSync } from "node:fs"

test.describe("one at a time", () => {
  test.describe.configure({ mode: "parallel", timeout: ${testMillis} })
  test.use({ semaphore: { name: "account", capacity: 1 } })
  test.beforeAll(() => writeFileSync("begun-" + test.info().workerIndex + ".txt", ""))
  for (const i of [1, 2, 3]) {
    test("has the account " + i, async ({ lease }) => {
      const from = Date.now()
      // The first has it until the others have waited for longer than a test may take.
      test.setTimeout(0)
      while (!existsSync("enough.txt")) await new Promise((resolve) => setTimeout(resolve, 50))
      expect(lease?.slot).toBe(1)
      expect(lease?.signal.aborted).toBe(false)
      writeFileSync("lease-" + i + ".json", JSON.stringify({ ...lease, from, to: Date.now() }))
    })
  }
})

test("waits inside of a test in time of its own", async ({ withSemaphore }) => {
  test.setTimeout(${testMillis})
  writeFileSync("begun-waiting.txt", "")
  const slot = await withSemaphore("device", { capacity: 1 }, async (lease) => lease?.slot)
  expect(slot).toBe(1)
})

test("needs none", async ({ lease }) => {
  expect(lease).toBeUndefined()
})
`

describe("leases of tests", () => {
  it("wait outside of the test's time, and last for as long as the test runs", async () => {
    project = await makeProject({
      "playwright.config.ts": configuration("{}", "workers: 4, fullyParallel: true"),
      "tests/leases.spec.ts": suite
    })
    // Another run holds the device until the test that needs it has waited for longer than it may take.
    const other = await client.testRuns.start({
      params: { slug },
      payload: {
        product: "shop",
        environment: "ci",
        baseUrl: "https://shop.example.com",
        git: { branch: "main", sha: "9fceb02", dirty: false, subject: "Add the basket" },
        machine: { hostname: "ci-7", platform: "linux" },
        selection: { coverage: null, folders: [], caseIds: [] }
      }
    })
    let free = () => {}
    const holding = createSemaphores(other.semaphores).withSemaphore(
      "device",
      { capacity: 1 },
      () => new Promise<void>((resolve) => (free = resolve))
    )
    const { directory } = project
    const watching = (async () => {
      const begun = async () => (await readdir(directory)).filter((name) => name.startsWith("begun-"))
      // Three tests that need the account, and one that needs the device.
      while ((await begun()).length < 4) await setTimeout(50)
      await setTimeout(testMillis)
      await writeFile(`${directory}/enough.txt`, "")
      free()
      await holding
    })()
    const outcome = await runPlaywright(project, environment)
    await watching
    expect(outcome.output).toContain("5 passed")
    expect(outcome.exitCode).toBe(0)

    const read = async (i: number) =>
      JSON.parse(await readFile(`${project!.directory}/lease-${i}.json`, "utf8")) as {
        readonly from: number
        readonly to: number
        readonly test: string
        readonly name: string
      }
    const leases = (await Promise.all([1, 2, 3].map(read))).toSorted((a, b) => a.from - b.from)
    for (const [i, lease] of leases.entries()) {
      expect(lease.name).toBe("account")
      expect(lease.test).toMatch(/^leases\.spec\.ts › one at a time › has the account \d$/)
      expect(lease.from).toBeGreaterThanOrEqual(leases[i - 1]?.to ?? 0)
    }
    const { semaphores } = await client.semaphores.list({ params: { slug } })
    expect(semaphores.map(({ holders, name }) => [name, holders])).toEqual([
      ["account", []],
      ["device", []]
    ])
  }, 240_000)

  it("leave a test its own time limit, and are released when it ends", async () => {
    const slow = await makeProject({
      "playwright.config.ts": configuration("{}"),
      "tests/slow.spec.ts": `
        import { test } from "@delivery/playwright/fixtures"
        test.setTimeout(1_500)
        const aborted = ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve))
        const forever = () => new Promise(() => {})
        test("forever in use", async ({ withSemaphore }) => {
          await withSemaphore("slow", { capacity: 1 }, aborted)
        })
        test.describe("held", () => {
          test.use({ semaphore: { name: "slow", capacity: 1 } })
          test("forever held", forever)
        })
      `
    })
    const outcome = await runPlaywright(slow, environment)
    await slow.remove()
    expect(outcome.output).toContain("2 failed")
    expect(outcome.output.match(/Test timeout of \d+ms exceeded/g)).toHaveLength(2)
    const { semaphores } = await client.semaphores.list({ params: { slug } })
    expect(semaphores.find(({ name }) => name === "slow")?.holders).toEqual([])
  }, 240_000)

  it("are absent if nothing is published", async () => {
    const outcome = await runPlaywright(
      project!,
      {},
      { args: ["-g", "needs none|inside of a test", "--reporter", "line"] }
    )
    expect(outcome.exitCode).toBe(1)
    expect(outcome.output).toContain("1 passed")
    expect(outcome.output).toContain("1 failed")
  }, 240_000)
})
