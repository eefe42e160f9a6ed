import type { AgentSignIn, RegisteredAgent } from "@delivery/domain/agents/Agent"
import { type AgentMessage, maxQueued } from "@delivery/domain/agents/Message"
import type { Notification } from "@delivery/domain/agents/Notification"
import type { Event } from "@delivery/domain/events/Event"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { assert } from "@effect/vitest"
import {
  accountKey,
  assertId,
  assertTimestamp,
  eventually,
  type Http,
  join,
  newWorkspace,
  onEachServer,
  refusal,
  registerAgent,
  teamKey
} from "../support/Http.ts"
import { scrape } from "../telemetry/Scrape.ts"

interface Scene {
  readonly workspace: Http
  /** Who sends. */
  readonly ben: Http & { readonly id: string }
  /** Whom the agent works for. */
  readonly ana: Http & { readonly id: string }
  readonly signIn: AgentSignIn
  readonly agent: Http
  readonly team: string
  readonly ticket: Ticket
}

const scene = async (owner: Http, visibility: "open" | "private" = "open"): Promise<Scene> => {
  const workspace = await newWorkspace(owner)
  const [ana, ben] = [await join(workspace, "member"), await join(workspace, "member")]
  const team = teamKey()
  await workspace.post("teams", { key: team, name: "Team", visibility })
  if (visibility === "private") {
    await workspace.post(`teams/${team}/members`, { member: ana.id })
    await workspace.post(`teams/${team}/members`, { member: ben.id })
  }
  const signIn = await registerAgent(ana)
  const ticket = await ben.post<Ticket>("tickets", { team, title: "Pay by card" })
  return { workspace, ana, ben, signIn, agent: ana.as(signIn.access_token), team, ticket }
}

const send = (by: Http, { signIn, ticket }: Scene, fields: object = {}) =>
  by.post<AgentMessage>("messages", { agent: signIn.agent, ticket: ticket.identifier, ask: "build", ...fields })
const inbox = async (agent: Http) =>
  (await agent.send<{ messages: ReadonlyArray<AgentMessage> }>("GET", "/agent/v1/inbox")).body.messages
const take = async (agent: Http, limit?: number) =>
  (await agent.send<{ messages: ReadonlyArray<AgentMessage> }>("POST", "/agent/v1/inbox/take", { json: { limit } }))
    .body.messages
const notifications = async (by: Http) =>
  (await by.get<{ notifications: ReadonlyArray<Notification> }>("notifications")).notifications
const list = async (by: Http, query = "") =>
  (await by.get<{ messages: ReadonlyArray<AgentMessage> }>(`messages${query}`)).messages
const times = (count: number, status: number) => Array.from({ length: count }, () => status)
const ids = (messages: ReadonlyArray<{ readonly id: string }>) => messages.map(({ id }) => id)

/** Until a call waits for a message. */
const untilWaits = ({ baseUrl }: Http) =>
  eventually(
    async () => (await scrape(baseUrl)).value("delivery_message_waiters"),
    (calls) => calls === 1
  )

