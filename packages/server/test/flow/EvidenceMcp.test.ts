import type { AgentMessage } from "@delivery/domain/agents/Message"
import { whatCounts, whyExcluded } from "@delivery/domain/flow/EvidenceWords"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { assert } from "vitest"
import {
  accountKey,
  attempt,
  finishRun,
  type Http,
  join,
  newDeployment,
  onEachServer,
  registerAgent,
  report,
  runOf,
  startRun,
  teamKey
} from "../support/Http.ts"

/** An agent that completes what it has mended, by the official client of MCP (docs/contract.md, Evidence). */

const connect = async ({ baseUrl }: Http, token: string) => {
  const client = new Client({ name: "test", version: "1.0.0" })
  const transport = new StreamableHTTPClientTransport(new URL("/agent/mcp", baseUrl), {
    requestInit: { headers: { authorization: `Bearer ${token}` } }
  })
  await client.connect(transport)
  return client
}

const publish = async (by: Http, sha: string, test: ReturnType<typeof report>) => {
  const { number } = await startRun(by, { git: { ...runOf().git, sha } })
  await finishRun(by, number, { tests: [test] })
}

onEachServer("A ticket that needs evidence", (test) => {
  test("is completed by an agent only when others have seen its tests pass", async (owner) => {
    const workspace = await newDeployment(owner)
    const ci = await accountKey(workspace, "member")
    const person = await join(workspace, "member")
    const { access_token, agent } = await registerAgent(person)
    const { key } = await workspace.post<{ key: string }>("teams", { key: teamKey(), name: "Team" })
    const { statuses } = await workspace.get<{ statuses: ReadonlyArray<TicketStatus> }>(`ticket-statuses?team=${key}`)
    const done = statuses.find(({ category }) => category === "completed")!
    await publish(ci, "b".repeat(40), report("pays", { attempt: attempt("failed") }))
    const { identifier } = await workspace.post<Ticket>("tickets", {
      team: key,
      title: "Mend it",
      owner: agent,
      cases: { product: "shop", caseIds: ["pays"] },
      completion: "evidence"
    })
    const client = await connect(workspace, access_token)
    try {
      const update = async (more: object) => {
        const result = await client.callTool({ name: "update_ticket", arguments: { ticket: identifier, ...more } })
        return result.isError === true ? (result.content as ReadonlyArray<{ text: string }>)[0]!.text : "done"
      }
      const complete = () => update({ status: done.id })
      const refused = await complete()
      assert.include(refused, "evidence_missing")
      assert.include(refused, "> 0 of 1 runs in staging (failed last in run 1): pays")
      assert.include(refused, `It failed last in run 1 (staging, commit ${"b".repeat(12)}).`)
      assert.include(refused, whatCounts)
      // It skips the test, runs it itself, or talks its way out.
      await publish(ci, "c".repeat(40), report("pays", { attempt: null }))
      assert.include(await complete(), "evidence_missing")
      await publish(person, "c".repeat(40), report("pays"))
      assert.include(
        await complete(),
        `(run 3 does not count: ${whyExcluded("of_owner")}) (failed last in run 1): pays`
      )
      for (const wayOut of [{ completion: "free" }, { cases: null }, { status: done.id, override: "It is fine." }]) {
        assert.include(await update(wayOut), "persons_only")
      }
      assert.strictEqual(await update({ owner: null }), "done")
      assert.include(await complete(), "evidence_missing")
      // Somebody else sees it pass.
      await publish(ci, "c".repeat(40), report("pays"))
      assert.strictEqual(await complete(), "done")
      const { id } = await workspace.post<AgentMessage>("messages", { agent, ticket: identifier, ask: "build" })
      const reply = async (run: number) => {
        const answer = { message: id, reply: "Done.", evidence: { run } }
        return (await client.callTool({ name: "complete_message", arguments: answer })).isError === true
      }
      assert.isTrue(await reply(1_000))
      assert.isFalse(await reply(4))
      assert.deepInclude(await workspace.get<AgentMessage>(`messages/${id}`), {
        status: "completed",
        evidence: { run: 4 }
      })
      assert.isNotNull((await workspace.get<Ticket>(`tickets/${identifier}`)).completedAt)
    } finally {
      await client.close()
    }
  })
})
