import type { TicketEvidence } from "@delivery/domain/flow/Evidence"
import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Quoted } from "@delivery/domain/agents/Quote"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
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
import { type AgentConnection, connectAgent } from "./AgentClient.ts"

/** The way of an agent from a failure to its fix, by the official client of MCP alone (docs/contract.md, MCP and Evidence). */

const caseId = "checkout.spec.ts:pays-by-card"
const [broken, fixed] = ["b".repeat(40), "c".repeat(40)]
const log = "POST /payments\n500 The card has no currency\n"

const publish = async (
  by: Http,
  sha: string,
  test: ReturnType<typeof report>,
  files: Readonly<Record<string, string>> = {}
) => {
  const { number } = await startRun(by, { git: { ...runOf().git, sha } })
  for (const [path, body] of Object.entries(files)) {
    const headers = { "content-type": path.endsWith(".txt") ? "text/plain" : "image/png" }
    const { status } = await by.send("PUT", `test-runs/${number}/files/${path}`, { body, headers })
    assert.strictEqual(status, 201)
  }
  await finishRun(by, number, { tests: [test] })
  return number
}

const failure = report(caseId, {
  attempt: attempt("failed", { errorMessage: "Expected 200, got 500", files: ["stdout.txt", "failed.png"] })
})

/** An agent with a message about a ticket that needs evidence, after a run of the CI that failed. */
const scene = async (owner: Http) => {
  const workspace = await newDeployment(owner)
  const ci = await accountKey(workspace, "member")
  const person = await join(workspace, "member")
  const { access_token, agent: id } = await registerAgent(person)
  const { key } = await workspace.post<{ key: string }>("teams", { key: teamKey(), name: "Team" })
  await publish(ci, "a".repeat(40), report(caseId))
  const failed = await publish(ci, broken, failure, { "stdout.txt": log, "failed.png": "a picture" })
  const ticket = await workspace.post<Ticket>("tickets", {
    team: key,
    title: "Paying by card fails",
    owner: id,
    cases: { product: "shop", caseIds: [caseId] },
    completion: "evidence"
  })
  const message = await workspace.post<AgentMessage>("messages", { agent: id, ticket: ticket.identifier, ask: "build" })
  const agent = await connectAgent(workspace, access_token)
  return { workspace, ci, person, failed, ticket, message, agent }
}

interface Taken {
  readonly id: string
  readonly ticket: { readonly identifier: string }
}

/** Takes the message and reads why the test failed: what an agent knows of it, of nothing but tools and resources. */
const investigate = async ({ read, call, resource }: AgentConnection) => {
  const { messages } = await read<{ messages: ReadonlyArray<Taken> }>("take_message")
  const { runs } = await read<{ runs: ReadonlyArray<{ number: number }> }>("list_runs", { result: "failed" })
  const run = runs[0]!.number
  const { tests } = await read<{ tests: ReadonlyArray<{ caseId: Quoted }> }>("get_run", { run, status: "failed" })
  const { links, structured } = await call("get_failure", { run, caseId: tests[0]!.caseId.text })
  const files = await Promise.all(
    links.map(async ({ name, uri }) => {
      const { blob, text } = await resource(uri)
      return [name, text ?? Buffer.from(blob!, "base64").toString()] as const
    })
  )
  const { errorMessage } = structured as { errorMessage: Quoted }
  return { message: messages[0]!, run, errorMessage, files: Object.fromEntries(files) }
}

/** A run that the agent publishes of what it has changed. */
const publishAsAgent = async (
  { read }: AgentConnection,
  result: { readonly status: string; readonly durationMs?: number }
) => {
  const { attempt: _, ...test } = report(caseId)
  const git = { ...runOf().git, sha: fixed }
  const { baseUrl, environment, product } = runOf()
  const { run } = await read<{ run: number }>("start_run", { product, environment, baseUrl, git })
  await read("finish_run", { run, durationMs: 10, tests: [{ ...test, attempt: result }] })
  return run
}

const passes = { status: "passed", durationMs: 10 }

