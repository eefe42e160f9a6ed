import type { Event } from "@delivery/domain/events/Event"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { TestRun, TestRunSummary } from "@delivery/domain/runs/TestRun"
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { assert } from "vitest"
import {
  finishRun,
  getRun,
  type Http,
  join,
  newDeployment,
  onEachServer,
  refresh,
  registerAgent,
  report,
  startRun,
  teamKey
} from "../support/Http.ts"
import { connectAgent } from "./AgentClient.ts"

/** Runs that an agent publishes, by the official client of MCP (docs/contract.md, MCP). */

const git = { branch: "main", sha: "a".repeat(40), dirty: false, subject: "Pay by card" }
const runOf = (fields: object = {}) => ({
  product: "shop",
  environment: "staging",
  baseUrl: "https://staging.shop.example",
  git,
  ...fields
})
const testOf = (caseId: string, attempt: object | null) => ({
  caseId,
  title: caseId,
  file: `${caseId}.spec.ts`,
  coverage: "acceptance",
  testKind: "behavior",
  attempt
})
const passed = (caseId: string) => testOf(caseId, { status: "passed", durationMs: 10 })
const failed = (caseId: string, errorMessage: string) =>
  testOf(caseId, { status: "failed", durationMs: 10, errorMessage })

interface Started {
  readonly run: number
  readonly url: string
  readonly muted: ReadonlyArray<{ readonly text: string }>
}

const scene = async (owner: Http, fields: { readonly fixtureUrl?: string } = {}) => {
  const workspace = await newDeployment(owner, fields)
  const person = await join(workspace, "member")
  const signedIn = await registerAgent(person)
  const agent = await connectAgent(workspace, signedIn.access_token)
  const start = (more: object = {}) => agent.read<Started>("start_run", runOf(more))
  return { workspace, person, signedIn, start, ...agent }
}

