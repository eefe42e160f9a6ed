import type { TestRun, TestRunSummary } from "@delivery/domain/runs/TestRun"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { configuration, makeProject, runPlaywright } from "../../playwright/test/support/project.ts"
import { freePort } from "../../server/src/cli/FreePort.ts"
import { type Http, newDeployment } from "../../server/test/support/Http.ts"
import { useService } from "./support/Service.ts"

/** The commands of `delivery runs` that need a real Playwright: retries, traces, blob reports and saved results. */

const suite = {
  "playwright.config.ts": configuration(`{ git: { sha: "9fceb02" } }`),
  "tests/shop.spec.ts": `
    import { expect, test } from "@playwright/test"
    import { existsSync } from "node:fs"
    test.use({ trace: "on" })
    test("pays by card", () => { expect(existsSync("mended")).toBe(true) })
    test("pays by invoice", () => {})
  `
}

describe("delivery runs, with Playwright", { timeout: 300_000 }, () => {
  const server = useService()

  /** A project with Playwright, in a workspace of its own. */
  const project = async () => {
    const [made, home] = [await makeProject(suite), server.home()]
    server.afterwards(made.remove)
    const workspace = await newDeployment(server.owner())
    const env = (by: Http) => ({
      ...server.as(by),
      DELIVERY_PRODUCT: "shop",
      DELIVERY_ENVIRONMENT: "staging"
    })
    const inProject = { env: env(workspace), cwd: made.directory }
    return {
      workspace,
      directory: made.directory,
      play: (environment: Readonly<Record<string, string>> = {}, ...args: ReadonlyArray<string>) =>
        runPlaywright(made, { ...env(workspace), ...environment }, { args }),
      delivery: (...args: ReadonlyArray<string>) => home.delivery(args, inProject),
      run: (number: number) => workspace.get<TestRun>(`test-runs/${number}`)
    }
  }

  it("retries a run, and stores the trace of a test", async () => {
    const { delivery, directory, play, run } = await project()
    await play()
    assert.deepInclude((await run(1)).counts, { passed: 1, failed: 1 })
    const several = await delivery("runs", "trace", "1", "--output", "trace.zip")
    assert.deepInclude(several, { code: 2, out: "" })
    assert.include(several.err, "Run 1 has several. Say which with --test")
    const one = await delivery("runs", "trace", "1", "--test", "pays by card", "--output", "trace.zip")
    assert.deepInclude(one, { code: 0, err: "", out: "trace.zip\n" })
    assert.strictEqual(readFileSync(join(directory, "trace.zip"), "latin1").slice(0, 2), "PK")
    const none = await delivery("runs", "trace", "1", "--test", "pays by post")
    assert.deepInclude(none, { code: 1, err: "Run 1 has no trace of such a test.\n" })

    assert.strictEqual((await delivery("runs", "retry", "1", "--passes", "1")).code, 1)
    assert.deepInclude((await run(1)).counts, { passed: 1, flaky: 0, failed: 1 })
    writeFileSync(join(directory, "mended"), "")
    assert.strictEqual((await delivery("runs", "retry", "1", "--passes", "2", "--", "--workers", "2")).code, 0)
    assert.deepInclude((await run(1)).counts, { passed: 1, flaky: 1, failed: 0 })
    assert.strictEqual((await delivery("runs", "retry", "1", "--passes", "9")).code, 2)
  })

  it("publishes blob reports as one run", async () => {
    const { delivery, directory, play } = await project()
    for (const shard of ["1/2", "2/2"]) {
      const file = join(directory, `blobs/report-${shard[0]}.zip`)
      await play({ PLAYWRIGHT_BLOB_OUTPUT_FILE: file }, "--reporter", "blob", "--fully-parallel", "--shard", shard)
    }
    const blobs = readdirSync(join(directory, "blobs")).map((name) => join("blobs", name))
    assert.lengthOf(blobs, 2)
    const published = await delivery("runs", "publish", ...blobs, "--json")
    assert.deepInclude(published, { code: 0, err: "" })
    const { run } = JSON.parse(published.out) as { run: TestRunSummary }
    assert.deepInclude(run.counts, { total: 2, passed: 1, failed: 1 })
    writeFileSync(join(directory, "broken.zip"), "PK")
    const broken = await delivery("runs", "publish", "broken.zip")
    assert.deepInclude(broken, { code: 1, out: "" })
    assert.match(broken.err, /^broken\.zip is not published: Playwright cannot merge it\./)
  })

  it("publishes what the reporter saved while the service was away", async () => {
    const { delivery, directory, play, run } = await project()
    const away = `http://127.0.0.1:${await freePort()}`
    const { output } = await play({ DELIVERY_URL: away })
    const [, file = ""] = /delivery runs publish (\S+\.json)/.exec(output)!
    const published = await delivery("runs", "publish", file)
    const elsewhere = `${file} was saved for ${away}, and goes to ${server.baseUrl}.\n`
    assert.deepInclude(published, { code: 0, err: elsewhere })
    // What a job that runs again publishes again stays the same run.
    const repeated = await delivery("runs", "publish", file)
    assert.deepStrictEqual(repeated, { ...published, err: "" })
    assert.strictEqual((await delivery("runs", "show", "2")).code, 1)
    const { counts, git, product, tests } = await run(1)
    assert.deepInclude(counts, { total: 2, passed: 1, failed: 1 })
    assert.deepStrictEqual([git.sha, product.slug, tests.length], ["9fceb02", "shop", 2])
    // The service refused the run, so the reporter could not read the URL of the deployment.
    const refused = await play({ DELIVERY_API_KEY: "ctk_wrong" })
    const [, other = ""] = /delivery runs publish (\S+\.json)/.exec(refused.output)!
    const { finish, start } = JSON.parse(readFileSync(other, "utf8"))
    writeFileSync(other, JSON.stringify({ start: { ...start, baseUrl: undefined }, finish }))
    assert.deepInclude(await delivery("runs", "publish", other), { code: 0, err: "" })
    const { baseUrl, deploymentBaseUrl } = await run(2)
    assert.strictEqual(baseUrl, deploymentBaseUrl)
    const again = await delivery("runs", "publish", file, "--again")
    assert.deepInclude(again, { code: 0, err: "" })
    assert.deepInclude((await run(3)).counts, counts)
    assert.match((await delivery("runs", "publish", file)).out, /^Run 3 /)
    // A run that the reporter has started, and that is finished by another way.
    const { finish: other3, run: number } = JSON.parse(readFileSync(file, "utf8"))
    writeFileSync(join(directory, "begun.json"), JSON.stringify({ run: number, finish: other3 }))
    assert.match((await delivery("runs", "publish", "begun.json")).out, /^Run 3 /)
    assert.strictEqual((await delivery("runs", "publish", "begun.json", "--again")).code, 2)
    writeFileSync(join(directory, "damaged.json"), '{"finish":{}}')
    const damaged = await delivery("runs", "publish", "damaged.json")
    assert.strictEqual(
      damaged.err,
      "damaged.json is not published: it is not what the reporter saves, or of another version.\n"
    )
    assert.strictEqual((await delivery("runs", "publish", file, "damaged.json")).code, 2)
  })
})