/** Completes the ticket, and answers the message with a run as evidence; says what became of the ticket. */
const complete = async (
  { ticket, workspace }: { readonly ticket: Ticket; readonly workspace: Http },
  { read, call }: AgentConnection,
  message: string,
  run: number
) => {
  const { statuses } = await read<{ statuses: ReadonlyArray<TicketStatus> }>("list_statuses", { team: ticket.team.key })
  const status = statuses.find(({ category }) => category === "completed")!.id
  const { isError, text } = await call("update_ticket", { ticket: ticket.identifier, status })
  await read("complete_message", { message, reply: "Done.", evidence: { run } })
  const { completedAt } = await workspace.get<Ticket>(`tickets/${ticket.identifier}`)
  assert.strictEqual(completedAt === null, isError)
  return isError ? /\((\w+)\)/.exec(text)?.[1] : "completed"
}

onEachServer("An agent that mends a failing test", (test) => {
  test("reads why it failed, mends it, and completes its ticket once somebody else has seen it pass", async (owner) => {
    const at = await scene(owner)
    const { agent, ci, failed, message, ticket, workspace } = at
    try {
      const found = await investigate(agent)
      assert.deepStrictEqual(
        [found.message.id, found.message.ticket.identifier, found.run],
        [message.id, ticket.identifier, failed]
      )
      assert.strictEqual(found.errorMessage.text, "> Expected 200, got 500")
      assert.deepStrictEqual(found.files, {
        "failed.png": "a picture",
        "stdout.txt": "> POST /payments\n> 500 The card has no currency"
      })
      await publishAsAgent(agent, passes)
      const run = await publish(ci, fixed, report(caseId))
      assert.strictEqual(await complete(at, agent, found.message.id, run), "completed")
      const { evidence, status } = await workspace.get<AgentMessage>(`messages/${message.id}`)
      assert.deepStrictEqual([status, evidence], ["completed", { run }])
    } finally {
      await agent.client.close()
    }
  })

  test("does not complete it by skipping the test", async (owner) => {
    const at = await scene(owner)
    const { agent, ci } = at
    try {
      const { message } = await investigate(agent)
      await publishAsAgent(agent, { status: "skipped" })
      const run = await publish(ci, fixed, report(caseId, { attempt: { status: "skipped" } }))
      assert.strictEqual(await complete(at, agent, message.id, run), "evidence_missing")
    } finally {
      await agent.client.close()
    }
  })

  test("does not complete it by a run of its own, of its person, or of another of that one's agents", async (owner) => {
    const at = await scene(owner)
    const { agent, person, workspace } = at
    const codex = await registerAgent(person, { client: "codex" })
    const other = await connectAgent(workspace, codex.access_token)
    try {
      const { message } = await investigate(agent)
      const run = await publishAsAgent(agent, passes)
      await publishAsAgent(other, passes)
      await publish(person, fixed, report(caseId))
      // Nor by giving the ticket away before.
      await agent.read("update_ticket", { ticket: at.ticket.identifier, owner: null })
      const evidence = await workspace.get<TicketEvidence>(`tickets/${at.ticket.identifier}/evidence`)
      assert.deepStrictEqual(
        evidence.cases.map(({ passed, runs }) => [passed, runs.map(({ excluded }) => excluded)]),
        [[0, ["of_owner", "of_owner", "of_owner"]]]
      )
      assert.strictEqual(await complete(at, agent, message.id, run), "evidence_missing")
    } finally {
      await Promise.all([agent.client.close(), other.client.close()])
    }
  })

  test("completes it with a run of another person's agent", async (owner) => {
    const at = await scene(owner)
    const { agent, workspace } = at
    const colleague = await registerAgent(await join(workspace, "member"))
    const reviewer = await connectAgent(workspace, colleague.access_token)
    try {
      const { message } = await investigate(agent)
      const run = await publishAsAgent(reviewer, passes)
      assert.strictEqual(await complete(at, agent, message.id, run), "completed")
    } finally {
      await Promise.all([agent.client.close(), reviewer.client.close()])
    }
  })
})
