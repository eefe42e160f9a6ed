import type { ComputerId, MessageId } from "@delivery/domain/Ids"
import type { SendMessage } from "@delivery/domain/agents/Message"
import { assert } from "@effect/vitest"
import { Clock, Deferred, type Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { asAgent } from "../../src/agents/AgentAuthentication.ts"
import { Agents } from "../../src/agents/Agents.ts"
import { Inbox } from "../../src/agents/Inbox.ts"
import { Messages } from "../../src/agents/Messages.ts"
import { SignIns } from "../../src/agents/SignIns.ts"
import { hashToken } from "../../src/ids/Tokens.ts"
import { Members } from "../../src/identity/Members.ts"
import { answer, as, type CallerOf, eventsOf, membersAndUp, newId, refusal, whoMay } from "../identity/Scene.ts"
import { addTeam, addTeamMember } from "../planning/Scene.ts"
import { addTicket, makeTicketScene } from "../planning/TicketsScene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { authenticated, form, registered, withToken } from "./Scene.ts"

const together = { concurrency: "unbounded" } as const
const times = (count: number) => Array.from({ length: count }, (_, index) => index)

/** The member's agent, signed in on a laptop, and what an admin asks of it. */
const makeMessageScene = Effect.gen(function* () {
  const scene = yield* makeTicketScene
  const ticket = yield* addTicket(scene.team)
  const signIn = yield* registered(scene.member)
  const send = Effect.fnUntraced(function* (fields: Partial<SendMessage> = {}, by: CallerOf = scene.admin) {
    const messages = yield* Messages
    return yield* messages.send({ agent: signIn.agent, ticket: ticket.id, ask: "build", ...fields }).pipe(as(by))
  })
  return { ...scene, ticket, signIn, send, byAgent: withToken(signIn.access_token) }
})

const notifiedOf = (caller: CallerOf) =>
  Effect.gen(function* () {
    const { notifications } = yield* Messages
    const found = yield* notifications.pipe(as(caller))
    return found.map(({ kind, message }) => [kind, message.id])
  })

withServicesOnEachStorage("Messages", (it) => {
  it.effect("are sent, declined and listed as roles allow", () =>
    Effect.gen(function* () {
      const messages = yield* Messages
      const scene = yield* makeMessageScene
      const persons = { ...membersAndUp, memberKey: "account_key", adminKey: "account_key" }
      const send = messages.send({ agent: newId(), ticket: newId(), ask: "plan" })
      assert.deepStrictEqual(yield* whoMay(scene, send), persons)
      const all = Object.fromEntries(Object.keys(scene.callers).map((name) => [name, "may"]))
      const everyone = { ...all, outsider: "no workspace" }
      const account = { viewerKey: "account_key", memberKey: "account_key", adminKey: "account_key" }
      assert.deepStrictEqual(yield* whoMay(scene, messages.list({})), everyone)
      assert.deepStrictEqual(yield* whoMay(scene, messages.get(newId())), everyone)
      assert.deepStrictEqual(yield* whoMay(scene, messages.notifications), everyone)
      assert.deepStrictEqual(yield* whoMay(scene, messages.read), everyone)
      assert.deepStrictEqual(yield* whoMay(scene, messages.decline(newId(), {})), { ...everyone, ...account })
      assert.deepStrictEqual(yield* notifiedOf(scene.adminKey), [])
      assert.strictEqual(yield* messages.read.pipe(as(scene.adminKey)), 0)
      assert.deepStrictEqual(yield* whoMay(scene, messages.mark(newId(), "read")), everyone)
      assert.deepStrictEqual(yield* whoMay(scene, messages.mark(newId(), "unread")), everyone)
    })
  )

  it.effect("need an existing ticket, agent and computer, and a person who sees the ticket", () =>
    Effect.gen(function* () {
      const { admin, member, send, signIn, workspace } = yield* makeMessageScene
      const foreign = yield* makeMessageScene
      const closed = yield* addTeam(workspace.id, { visibility: "private" })
      const hidden = yield* addTicket(closed)
      const tower = yield* registered(member, { computer: "tower" })
      const said = (fields: Partial<SendMessage>, by: CallerOf = admin) =>
        Effect.map(Effect.flip(send(fields, by)), (error) =>
          "reason" in error && error.reason !== undefined ? error.reason : error.message
        )
      const missing = (field: string, value: string) => `${field}: there is no ${field} "${value}" that you can see.`
      for (const ticket of [newId(), "NO-1", foreign.ticket.id])
        assert.strictEqual(yield* said({ ticket }), missing("ticket", ticket))
      for (const agent of [newId(), "claude", foreign.signIn.agent])
        assert.strictEqual(yield* said({ agent }), missing("agent", agent))
      for (const computer of [newId<ComputerId>(), foreign.signIn.computer.id]) {
        assert.strictEqual(yield* said({ computer }), missing("computer", computer))
      }
      assert.strictEqual(yield* said({ ticket: hidden.id }, member), missing("ticket", hidden.id))
      assert.strictEqual(yield* said({ ticket: hidden.id }), "ticket_invisible")
      yield* addTeamMember(closed, member)
      assert.strictEqual(
        (yield* send({ ticket: hidden.id, computer: tower.computer.id })).computer?.id,
        tower.computer.id
      )
      const [agents, members] = [yield* Agents, yield* Members]
      yield* members.deactivate(member.principal.id).pipe(as(admin))
      assert.deepInclude(yield* Effect.flip(send()), {
        message: "The person of the agent is not an active member.",
        reason: "inactive_member"
      })
      yield* members.reactivate(member.principal.id).pipe(as(admin))
      yield* agents.revoke(signIn.agent).pipe(as(member))
      assert.strictEqual(yield* said({}), "agent_revoked")
    })
  )

  it.effect("end once and notify their sender once under concurrent requests", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox
      const messages = yield* Messages
      const { admin, byAgent, member, send, workspace } = yield* makeMessageScene
      for (const round of times(4)) {
        const { id } = yield* send()
        const ends = [
          ...times(4).map(() => answer(byAgent(inbox.complete(id, { reply: "Done." })))),
          ...times(4).map(() => answer(byAgent(inbox.decline(id, { reason: "No." })))),
          ...times(4).map(() => answer(messages.decline(id, {}).pipe(as(member))))
        ]
        const answers = yield* Effect.all(ends, together)
        assert.deepStrictEqual(answers.toSorted(), [...times(11).map(() => "Conflict ended"), "ok"])
        const notified = yield* notifiedOf(admin)
        assert.lengthOf(notified, round + 1)
        const { status } = yield* messages.get(id).pipe(as(admin))
        assert.deepStrictEqual(notified[0], [`message_${status}`, id])
        const events = (yield* eventsOf(workspace)).filter(({ subjectId }) => subjectId === id)
        assert.deepStrictEqual(
          events.map(({ kind }) => kind),
          ["message_sent", `message_${status}`]
        )
      }
    })
  )

  it.effect("are taken or declined if their agent is revoked concurrently", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const inbox = yield* Inbox
      const messages = yield* Messages
      const { admin, member, team } = yield* makeMessageScene
      const ticket = yield* addTicket(team)
      for (const _ of times(3)) {
        const signIn = yield* registered(member)
        // Authenticated before the revocation, as in a concurrent request.
        const found = (yield* authenticated(signIn.access_token))!
        const byAgent = asAgent({ ...found, tokenHash: hashToken(signIn.access_token), lastFour: "wxyz" })
        const send = messages.send({ agent: signIn.agent, ticket: ticket.id, ask: "build" }).pipe(as(admin))
        const sent = yield* Effect.forEach(times(12), () => send, together)
        const [taken, { declined }, more] = yield* Effect.all(
          [
            Effect.forEach(times(4), () => byAgent(inbox.take({ limit: 2 })), together),
            agents.revoke(signIn.agent).pipe(as(member)),
            Effect.forEach(times(4), () => Effect.option(send), together)
          ],
          together
        )
        const all = [...sent, ...more.flatMap((one) => (one._tag === "Some" ? [one.value] : []))]
        const statuses = yield* Effect.forEach(all, ({ id }) =>
          Effect.map(messages.get(id).pipe(as(admin)), ({ status }) => status)
        )
        const count = (wanted: string) => statuses.filter((status) => status === wanted).length
        assert.deepStrictEqual(
          [count("queued"), count("delivered"), count("declined")],
          [0, taken.flat().length, declined]
        )
        assert.strictEqual(yield* refusal(send), "Conflict agent_revoked")
        // What was delivered stays, and is its person's to decline.
        for (const { id } of taken.flat()) {
          assert.strictEqual((yield* messages.decline(id, { reason: "Late." }).pipe(as(member))).status, "declined")
        }
      }
    })
  )

  it.effect("can be read by their agent in any state", () =>
    Effect.gen(function* () {
      const inbox = yield* Inbox
      const { admin, byAgent, member, send } = yield* makeMessageScene
      const codex = yield* registered(member, { client: "codex" })
      const [first, second] = [yield* send({ note: "One" }), yield* send({ note: "Two" })]
      assert.deepStrictEqual(
        (yield* byAgent(inbox.list)).map(({ note }) => note),
        ["One", "Two"]
      )
      assert.strictEqual(yield* byAgent(inbox.count), 2)
      assert.deepStrictEqual(
        (yield* byAgent(inbox.take({}))).map(({ id }) => id),
        [first.id]
      )
      assert.deepStrictEqual(
        (yield* byAgent(inbox.list)).map(({ id }) => id),
        [second.id]
      )
      assert.strictEqual((yield* byAgent(inbox.get(first.id))).status, "delivered")
      // A queued one that is completed is delivered by it.
      const completed = yield* byAgent(inbox.complete(second.id, { reply: "Done." }))
      assert.deepStrictEqual([completed.status, completed.reply], ["completed", "Done."])
      assert.strictEqual(completed.deliveredAt, completed.completedAt)
      for (const call of [
        inbox.get(first.id),
        inbox.complete(first.id, { reply: "x" }),
        inbox.get(newId<MessageId>())
      ]) {
        assert.strictEqual(yield* refusal(withToken(codex.access_token)(call)), "NotFound")
      }
      assert.deepStrictEqual(yield* notifiedOf(admin), [["message_completed", second.id]])
      assert.lengthOf(yield* notifiedOf(member), 2)
    })
  )
})

