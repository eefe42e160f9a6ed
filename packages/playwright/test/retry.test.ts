import { mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { versionProblem } from "../src/InstalledPlaywright.ts"
import { configuration } from "./support/project.ts"
import { client, counted, deliver, numberOf, play, projectOf, readRun, withDeployment } from "./support/retries.ts"

/** A real suite, its run, and a retry of it by the command line. `faults/retry.test.ts` has what takes many runs. */

withDeployment()

// They wait for each other's processes more than they work.
describe("delivery-playwright retry", { concurrent: true, timeout: 300_000 }, () => {
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
    const number = numberOf(await play(project))
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

  it("says which of its tests are muted and why, and what the run came to without them", async () => {
    const params = { slug: "main" }
    const me = await client.me.get({})
    await client.teams.create({ params, payload: { key: "MUTE", name: "Muting" } })
    const ticket = await client.tickets.create({ params, payload: { team: "MUTE", title: "Mend", owner: me.id } })
    const until = new Date(Date.now() + 24 * 60 * 60_000).toISOString()
    await client.mutes.set({
      params: { ...params, ticket: ticket.identifier },
      payload: { product: "shop", cases: ["MUTED", "PASSES"], until }
    })
    const project = await projectOf({
      "playwright.config.ts": configuration(`{ git: { sha: "9fceb02" } }`),
      "tests/shop.spec.ts": `
        import { expect, test } from "@playwright/test"
        ${counted}
        test("is broken", { tag: "@case:MUTED" }, () => { expect(1).toBe(2) })
        test("is flaky", () => { expect(times("muted")).toBeGreaterThan(1) })
        test("passes", { tag: "@case:PASSES" }, () => {})
      `
    })
    const { lines } = await play(project)
    const number = numberOf({ exitCode: null, lines: lines.slice(0, 1), output: lines.join("\n") })
    const outcome = await deliver(project, "retry", String(number), "--passes", "1")
    const { url } = await readRun(number)
    expect(outcome.exitCode).toBe(0)
    expect(outcome.lines).toEqual([
      `Delivery: retry 1 of run ${number}: 1 of 2 failed tests are flaky; run ${number} failed, passed without its muted tests (1 passed, 1 flaky, 1 failed, 0 skipped): ${url}`,
      `Delivery: muted by ${ticket.identifier} until ${until.slice(0, 16).replace("T", " ")} UTC: is broken (failed)`
    ])
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
    const often = "how often each failed test runs, 1 to 5."
    expect((await deliver(project, "retry", "7")).output).toContain(`--passes is missing: ${often}`)
    expect((await deliver(project, "retry", "7", "--passes", "6")).output).toContain(`--passes is "6": ${often}`)
    const outcome = await deliver(project, "retry", "1", "--passes", "2")
    expect([outcome.exitCode, outcome.output]).toEqual([
      2,
      "The Playwright configuration cannot be loaded, or its reporters do not include @delivery/playwright.\n"
    ])
  })

  it("says in a sentence why it cannot retry, and exits with 2", async () => {
    const project = await projectOf({
      "playwright.config.ts": configuration("{}"),
      "tests/shop.spec.ts": `import { test } from "@playwright/test"\ntest("fails", () => { throw new Error("no") })`
    })
    const number = numberOf(await play(project))
    const other = await projectOf({
      "playwright.config.ts": configuration("{}"),
      "tests/other.spec.ts": `import { test } from "@playwright/test"\ntest("is another", () => {})`
    })
    for (const [where, run, why] of [
      [project, "999", 'There is no test run "999" that you can see.'],
      [other, String(number), "none of its failed tests exists here"]
    ] as const) {
      const outcome = await deliver(where, "retry", run, "--passes", "2")
      expect(outcome.exitCode).toBe(2)
      expect(outcome.output).toContain(`Delivery: run ${run} cannot be retried: ${why}`)
      expect(outcome.output).not.toMatch(/newer|^\s+at /m)
    }
    const { git, machine } = await readRun(number)
    const payload = { passes: 1, baseUrl: null, git, machine }
    await client.retries.start({ params: { slug: "main", run: number }, payload })
    const running = await deliver(project, "retry", String(number), "--passes", "2")
    expect(running.exitCode).toBe(2)
    expect(running.output).toContain("Retry 1 of the run is still running.")
    expect(running.output).toContain(`its publisher can end it: delivery runs end ${number}\n`)
    const wrong = await deliver(project, "retry", String(number), "--passes", "1", "--", "--no-such-option")
    expect(wrong.exitCode).toBe(2)
  })

  it("refuses a Playwright that is too old", async () => {
    const project = await projectOf({ "playwright.config.ts": configuration("{}") })
    const playwright = join(project.directory, "node_modules/@playwright/test")
    await rm(playwright)
    await mkdir(playwright)
    await writeFile(join(playwright, "package.json"), JSON.stringify({ name: "@playwright/test", version: "1.61.2" }))
    const outcome = await deliver(project, "retry", "1", "--passes", "2")
    const sentence = "A retry needs Playwright 1.62 or newer; installed is 1.61.2."
    expect([outcome.exitCode, outcome.output]).toEqual([2, `${sentence}\n`])
    expect(versionProblem("A retry needs", "1.61.2")).toBe(sentence)
    expect(versionProblem("A retry needs", "1.62.0")).toBeUndefined()
    expect(versionProblem("A retry needs", "2.0.0")).toBeUndefined()
  })
})