onEachServer(
  "Messages to agents",
  (test) => {
    test("go from the sender to the agent and back, and notify both persons", async (owner) => {
      const at = await scene(owner)
      const sent = await send(at.ben, at, { note: "Please begin with Visa." })
      assertId(sent.id)
      assertTimestamp(sent.createdAt)
      assert.deepStrictEqual(sent, {
        id: sent.id,
        agent: { id: at.signIn.agent, name: "Claude", person: sent.agent.person },
        computer: at.signIn.computer,
        ticket: { id: at.ticket.id, identifier: at.ticket.identifier, title: "Pay by card" },
        ask: "build",
        note: "Please begin with Visa.",
        commentId: null,
        sender: sent.sender,
        status: "queued",
        reply: null,
        evidence: null,
        createdAt: sent.createdAt,
        deliveredAt: null,
        completedAt: null,
        declinedAt: null
      })
      assert.deepStrictEqual([sent.agent.person.id, sent.sender.id], [at.ana.id, at.ben.id])
      const [received] = await notifications(at.ana)
      assert.deepStrictEqual([received?.kind, received?.message, received?.readAt], ["message_received", sent, null])
      assert.deepStrictEqual(await notifications(at.ben), [])

      assert.deepStrictEqual(await inbox(at.agent), [sent])
      const [taken] = await take(at.agent)
      assert.deepStrictEqual({ ...taken!, status: "queued", deliveredAt: null }, sent)
      assert.strictEqual(taken!.status, "delivered")
      assertTimestamp(taken!.deliveredAt)
      assert.deepStrictEqual([await inbox(at.agent), await take(at.agent)], [[], []])

      const path = `/agent/v1/messages/${sent.id}`
      const { body: completed, status } = await at.agent.send<AgentMessage>("POST", `${path}/complete`, {
        json: { reply: "Done in acme/shop#42." }
      })
      assert.strictEqual(status, 200)
      assert.deepStrictEqual([completed.status, completed.reply], ["completed", "Done in acme/shop#42."])
      assert.deepStrictEqual((await at.agent.send("GET", path)).body, completed)
      assert.deepStrictEqual(await at.ben.get(`messages/${sent.id}`), completed)
      const [notification] = await notifications(at.ben)
      assert.deepStrictEqual([notification?.kind, notification?.message], ["message_completed", completed])
      assert.deepStrictEqual(await at.ben.post("notifications/read", undefined, 200), { read: 1 })
      assert.deepStrictEqual(await at.ben.post("notifications/read", undefined, 200), { read: 0 })
      const [read] = await notifications(at.ben)
      assertTimestamp(read!.readAt)
      const mark = (by: Http, as: string) => by.send<Notification>("POST", `notifications/${read!.id}/${as}`)
      const unread = await mark(at.ben, "unread")
      assert.deepStrictEqual([unread.status, unread.body], [200, { ...read!, readAt: null }])
      assert.deepStrictEqual(await notifications(at.ben), [unread.body])
      const again = await mark(at.ben, "read")
      assertTimestamp(again.body.readAt)
      assert.deepStrictEqual([again.status, await notifications(at.ben)], [200, [again.body]])
      assert.deepStrictEqual((await mark(at.ben, "read")).body, again.body)
      assert.strictEqual(refusal(await mark(at.ana, "unread")), "404 notification")
      assert.deepStrictEqual(await notifications(at.ben), [again.body])
      for (const [end, field, most] of [
        ["complete", "reply", 10_000],
        ["decline", "reason", 2_000]
      ] as const) {
        const long = await at.agent.send("POST", `${path}/${end}`, { json: { [field]: "x".repeat(most + 1) } })
        assert.strictEqual(refusal(long), `400 ${field}`)
        const fits = await at.agent.send("POST", `${path}/${end}`, { json: { [field]: "x".repeat(most) } })
        assert.strictEqual(refusal(fits), "409 ended")
      }
      for (const end of ["complete", "decline"]) {
        const again = await at.agent.send("POST", `${path}/${end}`, { json: { reply: "a", reason: "b" } })
        assert.strictEqual(refusal(again), "409 ended")
      }
      const { events } = await at.workspace.get<{ events: ReadonlyArray<Event> }>("events")
      assert.deepStrictEqual(
        events.filter(({ subject }) => subject.id === sent.id).map(({ actor, kind }) => [kind, actor.kind]),
        [
          ["message_completed", "agent"],
          ["message_sent", "user"]
        ]
      )
    })

    test("can be declined only by the agent's person", async (owner) => {
      const at = await scene(owner)
      const [first, second] = [await send(at.ben, at), await send(at.ana, at)]
      const decline = (by: Http, { id }: AgentMessage) =>
        by.send("POST", `messages/${id}/decline`, { json: { reason: "No" } })
      assert.strictEqual(refusal(await decline(at.ben, first)), "403 other_member")
      assert.strictEqual(refusal(await decline(at.workspace, first)), "403 other_member")
      assert.strictEqual(refusal(await decline(at.ben, second)), "404 message")
      assert.strictEqual((await decline(at.ana, first)).status, 200)
      assert.strictEqual(refusal(await decline(at.ana, first)), "409 ended")
      assert.deepStrictEqual(
        (await notifications(at.ben)).map(({ kind, message }) => [kind, message.reply]),
        [["message_declined", "No"]]
      )
      // A message to one's own agent notifies too.
      const own = (await notifications(at.ana)).filter(({ message }) => message.id === second.id)
      assert.deepStrictEqual(
        own.map(({ kind }) => kind),
        ["message_received"]
      )
    })

    test("are listed for the sender, the agent's person and admins", async (owner) => {
      const at = await scene(owner)
      const other = await join(at.workspace, "member")
      const [a, b] = [await send(at.ben, at), await send(at.workspace, at, { ask: "plan" })]
      assert.deepStrictEqual(ids(await list(at.ben)), [a.id])
      assert.deepStrictEqual(ids(await list(at.ana)), [b.id, a.id])
      assert.deepStrictEqual(ids(await list(at.workspace)), [b.id, a.id])
      assert.deepStrictEqual(await list(other), [])
      assert.strictEqual(refusal(await other.send("GET", `messages/${a.id}`)), "404 message")
      assert.deepStrictEqual(ids(await list(at.ana, `?ticket=${at.ticket.identifier.toLowerCase()}&status=queued`)), [
        b.id,
        a.id
      ])
      assert.deepStrictEqual(await list(at.ana, `?agent=${at.signIn.agent}&status=completed`), [])
      assert.strictEqual(refusal(await at.ana.send("GET", "messages?ticket=NO-1")), "404 ticket:")
      assert.strictEqual(refusal(await at.ana.send("GET", `messages?agent=${at.ticket.id}`)), "404 agent:")
      assert.strictEqual(refusal(await at.ana.send("GET", "messages?status=lost")), "400 status")
    })

    test("are refused if nobody can read them", async (owner) => {
      const at = await scene(owner)
      const refused = async (by: Http, fields: object) =>
        refusal(
          await by.send("POST", "messages", {
            json: { agent: at.signIn.agent, ticket: at.ticket.identifier, ask: "build", ...fields }
          })
        )
      assert.strictEqual(await refused(at.ben, { ticket: "NO-1" }), "404 ticket:")
      assert.strictEqual(await refused(at.ben, { agent: at.ticket.id }), "404 agent:")
      assert.strictEqual(await refused(at.ben, { computer: at.ticket.id }), "404 computer:")
      assert.strictEqual(await refused(at.ben, { ask: "mention" }), "400 ask")
      assert.strictEqual(await refused(at.ben, { note: "x".repeat(10_001) }), "400 note")
      assert.strictEqual(await refused(await accountKey(at.workspace, "admin"), {}), "403 account_key")
      assert.strictEqual(await refused(await join(at.workspace, "viewer"), {}), "403 role_too_low")
      const key = teamKey()
      await at.workspace.post("teams", { key, name: "Secret", visibility: "private" })
      const hidden = await at.workspace.post<Ticket>("tickets", { team: key, title: "Hidden" })
      assert.strictEqual(await refused(at.workspace, { ticket: hidden.identifier }), "409 ticket_invisible")
      assert.strictEqual(await refused(at.ben, { ticket: hidden.identifier }), "404 ticket:")
      const waiting = await send(at.ben, at)
      assert.deepInclude(await at.ana.post<object>(`agents/${at.signIn.agent}/revoke`, undefined, 200), {
        revoked: true,
        declined: 1
      })
      assert.strictEqual(await refused(at.ben, {}), "409 agent_revoked")
      const declined = await at.ben.get<AgentMessage>(`messages/${waiting.id}`)
      assert.deepStrictEqual([declined.status, declined.reply], ["declined", "The agent was revoked."])
      assert.deepStrictEqual(
        (await notifications(at.ben)).map(({ kind }) => kind),
        ["message_declined"]
      )
    })

    test("are declined when the agent's person is deactivated", async (owner) => {
      const at = await scene(owner)
      const waiting = await send(at.ben, at)
      await at.workspace.post(`members/${at.ana.id}/deactivate`, undefined, 200)
      assert.strictEqual((await at.ben.get<AgentMessage>(`messages/${waiting.id}`)).status, "declined")
      assert.strictEqual((await at.agent.send("GET", "/agent/v1/inbox")).status, 401)
    })

    test("about tickets of a private team are visible to those who see the team", async (owner) => {
      const at = await scene(owner, "private")
      const sent = await send(at.ben, at)
      assert.deepStrictEqual(await inbox(at.agent), [sent])
      await at.workspace.send("DELETE", `teams/${at.team}/members/${at.ana.id}`)
      assert.deepStrictEqual([await inbox(at.agent), await take(at.agent), await notifications(at.ana)], [[], [], []])
      assert.strictEqual((await at.agent.send("GET", `/agent/v1/messages/${sent.id}`)).status, 404)
      const { events } = await at.ana.get<{ events: ReadonlyArray<Event> }>("events")
      assert.notInclude(
        events.map(({ kind }) => kind),
        "message_sent"
      )
      await at.workspace.post(`teams/${at.team}/members`, { member: at.ana.id })
      assert.deepStrictEqual(ids(await take(at.agent, 10)), [sent.id])
    })

    test("go to the named computer, or to the one that routing chooses", async (owner) => {
      const at = await scene(owner)
      const other = await registerAgent(at.ana, { computer: "tower" })
      const tower = at.ana.as(other.access_token)
      const named = await send(at.ben, at, { computer: at.signIn.computer.id })
      assert.deepStrictEqual([ids(await inbox(at.agent)), await inbox(tower)], [[named.id], []])
      await tower.send("PUT", "/agent/v1/sessions/one", { json: { repository: "acme/other" } })
      assert.strictEqual((await send(at.ben, at)).computer?.id, other.computer.id)
      await at.workspace.post("products", { slug: "shop", name: "Shop", type: "library", repository: "acme/shop" })
      await at.workspace.post("projects", { slug: "till", name: "Till", teams: [at.team], products: ["shop"] })
      await at.ben.send("PATCH", `tickets/${at.ticket.identifier}`, { json: { project: "till" } })
      const session = { repository: "acme/shop", branch: "main" }
      const reported = await at.agent.send<{ waiting: number }>("PUT", "/agent/v1/sessions/two", { json: session })
      assert.strictEqual(reported.body.waiting, 1)
      await tower.send("PUT", "/agent/v1/sessions/one", { json: {} })
      assert.strictEqual((await send(at.ben, at)).computer?.id, at.signIn.computer.id)
      const { agents } = await at.ben.get<{ agents: ReadonlyArray<RegisteredAgent> }>("agents")
      assert.isTrue(agents[0]!.live)
    })

    test("are created by comments that mention an agent", async (owner) => {
      const at = await scene(owner)
      const long = `[@Claude](agent:${at.signIn.agent}) ${"🚀".repeat(3_000)}`
      const { body: comment } = await at.ben.send<{ id: string }>("POST", `tickets/${at.ticket.identifier}/comments`, {
        json: { body: long }
      })
      const [message] = await inbox(at.agent)
      assert.deepStrictEqual([message?.ask, message?.commentId, message?.sender.id], ["mention", comment.id, at.ben.id])
      assert.strictEqual(message?.note, Array.from(long).slice(0, 2_000).join(""))
      // What an agent writes sends no message to another.
      await at.agent.send("POST", `/agent/v1/tickets/${at.ticket.identifier}/comments`, { json: { body: long } })
      assert.lengthOf(await inbox(at.agent), 1)
    })

    test("wake a call that waits for them", async (owner) => {
      const at = await scene(owner)
      const waiting = at.agent.send<{ messages: ReadonlyArray<AgentMessage> }>("GET", "/agent/v1/inbox?wait=25")
      await untilWaits(owner)
      const sent = await send(at.ben, at)
      assert.deepStrictEqual(ids((await waiting).body.messages), [sent.id])
      for (const wait of ["26", "-1", "x", ""]) {
        assert.strictEqual(refusal(await at.agent.send("GET", `/agent/v1/inbox?wait=${wait}`)), "400 wait")
      }
    })

    test("can be waited for while the access token is valid", async (owner) => {
      const at = await scene(owner)
      const ends: ReadonlyArray<(token: string) => Promise<unknown>> = [
        (token) => at.ana.as(undefined).send("POST", "/agent/oauth/revoke", { form: { token } }),
        () => at.workspace.post(`members/${at.ana.id}/deactivate`, undefined, 200),
        () => at.ana.post(`agents/${at.signIn.agent}/revoke`, undefined, 200)
      ]
      for (const end of ends) {
        await at.workspace.post(`members/${at.ana.id}/reactivate`, undefined, 200)
        const { access_token } = await registerAgent(at.ana)
        const waiting = at.ana.as(access_token).send("GET", "/agent/v1/inbox?wait=25")
        await untilWaits(owner)
        await end(access_token)
        assert.strictEqual(refusal(await waiting), "401")
      }
    })

    test("of one sender are limited in the inbox of an agent, also those of comments", async (owner) => {
      const at = await scene(owner)
      for (let count = 0; count < maxQueued - 5; count++) await send(at.ben, at)
      // Together, so that each counts while others do.
      const json = { agent: at.signIn.agent, ticket: at.ticket.identifier, ask: "build" }
      const more = await Promise.all(Array.from({ length: 10 }, () => at.ben.send("POST", "messages", { json })))
      assert.deepStrictEqual(more.map(({ status }) => status).toSorted(), [...times(5, 201), ...times(5, 409)])
      await at.ben.refuse("409 too_many_messages", "POST", "messages", json)
      const body = `[@Claude](agent:${at.signIn.agent}) please`
      const comments = `tickets/${at.ticket.identifier}/comments`
      await at.ben.refuse("409 too_many_messages", "POST", comments, { body })
      assert.lengthOf((await at.ben.get<{ comments: ReadonlyArray<unknown> }>(comments)).comments, 0)
      // Others are not limited by that, nor is the sender elsewhere, nor once the agent has taken one.
      await send(at.ana, at)
      const { agent } = await registerAgent(at.ana, { client: "codex" })
      await send(at.ben, at, { agent })
      await take(at.agent)
      await at.ben.post(comments, { body })
      await at.ben.refuse("409 too_many_messages", "POST", "messages", json)
    })

    test("let agents work on tickets as their person may", async (owner) => {
      const at = await scene(owner)
      const path = `/agent/v1/tickets/${at.ticket.identifier}`
      const { body: changed } = await at.agent.send<Ticket>("PATCH", path, {
        json: { plan: "1. Do it", owner: at.signIn.agent }
      })
      assert.deepStrictEqual([changed.plan, changed.owner?.kind], ["1. Do it", "agent"])
      const { body: made, status } = await at.agent.send<Ticket>("POST", "/agent/v1/tickets", {
        json: { team: at.team, title: "More" }
      })
      assert.deepStrictEqual([status, made.createdBy.kind], [201, "agent"])
      const { body: mine } = await at.agent.send<{ tickets: ReadonlyArray<Ticket> }>(
        "GET",
        "/agent/v1/tickets?owner=me"
      )
      assert.deepStrictEqual(
        mine.tickets.map(({ id }) => id),
        [at.ticket.id]
      )
      assert.strictEqual((await at.agent.send("GET", `/agent/v1/ticket-statuses?team=${at.team}`)).status, 200)
      assert.strictEqual((await at.agent.send("GET", "/agent/v1/projects")).status, 200)
      await at.workspace.send("PATCH", `members/${at.ana.id}`, { json: { role: "viewer" } })
      assert.strictEqual(refusal(await at.agent.send("PATCH", path, { json: { plan: null } })), "403 role_too_low")
      assert.strictEqual((await at.agent.send("GET", path)).status, 200)
    })
  },
  { METRICS: "true" }
)
