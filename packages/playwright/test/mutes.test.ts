import type { Event } from "@delivery/domain/events/Event"
import type { Comment } from "@delivery/domain/planning/Comment"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { TestRun } from "@delivery/domain/runs/TestRun"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect } from "vitest"
import { chromiumOptions } from "../../server/test/support/Chromium.ts"
import {
  eventually,
  getRun,
  type Http,
  newDeployment,
  teamKey,
  withClockOnServers
} from "../../server/test/support/Http.ts"
import { servers } from "../../server/test/support/Servers.ts"
import { startShop } from "../demo/shop/Shop.ts"
import { type Outcome, runPlaywright } from "./support/project.ts"

/**
 * From a failure to its fix, with the suite of the demo's shop in a real Chromium, its reporter and a real server over PostgreSQL, whose clock is
 * the test's: red; muted; past the time of the mute; fixed (docs/contract.md, Muting and Test rules).
 */

const suite = join(import.meta.dirname, "../demo/shop")

interface Version {
  readonly sha: string
  /** Whether it has the mistake by which two tests of the suite fail. */
  readonly isRounding: boolean
}

/** Runs the suite against a version of the shop; answers what Playwright did, and the run as the server has it. */
const runnerOf = async (workspace: Http, output: string) => {
  const chromium = await chromiumOptions()
  let isFirst = true
  return async ({ isRounding, sha }: Version): Promise<{ readonly outcome: Outcome; readonly run: TestRun }> => {
    const shop = await startShop({ isRounding })
    const git = { branch: "main", sha, dirty: false, subject: "Round prices" }
    // The first run draws what the later ones are compared with.
    const updateSnapshots = isFirst ? "all" : "none"
    isFirst = false
    const environment = {
      DELIVERY_URL: workspace.baseUrl,
      DELIVERY_API_KEY: workspace.key!,
      DELIVERY_WORKSPACE: workspace.workspace,
      DELIVERY_PRODUCT: "shop",
      DELIVERY_ENVIRONMENT: "staging",
      DELIVERY_BASE_URL: "https://staging.shop.example",
      DEMO_RUN: JSON.stringify({ chromium, git, output, baseURL: shop.url, updateSnapshots })
    }
    const project = { directory: suite, saved: async () => [], remove: async () => {} }
    const outcome = await runPlaywright(project, environment, { args: ["-c", "playwright.config.ts"] })
    await shop.close()
    const number = /Delivery: run (\d+) /.exec(outcome.output)?.[1]
    if (number === undefined) throw new Error(`Nothing was published:\n${outcome.output}`)
    return { outcome, run: await getRun(workspace, Number(number)) }
  }
}

const good = { sha: "a".repeat(40), isRounding: false }
const bad = { sha: "b".repeat(40), isRounding: true }
const mended = { sha: "c".repeat(40), isRounding: false }

const failing = ["Basket › adds up what is in it", "Basket › looks as designed"]
const daysLater = (at: string, days: number) => new Date(Date.parse(at) + days * 24 * 60 * 60_000).toISOString()

/** What the reporter says of a run, and of its muted tests. */
const saidOf = ({ url, number }: TestRun, summary: string, muted: ReadonlyArray<string> = []) => [
  `Delivery: run ${number} ${summary}: ${url}`,
  ...muted.map((one) => `Delivery: ${one}`)
]

/** Six runs of the suite, each with a browser of its own, take minutes beside other suites. */
const longMillis = 600_000

const onPostgres = servers.filter(([storage]) => storage === "PostgreSQL")

