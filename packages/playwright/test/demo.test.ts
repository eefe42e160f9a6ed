import { createClient } from "@delivery/client"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"

let demo: ChildProcess | undefined

afterAll(async () => {
  if (demo === undefined || demo.exitCode !== null) return
  demo.kill("SIGINT")
  await once(demo, "exit")
})

/** What the demo prints, up to the link. */
const printed = async (): Promise<string> => {
  demo = spawn(process.execPath, [join(import.meta.dirname, "../demo/demo.ts"), "--serve"], {
    env: { ...process.env, WEBSITE: "false" },
    stdio: ["ignore", "pipe", "inherit"]
  })
  let output = ""
  for await (const text of demo.stdout!.setEncoding("utf8")) {
    output += text
    if (/#ltk_\S+\n/.test(output)) return output
  }
  throw new Error(`It ended without a link:\n${output}`)
}

it("serves a team's workspace: weeks of runs of a real suite, releases with tickets, secrets and members", async () => {
  const output = await printed()
  const apiKey = /ctk_\w+/.exec(output)![0]
  const client = createClient({ baseUrl: /http:\/\/localhost:\d+/.exec(output)![0], apiKey })
  const params = { slug: "main" }
  const { runs } = await client.testRuns.list({ params })
  const [running, newest, before] = runs
  expect(running?.state).toBe("running")
  expect([newest?.result, before?.result, before?.counts.flaky]).toEqual(["failed", "passed", 1])
  // Later runs are newer, and none is of the future.
  const times = runs.map(({ startedAt }) => Date.parse(startedAt))
  expect(times).toEqual(times.toSorted((a, b) => b - a))
  expect(times[0]).toBeLessThan(Date.now())
  expect(Date.now() - times.at(-1)!).toBeGreaterThan(20 * 24 * 60 * 60_000)

  const failed = (await client.testRuns.get({ params: { slug: "main", run: newest!.number } })).tests.find(
    ({ title }) => title.endsWith("looks as designed")
  )
  const files = failed!.attempts[0]!.files.map((path) => path.slice(path.lastIndexOf("/") + 1))
  expect(files).toEqual(
    expect.arrayContaining(["basket-actual.png", "basket-diff.png", "basket-expected.png", "trace.zip"])
  )

  const { mutes } = await client.mutes.list({ params })
  expect(mutes.map(({ cases, overdue, ticket }) => [cases.length, overdue, ticket?.identifier])).toEqual([
    [1, false, "SHOP-2"]
  ])
  const [rule] = (await client.testRules.list({ params })).testRules
  const { tickets } = await client.testRules.tickets({ params: { slug: "main", testRule: rule!.id } })
  const { cases, completion, identifier } = tickets[0]!
  expect([completion, cases!.caseIds]).toEqual(["evidence", [failed!.caseId]])
  const evidence = await client.evidence.get({ params: { slug: "main", ticket: identifier } })
  expect(evidence.cases.map(({ failed, needed, passed }) => [passed, needed, failed?.run])).toEqual([
    [0, 2, newest!.number]
  ])

  const production = { slug: "main", product: "shop", environment: "production" }
  const { ready, reasons } = await client.readiness.get({ params: production, query: {} })
  expect([ready, reasons.some(({ kind }) => kind === "ticket_blocks"), reasons.length > 2]).toEqual([false, true, true])
  const metrics = await client.metrics.delivery({ params, query: { product: "commons-csv" } })
  expect(metrics.changeFailureRate.failed.map(({ version }) => version)).toEqual(["rel/commons-csv-1.6"])
  expect(metrics.timeToRestore.medianMs).toBeLessThan(4 * 60 * 60_000)
  const trace = await client.releases.trace({ params: { slug: "main", ticket: "CSV-233" } })
  expect(JSON.stringify(trace)).toContain("commons-csv-1.7-RC1")
  expect((await client.vault.list({ params })).secrets.length).toBeGreaterThan(5)
  expect((await client.members.list({ params })).members).toHaveLength(5)

  const used = async () =>
    (await client.semaphores.list({ params })).semaphores.map(({ holders, name, queued }) => [
      name,
      holders.length,
      queued
    ])
  // Who waits asks once the others hold.
  await expect.poll(used).toEqual([
    ["mailbox", 1, 0],
    ["payment-sandbox", 2, 1]
  ])
  const { tokens } = await client.deploymentTokens.list({ params: production })
  expect(tokens.map(({ lastUsedAt, name }) => [name, lastUsedAt !== null]).toSorted()).toEqual([
    ["kubernetes", true],
    ["nightly back-up", false]
  ])
  expect((await client.trustedPublishers.list({ params })).trustedPublishers).toHaveLength(2)
  const { webhooks } = await client.webhooks.list({ params })
  expect(webhooks.map(({ state }) => state)).toEqual(["active", "active"])
}, 300_000)