onEachServer("A run that an agent publishes", (test) => {
  test("has its tests, and names the agent as its publisher everywhere", async (owner) => {
    const { call, client, person, read, signedIn, start, workspace } = await scene(owner)
    try {
      const { run, url } = await start()
      assert.include(url, `/test-runs/${run}`)
      const summary = await read<TestRunSummary>("finish_run", {
        run,
        durationMs: 1_200,
        tests: [passed("pays"), failed("ships", "Expected 200"), testOf("returns", null)]
      })
      assert.deepStrictEqual(
        [summary.state, summary.result, summary.counts],
        ["finished", "failed", { total: 3, passed: 1, flaky: 0, failed: 1, skipped: 1 }]
      )
      const by = {
        kind: "agent",
        id: signedIn.agent,
        name: "Claude",
        person: {
          id: person.id,
          name: "Sam",
          email: summary.publishedBy.kind === "agent" ? summary.publishedBy.person.email : ""
        }
      }
      const stored = await getRun(workspace, run)
      assert.deepStrictEqual<unknown>(stored.publishedBy, by)
      assert.deepInclude(stored.machine, { hostname: "laptop" })
      assert.deepStrictEqual(
        [stored.baseUrl, stored.durationMs, stored.git],
        ["https://staging.shop.example", 1_200, git]
      )
      const [ships] = stored.tests
      assert.deepStrictEqual(
        [ships?.caseId, ships?.errorMessage, ships?.attempts[0]?.startedAt],
        ["ships", "Expected 200", stored.startedAt]
      )
      const { runs } = await workspace.get<{ runs: ReadonlyArray<TestRunSummary> }>("test-runs")
      assert.deepStrictEqual<unknown>(runs[0]?.publishedBy, by)
      const { events } = await workspace.get<{ events: ReadonlyArray<Event> }>("events?kinds=run_started,run_finished")
      assert.deepStrictEqual<unknown>(
        events.map(({ actor, kind }) => [kind, actor]),
        [
          ["run_finished", by],
          ["run_started", by]
        ]
      )
      // Neither by its person nor again.
      const again = { run, durationMs: 1, tests: [passed("pays")] }
      assert.include((await call("finish_run", again)).text, "not_running")
      const other = await start()
      await person.refuse("403 not_publisher", "POST", `test-runs/${other.run}/finish`, {
        interrupted: false,
        durationMs: 1,
        tests: []
      })
    } finally {
      await client.close()
    }
  })

  test("tells the rules of its product what failed, and proves to none that it passes again", async (owner) => {
    const { client, person, read, start, workspace } = await scene(owner)
    try {
      const team = teamKey()
      await workspace.post("teams", { key: team, name: "Team" })
      await person.post("test-rules", { product: "shop", when: { failures: 1, ofLast: 1 }, team, closeAfter: 1 })
      const ticket = async () =>
        (await workspace.get<{ tickets: ReadonlyArray<Ticket> }>(`tickets?team=${team}`)).tickets.map(
          ({ cases, createdBy, status }) => [cases?.caseIds, createdBy.kind, status.category]
        )
      const finish = async (tests: ReadonlyArray<object>) =>
        read("finish_run", { run: (await start()).run, durationMs: 1, tests })
      await finish([failed("ships", "Expected 200")])
      assert.deepStrictEqual(await ticket(), [[["ships"], "user", "backlog"]])
      await finish([passed("ships")])
      assert.deepStrictEqual(await ticket(), [[["ships"], "user", "backlog"]])
      const { number } = await startRun(workspace)
      await finishRun(workspace, number, { tests: [report("ships")] })
      assert.deepStrictEqual(await ticket(), [[["ships"], "user", "completed"]])
    } finally {
      await client.close()
    }
  })

  test("gives no tokens away, and has no test data", async (owner) => {
    const { call, client, read, workspace } = await scene(owner, { fixtureUrl: "https://fixtures.shop.example" })
    try {
      const { structured, text } = await call("start_run", runOf({ machine: { hostname: "desk", platform: "darwin" } }))
      assert.notMatch(text, /stk_|eyJ/)
      const { run } = structured as Started
      const gaveUp = await read<TestRun>("finish_run", { run, durationMs: 1, interrupted: true, tests: [] })
      assert.deepStrictEqual([gaveUp.state, gaveUp.result], ["interrupted", null])
      const stored = await getRun(workspace, run)
      assert.deepStrictEqual([stored.cleanup, stored.machine], [null, { hostname: "desk", platform: "darwin" }])
    } finally {
      await client.close()
    }
  })

  test("is refused where it is malformed or names what is not there", async (owner) => {
    const { client, person, read, refused, start, workspace } = await scene(owner)
    try {
      const { run } = await start()
      assert.strictEqual(await refused("start_run", runOf({ product: "none" })), "NotFound")
      await workspace.post("products/shop/archive", undefined, 200)
      assert.strictEqual(await refused("start_run", runOf()), "archived")
      for (const tests of [
        [passed("pays"), passed("pays")],
        [{ ...passed("pays"), coverage: "all" }],
        [failed("pays", "e".repeat(20_001))],
        Array.from({ length: 5_001 }, (_, index) => passed(`${index}`))
      ]) {
        const refusal: unknown = await read("finish_run", { run, durationMs: 1, tests }).catch(
          (error: unknown) => error
        )
        assert.instanceOf(refusal, Error, JSON.stringify(tests).slice(0, 100))
      }
      const colleague = await registerAgent(await join(workspace, "member"))
      const other = await connectAgent(workspace, colleague.access_token)
      assert.strictEqual(await other.refused("finish_run", { run, durationMs: 1, tests: [] }), "not_publisher")
      assert.strictEqual(await other.refused("finish_run", { run: 99, durationMs: 1, tests: [] }), "NotFound")
      await other.client.close()
      assert.strictEqual((await getRun(person, run)).state, "running")
    } finally {
      await client.close()
    }
  })

  test("needs a member and the scope write, and says so", async (owner) => {
    const { client, signedIn, workspace } = await scene(owner)
    await client.close()
    const viewer = await registerAgent(await join(workspace, "viewer"))
    const looking = await connectAgent(workspace, viewer.access_token)
    assert.strictEqual(await looking.refused("start_run", runOf()), "role_too_low")
    await looking.client.close()
    const { body } = await refresh(workspace, signedIn, { scope: "read" })
    const reading = await connectAgent(workspace, body.access_token)
    for (const name of ["start_run", "finish_run"]) {
      const refusal: unknown = await reading.call(name, {}).catch((error: unknown) => error)
      assert.instanceOf(refusal, StreamableHTTPError, name)
      assert.isTrue(refusal.code === 403 && refusal.message.includes("insufficient_scope"), refusal.message)
    }
    await reading.client.close()
  })

  test("is interrupted when the agent is revoked, and when its person leaves or may only look", async (owner) => {
    const { client, person, signedIn, start, workspace } = await scene(owner)
    const colleague = await join(workspace, "member")
    const lowered = await join(workspace, "member")
    const others = await Promise.all(
      [colleague, lowered].map(async (one) => connectAgent(workspace, (await registerAgent(one)).access_token))
    )
    const { run } = await start()
    const running = await Promise.all(others.map(({ read }) => read<Started>("start_run", runOf())))
    await Promise.all([client, ...others.map((one) => one.client)].map((one) => one.close()))
    await person.post(`agents/${signedIn.agent}/revoke`, undefined, 200)
    assert.strictEqual((await getRun(workspace, run)).state, "interrupted")
    const left = await workspace.post<{ ended: { runs: number } }>(`members/${colleague.id}/deactivate`, undefined, 200)
    assert.strictEqual(left.ended.runs, 1)
    await workspace.patch(`members/${lowered.id}`, { role: "viewer" })
    for (const one of running) assert.strictEqual((await getRun(workspace, one.run)).state, "interrupted")
    const { events } = await workspace.get<{ events: ReadonlyArray<Event> }>("events?kinds=run_interrupted")
    assert.lengthOf(events, 3)
  })
})
