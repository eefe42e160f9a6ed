import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { configuration } from "../support/project.ts"
import {
  byTitle,
  client,
  counted,
  deliver,
  fixtures,
  numberOf,
  play,
  projectOf,
  readRun,
  withDeployment
} from "../support/retries.ts"

/** Runs that are retried again and again, by shards and merged: each takes Playwright's command line several times. */

withDeployment()

/** A project whose runs are of one commit. */
const committed = (files: Readonly<Record<string, string>>) =>
  projectOf({ "playwright.config.ts": configuration(`{ git: { sha: "9fceb02" } }`), ...files })

describe("delivery-playwright retry", { concurrent: true, timeout: 300_000 }, () => {
  it("finds which failed tests are flaky", async () => {
    const options = `{ git: { sha: "9fceb02" }, cleanup: "cleanup.ts" }`
    const project = await projectOf({
      "playwright.config.ts": configuration(
        options,
        `projects: [{ name: "setup", testMatch: /setup/ }, { name: "web", testMatch: /spec/, dependencies: ["setup"] }]`
      ),
      "cleanup.ts": `export { default } from ${JSON.stringify(join(import.meta.dirname, "../../demo/cleanup.ts"))}`,
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
    const number = numberOf(await play(project))
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
      const file = await client.files.download({ slug: "main", run: number, path })
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

  it("publishes a run of each shard, or one of all that are merged, and retries both", async () => {
    const project = await committed({
      "tests/one.spec.ts": `
        import { expect, test } from "@playwright/test"
        ${counted}
        test("one", () => { expect(times("one")).toBeGreaterThan(2) })
      `,
      "tests/two.spec.ts": `
        import { test } from "@playwright/test"
        test("two", () => {})
      `
    })
    const shard = (number: number) => play(project, { args: ["--shard", `${number}/2`] }).then(numberOf)
    const [first, second] = [await shard(1), await shard(2)]
    expect(byTitle(await readRun(first))).toEqual({ one: ["failed", "null:failed"] })
    expect(byTitle(await readRun(second))).toEqual({ two: ["passed", "null:passed"] })

    for (const number of [1, 2]) {
      const name = { PLAYWRIGHT_BLOB_OUTPUT_FILE: `blobs/${number}.zip` }
      const args = ["--shard", `${number}/2`, "--reporter", "blob"]
      await play(project, { args }, name)
    }
    const merged = numberOf(
      await play(
        project,
        { command: "merge-reports", args: ["-c", "playwright.config.ts", "blobs"] },
        // The reports do not tell it, and a retry at another address would not count.
        { DELIVERY_BASE_URL: "https://staging.shop.example.com" }
      )
    )
    expect(byTitle(await readRun(merged))).toEqual({ one: ["failed", "null:failed"], two: ["passed", "null:passed"] })

    for (const number of [first, merged]) {
      const outcome = await deliver(project, "retry", String(number), "--passes", "1")
      expect([outcome.exitCode, byTitle(await readRun(number))["one"]]).toEqual([
        0,
        ["flaky", "null:failed", "1:passed"]
      ])
    }
  })

  it("exits with 0 when the run passes, and rejects what cannot be retried", async () => {
    const project = await committed({
      "tests/shop.spec.ts": `
        import { expect, test } from "@playwright/test"
        ${counted}
        test("is flaky", () => { expect(times("flaky")).toBeGreaterThan(1) })
      `
    })
    const number = numberOf(await play(project))
    const outcome = await deliver(project, "retry", String(number), "--passes", "2")
    expect([outcome.exitCode, outcome.lines]).toEqual([
      0,
      [expect.stringContaining(`run ${number} passed (0 passed, 1 flaky, 0 failed, 0 skipped)`)]
    ])
    expect((await readRun(number)).result).toBe("passed")

    const nothing = await deliver(project, "retry", String(number), "--passes", "2")
    expect(nothing.exitCode).toBe(2)
    expect(nothing.output).toContain(`Delivery: run ${number} cannot be retried: The run has no failed tests.`)
    const unknown = await deliver(project, "retry", "999", "--passes", "2")
    expect([unknown.exitCode, unknown.output]).toEqual([
      2,
      expect.stringContaining('There is no test run "999" that you can see.')
    ])
    expect((await readRun(number)).retries).toHaveLength(1)
  })
})
