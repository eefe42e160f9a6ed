import { maxQuoted, type Quoted } from "@delivery/domain/agents/Quote"
import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Comment } from "@delivery/domain/planning/Comment"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { assert } from "@effect/vitest"
import { maxAnswer, maxAnsweredComments, maxListed } from "../../src/agents/FittingAnswers.ts"
import { type Http, join, newWorkspace, onEachServer, registerAgent, teamKey } from "../support/Http.ts"
import { callTool } from "./OAuthScene.ts"

/** No call of a tool answers, or works on, more than fits (docs/contract.md, MCP). */

interface Answer {
  readonly comments: ReadonlyArray<{ readonly id: string; readonly body: Quoted }>
  readonly commentsLeftOut: number
  readonly messages: ReadonlyArray<{ readonly id: string; readonly note: Quoted }>
  readonly description: Quoted
  readonly plan: Quoted
  readonly tickets: ReadonlyArray<{ readonly identifier: string }>
  readonly leftOut: number
}

/** Most of it is escaped: the longest quotation that a text of this length has. */
const hidden = (length: number) => "\u0001".repeat(length)

const scene = async (owner: Http) => {
  const workspace = await newWorkspace(owner)
  const ana = await join(workspace, "member")
  const team = teamKey()
  await workspace.post("teams", { key: team, name: "Team" })
  const { access_token, agent } = await registerAgent(ana)
  const call = async (name: string, args: object = {}) => {
    const { isError, text } = await callTool(ana, access_token, name, args)
    assert.isFalse(isError, text.slice(0, 200))
    return { answer: JSON.parse(text) as Answer, length: text.length }
  }
  const ticket = (fields: object = {}) => workspace.post<Ticket>("tickets", { team, title: "Pay", ...fields })
  return { workspace, ana, team, agent, call, ticket }
}

onEachServer("Answers of tools", (test) => {
  test("hold the newest comments that fit, and go on to the older ones", async (owner) => {
    const { call, ticket, workspace } = await scene(owner)
    const { identifier } = await ticket()
    const made: Array<string> = []
    for (const body of [...Array.from({ length: 12 }, () => `x${hidden(19_999)}`), "The newest"]) {
      made.push((await workspace.post<Comment>(`tickets/${identifier}/comments`, { body })).id)
    }
    const read: Array<string> = []
    for (let before: string | undefined; ; before = read[0]) {
      const { answer, length } = await call("get_ticket", { ticket: identifier, ...(before && { before }) })
      assert.isBelow(length, maxAnswer + 2 * maxQuoted)
      assert.isNotEmpty(answer.comments)
      read.unshift(...answer.comments.map(({ id }) => id))
      assert.deepStrictEqual(read, made.slice(-read.length))
      assert.strictEqual(answer.commentsLeftOut, made.length - read.length)
      if (answer.commentsLeftOut === 0) break
      assert.isAtMost(answer.comments.length, 2)
    }
    assert.deepStrictEqual(read, made)
  })

  test("hold no more comments than are allowed, and none of another ticket as a place", async (owner) => {
    const { ana, call, ticket, workspace } = await scene(owner)
    const [{ identifier }, other] = [await ticket(), await ticket()]
    const { id } = await workspace.post<Comment>(`tickets/${other.identifier}/comments`, { body: "Elsewhere" })
    for (let count = 0; count <= maxAnsweredComments; count++) {
      await workspace.post(`tickets/${identifier}/comments`, { body: `${count}` })
    }
    const { answer } = await call("get_ticket", { ticket: identifier })
    assert.lengthOf(answer.comments, maxAnsweredComments)
    assert.deepStrictEqual([answer.commentsLeftOut, answer.comments[0]!.body.text], [1, "> 1"])
    const rest = await call("get_ticket", { ticket: identifier, before: answer.comments[0]!.id })
    assert.deepStrictEqual([rest.answer.commentsLeftOut, rest.answer.comments.length], [0, 1])
    const { access_token } = await registerAgent(ana)
    for (const before of [id, "x"]) {
      const { isError, text } = await callTool(ana, access_token, "get_ticket", { ticket: identifier, before })
      assert.deepStrictEqual(
        [isError, text],
        [true, `NotFound: before: there is no object "${before}" that you can see.`]
      )
    }
  })

  test("cut a text whose quotation would be too long, and say so", async (owner) => {
    const { call, ticket } = await scene(owner)
    const ordinary = "A line of ordinary text, as people write it.\n".repeat(2_200)
    const long = await ticket({ description: hidden(100_000), plan: ordinary })
    const { answer } = await call("get_ticket", { ticket: long.identifier })
    assert.match(answer.description.text, /^> (\\u\{0001\})+\n\[cut: .*\]$/)
    assert.isBelow(answer.description.text.length, maxQuoted + 200)
    assert.strictEqual(answer.plan.text.replaceAll(/^> /gm, ""), ordinary)
  })

  test("hold the oldest messages that fit, and leave the others in the inbox", async (owner) => {
    const { agent, call, ticket, workspace } = await scene(owner)
    const { identifier } = await ticket({ description: hidden(15_000) })
    const sent: Array<string> = []
    for (let count = 0; count < 6; count++) {
      const message = { agent, ticket: identifier, ask: "plan", note: hidden(10_000) }
      sent.push((await workspace.post<AgentMessage>("messages", message)).id)
    }
    const inbox = await call("list_inbox")
    assert.isBelow(inbox.length, maxAnswer + 10_000)
    assert.deepStrictEqual(
      inbox.answer.messages.map(({ id }) => id),
      sent.slice(0, 2)
    )
    assert.strictEqual(inbox.answer.leftOut, 4)
    const taken = await call("take_message", { limit: 10 })
    assert.deepStrictEqual(
      taken.answer.messages.map(({ id }) => id),
      sent.slice(0, 1)
    )
    const left = await call("list_inbox")
    assert.strictEqual(left.answer.messages[0]!.id, sent[1])
    assert.strictEqual(left.answer.leftOut + left.answer.messages.length, 5)
  })

  test("hold the first tickets of a list that fit", async (owner) => {
    const { call, team, ticket } = await scene(owner)
    for (let count = 0; count < 70; count++) await ticket({ description: hidden(2_000) })
    const { answer, length } = await call("list_tickets", { team })
    assert.isBelow(length, maxListed + 1_000)
    assert.isAbove(answer.leftOut, 0)
    assert.strictEqual(answer.tickets.length + answer.leftOut, 70)
    assert.strictEqual(answer.tickets[0]!.identifier, `${team}-1`)
  })

  test("of many calls at once are short, and others are answered between them", async (owner) => {
    const { call, ticket, workspace } = await scene(owner)
    const { identifier } = await ticket({ description: hidden(80_000), plan: hidden(80_000) })
    for (let count = 0; count < 10; count++) {
      await workspace.post(`tickets/${identifier}/comments`, { body: `x${hidden(99_999)}` })
    }
    let done = 0
    const calls = Array.from({ length: 8 }, async () => {
      const { length } = await call("get_ticket", { ticket: identifier })
      done++
      return length
    })
    // One after the other: each is answered, whatever the calls do meanwhile, and the calls do not end first.
    let between = 0
    while (done < calls.length) {
      assert.strictEqual((await owner.send("GET", "/health")).status, 200)
      if (done < calls.length) between++
    }
    assert.isAtLeast(between, 1)
    for (const length of await Promise.all(calls)) assert.isBelow(length, 5 * maxQuoted)
  })
})