withClockOnServers(onPostgres, "A real suite whose tests fail, are muted and are mended", (test) => {
  test(
    "is red, passes its gate while a ticket mutes them, is red again after that, and closes the tickets",
    async (owner, advance) => {
      const workspace = await newDeployment(owner)
      const key = teamKey()
      await workspace.post("teams", { key, name: "Checkout" })
      const { id } = await workspace.get<{ id: string }>("/v1/me")
      await workspace.post("test-rules", {
        product: "shop",
        when: { failures: 1, ofLast: 1 },
        team: key,
        owner: id,
        closeAfter: 2
      })
      const openTickets = async () =>
        (await workspace.get<{ tickets: ReadonlyArray<Ticket> }>(`tickets?team=${key}`)).tickets.filter(
          ({ completedAt }) => completedAt === null
        )
      const folder = await mkdtemp(join(tmpdir(), "delivery-mutes-"))
      const runSuite = await runnerOf(workspace, join(folder, "output"))
      try {
        const base = await runSuite(good)
        expect([base.outcome.exitCode, base.run.result, await openTickets()]).toEqual([0, "passed", []])

        // Red: a rule makes a ticket of each test.
        const red = await runSuite(bad)
        expect(red.outcome.lines).toEqual(saidOf(red.run, "failed (6 passed, 2 failed, 1 skipped)"))
        expect([red.outcome.exitCode, red.run.result, red.run.gateResult]).toEqual([1, "failed", "failed"])
        const failed = red.run.tests.filter(({ status }) => status === "failed")
        expect(failed.map(({ title }) => title)).toEqual(failing)
        const tickets = await openTickets()
        const ticketOf = (caseId: string) => tickets.find(({ cases }) => cases?.caseIds.includes(caseId))!
        expect(tickets.flatMap(({ cases }) => cases?.caseIds).toSorted()).toEqual(
          failed.map(({ caseId }) => caseId).toSorted()
        )

        // Muted: the result stays what it is, and the gate is green.
        const until = daysLater(red.run.startedAt, 30)
        for (const { caseId } of failed) {
          const answer = await workspace.send("PUT", `tickets/${ticketOf(caseId).identifier}/mute`, {
            json: { product: "shop", cases: [caseId], until }
          })
          expect(answer).toMatchObject({ status: 200 })
        }
        const muted = await runSuite(bad)
        expect([muted.outcome.exitCode, muted.run.result, muted.run.gateResult]).toEqual([0, "failed", "passed"])
        expect(muted.run.counts).toMatchObject({ passed: 6, failed: 2 })
        const why = failed.map(
          ({ caseId, title }) =>
            `muted by ${ticketOf(caseId).identifier} until ${until.slice(0, 16).replace("T", " ")} UTC: ${title} (failed)`
        )
        expect(muted.outcome.lines).toEqual(
          saidOf(muted.run, "failed, passed without its muted tests (6 passed, 2 failed, 1 skipped)", why)
        )
        expect(muted.run.mutes.map(({ ticket }) => ticket).toSorted()).toEqual(
          tickets.map(({ identifier }) => identifier).toSorted()
        )

        // Past its time: red again, in the same tickets.
        advance("31 days")
        const late = await runSuite(bad)
        expect([late.outcome.exitCode, late.run.result, late.run.gateResult]).toEqual([1, "failed", "failed"])
        expect(late.outcome.lines).toEqual(saidOf(late.run, "failed (6 passed, 2 failed, 1 skipped)"))
        expect((await openTickets()).map((ticket) => [ticket.id, ticket.mute])).toEqual(
          tickets.map(({ id }) => [id, null])
        )
        for (const { identifier } of tickets) {
          const { comments } = await workspace.get<{ comments: ReadonlyArray<Comment> }>(
            `tickets/${identifier}/comments`
          )
          expect(comments.map(({ body }) => body)).toEqual([expect.stringContaining(`${late.run.number}`)])
        }
        const { events } = await eventually(
          () => workspace.get<{ events: ReadonlyArray<Event> }>("events?kinds=ticket_unmuted"),
          (feed) => feed.events.length === 2
        )
        expect(events.map(({ subject }) => subject.id).toSorted()).toEqual(
          tickets.map((ticket) => ticket.id).toSorted()
        )

        // Fixed: the tickets are closed by what passes, not by anybody.
        const first = await runSuite(mended)
        expect([first.outcome.exitCode, first.run.gateResult, (await openTickets()).length]).toEqual([0, "passed", 2])
        const second = await runSuite(mended)
        expect([second.outcome.exitCode, second.run.gateResult, await openTickets()]).toEqual([0, "passed", []])
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
    longMillis
  )
})
