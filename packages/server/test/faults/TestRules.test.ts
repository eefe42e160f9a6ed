import type { AgentSignIn } from "@delivery/domain/agents/Agent"
import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Comment } from "@delivery/domain/planning/Comment"
import type { Ticket, TicketSummary } from "@delivery/domain/planning/Ticket"
import type { StartedTestRun, TestRunPage } from "@delivery/domain/runs/TestRun"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { makeDatabase } from "../support/Databases.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** Runs that fail alike finish at once at two servers of one PostgreSQL, of which one is killed meanwhile. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const count = 20
const rounds = 3

const call = async <A>(server: ServerProcess, method: string, path: string, body?: unknown) => {
  const response = await fetch(`${server.baseUrl}/v1/workspaces/main/${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: response.status, body: (await response.json()) as A }
}

const asked = async <A>(server: ServerProcess, method: string, path: string, body?: unknown): Promise<A> => {
  const answer = await call<A>(server, method, path, body)
  assert.isBelow(answer.status, 300, JSON.stringify(answer.body))
  return answer.body
}

const failed = (caseId: string) => ({
  caseId,
  title: caseId,
  file: "a.spec.ts",
  coverage: "acceptance",
  testKind: "journey",
  attempt: {
    status: "failed",
    durationMs: 1,
    startedAt: "2026-11-21T09:30:10.123Z",
    errorMessage: "Expected 200, got 500",
    errorStack: null,
    files: []
  }
})

describe("Rules of two servers", () => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-rules-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const withServers = (use: (start: () => Promise<ServerProcess>) => Promise<void>) =>
    Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(makeDatabase, ({ url }) => {
          const settings = {
            DATABASE_URL: url,
            VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`,
            DATA_DIR: directory,
            BOOTSTRAP_API_KEY: apiKey,
            LOG_LEVEL: "warn"
          }
          return Effect.promise(() => use(() => startServer(settings)))
        })
      )
    )

  it("make one ticket per case, with one message and a comment for each further run, through kill -9", () =>
    withServers(async (startOne) => {
      const stays = await startOne()
      let dies = await startOne()
      try {
        await asked(stays, "POST", "environments", { slug: "staging", name: "Staging", class: "non-production" })
        await asked(stays, "POST", "teams", { key: "ENG", name: "Engineering" })
        const { agent } = await asked<AgentSignIn>(stays, "POST", "agents/register", {
          client: "claude",
          computer: "laptop"
        })
        for (let round = 1; round <= rounds; round++) {
          const product = `shop-${round}`
          // Of the last round, three fail at once, which is many.
          const cases = round === rounds ? ["a", "b", "c"] : ["a", "b"]
          await asked(stays, "POST", "products", { slug: product, name: product, type: "library" })
          await asked(stays, "POST", "deployments", { product, environment: "staging" })
          const rule = { product, when: { failures: 1 }, team: "ENG", owner: agent, above: 3 }
          await asked(stays, "POST", "test-rules", rule)
          const numbers: Array<number> = []
          for (let index = 0; index < count; index++) {
            const { number } = await asked<StartedTestRun>(stays, "POST", "test-runs", {
              product,
              environment: "staging",
              baseUrl: "https://shop.example",
              git: { branch: "main", sha: "abcdef0", dirty: false, subject: "Add it" },
              machine: { hostname: "ci", platform: "linux" },
              selection: { coverage: null, folders: [], caseIds: [] }
            })
            numbers.push(number)
          }
          const report = { interrupted: false, durationMs: 1, cleanup: null, tests: cases.map(failed) }
          let killed: Promise<unknown> | undefined
          let lost = 0
          const finish = async (number: number, index: number) => {
            for (let server = index % 2 === 0 ? stays : dies; ; server = stays) {
              const answer = await call<{ reason?: string }>(
                server,
                "POST",
                `test-runs/${number}/finish`,
                report
              ).catch(() => undefined)
              if (answer === undefined) {
                lost++
                continue
              }
              // What was stored before its answer was lost has ended.
              if (answer.status !== 200) assert.strictEqual(answer.body.reason, "not_running")
              // The first that is through kills the other server, at which others wait for their turn.
              killed ??= dies.end("SIGKILL")
              return
            }
          }
          await Promise.all(numbers.map(finish))
          await killed
          assert.isAbove(lost, 0, "nobody was interrupted")
          dies = await startOne()

          const { runs } = await asked<TestRunPage>(dies, "GET", `test-runs?product=${product}`)
          assert.deepStrictEqual(
            runs.map(({ state }) => state),
            numbers.map(() => "finished")
          )
          const { tickets } = await asked<{ tickets: ReadonlyArray<TicketSummary> }>(dies, "GET", "tickets?team=ENG")
          const made = tickets.filter(({ cases: about }) => about?.product === product)
          assert.sameDeepMembers(
            made.map(({ cases: about }) => about!.caseIds),
            round === rounds ? [cases] : cases.map((caseId) => [caseId])
          )
          for (const { identifier } of made) {
            const one = await asked<Ticket>(dies, "GET", `tickets/${identifier}`)
            const path = `tickets/${identifier}/comments`
            const { comments } = await asked<{ comments: ReadonlyArray<Comment> }>(dies, "GET", path)
            const named = [one.description!, ...comments.map(({ body }) => body)].map((text) =>
              Number(/\[(\d+)\]/.exec(text)![1])
            )
            // Nothing is lost, and nothing twice: each run is in the ticket once.
            assert.sameMembers(named, numbers)
            const sent = `messages?ticket=${identifier}`
            const { messages } = await asked<{ messages: ReadonlyArray<AgentMessage> }>(dies, "GET", sent)
            assert.lengthOf(messages, 1)
          }
        }
      } finally {
        await Promise.all([stays.end(), dies.end()])
      }
    }))
})
