import { maxMuted } from "@delivery/domain/flow/Mute"
import type { Comment } from "@delivery/domain/planning/Comment"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { once } from "node:events"
import type { Socket } from "node:net"
import { assert } from "vitest"
import {
  accountKey,
  attempt,
  finishRun,
  type Http,
  join,
  deploy,
  newDeployment,
  newWorkspace,
  onEachServer,
  openSocket,
  refusal,
  report,
  startRun,
  teamKey
} from "../support/Http.ts"

/** Long lists take turns, for each caller by themselves (docs/contract.md, Errors). */

/** A ticket whose comments are longer, all together, than what a connection holds on its way. */
const commented = async (owner: Http) => {
  const workspace = await newWorkspace(owner)
  const key = teamKey()
  await workspace.post("teams", { key, name: key, visibility: "open" })
  const ticket = await workspace.post<Ticket>("tickets", { team: key, title: "Long" })
  const body = "\u6c34".repeat(100_000)
  for (let i = 0; i < 120; i++) await workspace.post<Comment>(`tickets/${ticket.identifier}/comments`, { body })
  return { workspace, path: `tickets/${ticket.identifier}/comments` }
}

/** A project whose earlier documents are as long as a page of them gets. */
const redocumented = async (owner: Http) => {
  const workspace = await newWorkspace(owner)
  const key = teamKey()
  await workspace.post("teams", { key, name: key, visibility: "open" })
  await workspace.post("projects", { slug: "long", name: "Long", teams: [key] })
  for (let i = 0; i < 12; i++) {
    const document = `${i % 10}${"\u0001".repeat(99_999)}`
    assert.strictEqual(refusal(await workspace.send("PATCH", "projects/long", { json: { document } })), "200")
  }
  return { workspace, path: "projects/long/history" }
}

/** A ticket whose earlier texts are as long as a page of them gets. */
const rewritten = async (owner: Http) => {
  const workspace = await newWorkspace(owner)
  const key = teamKey()
  await workspace.post("teams", { key, name: key, visibility: "open" })
  const { identifier } = await workspace.post<Ticket>("tickets", { team: key, title: "Long" })
  for (let i = 0; i < 12; i++) {
    const description = `${i % 10}${"\u0001".repeat(99_999)}`
    assert.strictEqual(
      refusal(await workspace.send("PATCH", `tickets/${identifier}`, { json: { description } })),
      "200"
    )
  }
  return { workspace, path: `tickets/${identifier}/history` }
}

/** A run whose tests have long errors. */
const failed = async (owner: Http) => {
  const workspace = await newDeployment(owner)
  const { number } = await startRun(workspace)
  const error = { errorMessage: "m", errorStack: "\u6c34".repeat(19_000) }
  const tests = Array.from({ length: 300 }, (_, i) => report(`case ${i}`, { attempt: attempt("failed", error) }))
  await finishRun(workspace, number, { tests })
  return { workspace, path: `test-runs/${number}` }
}

/** As many muted tests of a product as there may be, with the longest ids. */
const muted = async (owner: Http) => {
  const workspace = await newDeployment(owner)
  const key = teamKey()
  await workspace.post("teams", { key, name: key, visibility: "open" })
  const { id } = await workspace.get<{ id: string }>("/v1/me")
  for (let i = 0; i < 10; i++) {
    const { createdAt, identifier } = await workspace.post<Ticket>("tickets", { team: key, title: "Mute", owner: id })
    const until = new Date(Date.parse(createdAt) + 30 * 24 * 60 * 60_000).toISOString()
    const cases = Array.from({ length: maxMuted / 10 }, (_, n) => `${i}-${n} `.padEnd(500, "\u6c34"))
    const answer = await workspace.send("PUT", `tickets/${identifier}/mute`, {
      json: { product: "shop", cases, until }
    })
    assert.strictEqual(refusal(answer), "200")
  }
  return { workspace, path: "mutes" }
}

/** A deployment whose releases have as many commits as one may bring. */
const released = async (owner: Http) => {
  const workspace = await newDeployment(owner)
  for (let i = 0; i < 20; i++) {
    const json = { version: `v${i}`, commits: commits(i * 500, 500, 600) }
    assert.strictEqual(refusal(await workspace.send("PATCH", "deployments/shop/staging", { json })), "200")
  }
  return { workspace, path: "deployments/shop/staging/history" }
}