withServicesOnEachStorage("A call that waits for messages", (it) => {
  const waiting = Effect.fnUntraced(function* (accessToken: string, seconds = 25) {
    const inbox = yield* Inbox
    const clock = yield* Clock.Clock
    const waits = yield* Deferred.make<void>()
    const sleep = (duration: Duration.Duration) =>
      Effect.andThen(Deferred.succeed(waits, undefined), clock.sleep(duration))
    const fiber = yield* Effect.forkChild(
      withToken(accessToken)(inbox.wait(seconds)).pipe(Effect.provideService(Clock.Clock, { ...clock, sleep }))
    )
    // Only time passes for it then.
    yield* Deferred.await(waits)
    return fiber
  })

  it.effect("answers when a message comes or the time is over", () =>
    Effect.gen(function* () {
      const { send, signIn } = yield* makeMessageScene
      const first = yield* waiting(signIn.access_token)
      yield* TestClock.adjust("24 seconds")
      const sent = yield* send()
      assert.deepStrictEqual(
        (yield* Fiber.join(first)).map(({ id }) => id),
        [sent.id]
      )
      const codex = yield* makeMessageScene
      const second = yield* waiting(codex.signIn.access_token, 10)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* Fiber.join(second), [])
    })
  )

  it.effect("ends when its access ends", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const members = yield* Members
      const signIns = yield* SignIns
      const { admin, member, signIn } = yield* makeMessageScene
      const ends = [
        (token: string) => signIns.revoke(form({ token })),
        () => registered(member),
        () => members.deactivate(member.principal.id).pipe(as(admin)),
        () => agents.revoke(signIn.agent).pipe(as(member))
      ]
      for (const end of ends) {
        yield* members.reactivate(member.principal.id).pipe(as(admin))
        const { access_token } = yield* registered(member)
        const calls = yield* Effect.forEach(times(3), () => waiting(access_token))
        yield* end(access_token)
        for (const call of calls) {
          assert.strictEqual((yield* Effect.flip(Fiber.join(call)))._tag, "Unauthorized")
        }
      }
    })
  )

  it.effect("does not outlive its access token", () =>
    Effect.gen(function* () {
      const { signIn } = yield* makeMessageScene
      yield* TestClock.adjust(3_600_000 - 10_000)
      const call = yield* waiting(signIn.access_token)
      yield* TestClock.adjust("25 seconds")
      assert.strictEqual((yield* Effect.flip(Fiber.join(call)))._tag, "Unauthorized")
    })
  )
})