/** A version with as many commits as are answered, and long subjects. */
const committed = async (owner: Http) => {
  const workspace = await newDeployment(owner)
  for (let i = 0; i < 8; i++) {
    for (const json of [{ version: "v1", commits: commits(i * 250, 250, 1_300) }, { version: null }]) {
      assert.strictEqual(refusal(await workspace.send("PATCH", "deployments/shop/staging", { json })), "200")
    }
  }
  return { workspace, path: "products/shop/versions/v1" }
}

const commits = (from: number, count: number, length: number) =>
  Array.from({ length: count }, (_, n) => ({
    sha: String(from + n).padStart(40, "0"),
    subject: "\u6c34".repeat(length)
  }))

/** Asks for a list, and reads the first bytes of the answer alone, when they come. */
const askUnread = (by: Http, path: string) => {
  const socket = openSocket(by)
  socket.pause()
  const lines = [
    `GET /v1/workspaces/${by.workspace}/${path} HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${by.key}`
  ]
  socket.write([...lines, "", ""].join("\r\n"))
  return { socket, answered: once(socket, "readable") }
}

const end = async (socket: Socket) => {
  const closed = once(socket, "close")
  socket.destroy()
  await closed
}

onEachServer("Long lists", (test) => {
  test("are answered four at once to one caller, and others wait for none of them", async (owner) => {
    const { path, workspace } = await commented(owner)
    const person = await join(workspace, "member")
    const key = await accountKey(workspace, "member")
    const unread = Array.from({ length: 4 }, () => askUnread(person, path))
    await Promise.all(unread.map(({ answered }) => answered))
    const next = askUnread(person, path)
    let isAnswered = false
    const noteAnswer = async () => {
      await next.answered
      isAnswered = true
    }
    void noteAnswer()
    for (const by of [workspace, key]) {
      const { comments } = await by.get<{ comments: ReadonlyArray<Comment> }>(path)
      assert.lengthOf(comments, 120)
    }
    // What is no such list waits for nothing.
    assert.strictEqual(refusal(await person.send("GET", "teams")), "200")
    assert.isFalse(isAnswered)
    await end(unread[0]!.socket)
    await next.answered
    for (const { socket } of [next, ...unread.slice(1)]) await end(socket)
    const { comments } = await person.get<{ comments: ReadonlyArray<Comment> }>(path)
    assert.lengthOf(comments, 120)
  })

  test("are answered sixteen at once to all callers of a workspace, and those of another wait for none", async (owner) => {
    const { path, workspace } = await commented(owner)
    await deploy(workspace)
    const other = await newDeployment(owner)
    const callers = await Promise.all(Array.from({ length: 4 }, () => accountKey(workspace, "member")))
    const held = callers.flatMap((by) => Array.from({ length: 4 }, () => askUnread(by, path)))
    await Promise.all(held.map(({ answered }) => answered))
    for (const waiting of [path, "deployments/shop/staging/readiness", "deployments/shop/staging/drift"]) {
      const next = askUnread(workspace, waiting)
      let isAnswered = false
      const answered = next.answered.then(() => (isAnswered = true))
      assert.strictEqual(refusal(await other.send("GET", "deployments/shop/staging/readiness")), "200")
      assert.strictEqual(refusal(await workspace.send("GET", "teams")), "200")
      assert.isFalse(isAnswered)
      await end(held.shift()!.socket)
      await answered
      await end(next.socket)
      held.push(askUnread(callers[0]!, path))
      await held.at(-1)!.answered
    }
    for (const { socket } of held) await end(socket)
  })

  for (const [name, make] of [
    ["comments", commented],
    ["earlier texts", rewritten],
    ["earlier documents", redocumented],
    ["muted tests", muted],
    ["releases", released],
    ["commits of a version", committed],
    ["tests of a run", failed]
  ] as const) {
    test(`of ${name} wait up to 124, and more are refused`, async (owner) => {
      const { path, workspace } = await make(owner)
      const person = await join(workspace, "member")
      const statuses: Array<string> = []
      const enough = Promise.withResolvers<void>()
      const read = async ({ answered, socket }: ReturnType<typeof askUnread>) => {
        await answered
        statuses.push(String(socket.read(12)))
        if (statuses.length === 10) enough.resolve()
      }
      const unread = Array.from({ length: 134 }, () => askUnread(person, path))
      for (const asked of unread) void read(asked)
      await enough.promise
      assert.deepStrictEqual(statuses.toSorted(), [
        ...Array<string>(4).fill("HTTP/1.1 200"),
        ...Array<string>(6).fill("HTTP/1.1 429")
      ])
      for (const { socket } of unread) await end(socket)
      assert.strictEqual(refusal(await workspace.send("GET", path)), "200")
    })
  }
})
