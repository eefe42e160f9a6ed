import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AgentsRepo } from "../../src/agents/AgentsRepo.ts"
import { Members } from "../../src/identity/Members.ts"
import { Comments } from "../../src/planning/Comments.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import {
  addMember,
  answer,
  as,
  type CallerOf,
  eventsOf,
  everyRole,
  membersAndUp,
  minute,
  newId,
  now,
  refusal,
  whoMay
} from "../identity/Scene.ts"
import { MentionLog, withServicesOnEachStorage } from "../support/Storages.ts"
import { addTeam, addTeamMember } from "./Scene.ts"
import { addAgent, create, makeTicketScene } from "./TicketsScene.ts"

const user = ({ principal }: CallerOf) => `[@${principal.name}](user:${principal.id})`
const agentLink = ({ principal }: CallerOf) => `[@${principal.name}](agent:${principal.id})`

/** The mentions of agents in comments on a ticket, in order: the text, and the agents that are notified. */
const notificationsOf = (ticketId: string) =>
  Effect.map(MentionLog, (log) =>
    log.filter(({ ticket }) => ticket.id === ticketId).map(({ agentIds, comment }) => [comment.body, ...agentIds])
  )

withServicesOnEachStorage("Comments", (it) => {
  it.effect("are listed oldest first and counted by their ticket", () =>
    Effect.gen(function* () {
      const comments = yield* Comments
      const tickets = yield* Tickets
      const scene = yield* makeTicketScene
      const { member, memberKey, workspace } = scene
      const agent = yield* addAgent(member)
      const ticket = yield* create(scene, { title: "Pay by card" })
      yield* TestClock.adjust(1_000)
      const first = yield* comments.create(ticket.identifier.toLowerCase(), { body: "  code" }).pipe(as(member))
      const { email, id, name } = member.principal
      assert.deepStrictEqual(first, {
        id: first.id,
        body: "  code",
        author: { kind: "user", id, name, email },
        createdAt: yield* now,
        editedAt: null,
        mentions: { users: [], agents: [] }
      })
      const second = yield* comments.create(ticket.id, { body: "x".repeat(100_000) }).pipe(as(agent))
      const third = yield* comments.create(ticket.id, { body: "c" }).pipe(as(memberKey))
      assert.deepStrictEqual<unknown>(second.author, agent.principal)
      assert.deepStrictEqual<unknown>(third.author, memberKey.principal)
      assert.deepStrictEqual(yield* comments.list(ticket.identifier).pipe(as(member)), [first, second, third])
      // The ticket's count alone changes.
      assert.deepStrictEqual(yield* tickets.get(ticket.id).pipe(as(member)), { ...ticket, commentCount: 3 })
      assert.strictEqual((yield* tickets.list({}).pipe(as(member)))[0]?.commentCount, 3)
      const event = (yield* eventsOf(workspace)).find(({ kind }) => kind === "ticket_commented")
      assert.deepInclude(event, {
        subjectType: "ticket",
        subjectId: ticket.id,
        subjectLabel: `${ticket.identifier} Pay by card`,
        subjectPath: `tickets/${ticket.identifier}`,
        changes: []
      })
    })
  )

  it.effect("can be read by every role and written by members and above", () =>
    Effect.gen(function* () {
      const comments = yield* Comments
      const scene = yield* makeTicketScene
      const { id } = yield* create(scene)
      assert.deepStrictEqual(yield* whoMay(scene, comments.list(id)), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, comments.create(id, { body: "x" })), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, comments.update(id, newId(), { body: "x" })), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, comments.delete(id, newId())), membersAndUp)
    })
  )

  it.effect("can be edited only by their author", () =>
    Effect.gen(function* () {
      const comments = yield* Comments
      const scene = yield* makeTicketScene
      const { admin, member, memberKey, owner, workspace } = scene
      const agent = yield* addAgent(member)
      const { id } = yield* create(scene)
      for (const author of [member, agent, memberKey]) {
        const made = yield* comments.create(id, { body: "a" }).pipe(as(author))
        for (const other of [member, agent, memberKey, admin, owner].filter((other) => other !== author)) {
          const call = comments.update(id, made.id, { body: "b" }).pipe(as(other))
          assert.strictEqual(yield* refusal(call), "Forbidden not_author")
        }
        yield* TestClock.adjust(1_000)
        const before = (yield* eventsOf(workspace)).length
        assert.deepStrictEqual(yield* comments.update(id, made.id, { body: "a" }).pipe(as(author)), made)
        assert.lengthOf(yield* eventsOf(workspace), before)
        const edited = yield* comments.update(id, made.id, { body: "b" }).pipe(as(author))
        assert.deepStrictEqual(edited, { ...made, body: "b", editedAt: yield* now })
        assert.deepStrictEqual((yield* comments.list(id).pipe(as(author))).at(-1), edited)
        assert.deepInclude((yield* eventsOf(workspace)).at(-1), {
          kind: "comment_updated",
          subjectType: "comment",
          subjectId: made.id,
          changes: [{ field: "body", from: null, to: "changed" }]
        })
      }
    })
  )

  it.effect("can be deleted by their author, the person of the agent that wrote them, admins and owners", () =>
    Effect.gen(function* () {
      const comments = yield* Comments
      const scene = yield* makeTicketScene
      const { admin, member, memberKey, owner, workspace } = scene
      const other = yield* addMember(workspace, "member")
      const [agent, ofOther] = [yield* addAgent(member), yield* addAgent(other)]
      const ticket = yield* create(scene)
      const deletion = (by: CallerOf, author: CallerOf) =>
        Effect.flatMap(comments.create(ticket.id, { body: "x" }).pipe(as(author)), ({ id }) =>
          comments.delete(ticket.id, id).pipe(as(by), answer)
        )
      for (const [by, author] of [
        [member, member],
        [agent, agent],
        [member, agent],
        [memberKey, memberKey],
        [admin, member],
        [owner, memberKey]
      ] as const) {
        assert.strictEqual(yield* deletion(by, author), "ok")
      }
      assert.deepStrictEqual(yield* comments.list(ticket.id).pipe(as(member)), [])
      assert.deepInclude((yield* eventsOf(workspace)).at(-1), {
        kind: "comment_deleted",
        subjectType: "comment",
        subjectLabel: `Comment on ${ticket.identifier} ${ticket.title}`
      })
      for (const [by, author] of [
        [other, member],
        [agent, member],
        [ofOther, agent],
        [other, agent],
        [member, memberKey]
      ] as const) {
        assert.strictEqual(yield* deletion(by, author), "Forbidden not_author")
      }
    })
  )

  it.effect("exist only on their ticket, if the caller sees it", () =>
    Effect.gen(function* () {
      const comments = yield* Comments
      const scene = yield* makeTicketScene
      const { admin, member, workspace } = scene
      const closed = yield* addTeam(workspace.id, { visibility: "private" })
      const [ticket, other] = [yield* create(scene), yield* create(scene)]
      const hidden = yield* create(scene, { team: closed.key }, admin)
      const made = yield* comments.create(ticket.id, { body: "a" }).pipe(as(member))
      const secret = yield* comments.create(hidden.id, { body: "a" }).pipe(as(admin))
      for (const [ref, id] of [
        [other.id, made.id],
        [ticket.id, secret.id],
        [ticket.id, newId()],
        [ticket.id, "x"],
        [hidden.id, secret.id],
        [newId(), made.id]
      ] as const) {
        assert.strictEqual(yield* refusal(comments.update(ref, id, { body: "b" }).pipe(as(member))), "NotFound")
        assert.strictEqual(yield* refusal(comments.delete(ref, id).pipe(as(member))), "NotFound")
      }
      for (const ref of [hidden.id, hidden.identifier, newId(), "x"]) {
        assert.strictEqual(yield* refusal(comments.list(ref).pipe(as(member))), "NotFound")
        assert.strictEqual(yield* refusal(comments.create(ref, { body: "b" }).pipe(as(member))), "NotFound")
      }
    })
  )

  it.effect("cannot change while the team is archived", () =>
    Effect.gen(function* () {
      const comments = yield* Comments
      const scene = yield* makeTicketScene
      const { admin, member, team } = scene
      const { id } = yield* create(scene)
      const made = yield* comments.create(id, { body: "a" }).pipe(as(member))
      yield* (yield* Teams).archive(team.key).pipe(as(admin))
      for (const call of [
        Effect.asVoid(comments.create(id, { body: "b" })),
        Effect.asVoid(comments.update(id, made.id, { body: "b" })),
        comments.delete(id, made.id)
      ]) {
        assert.strictEqual(yield* refusal(call.pipe(as(member))), "Conflict archived")
      }
      assert.deepStrictEqual(yield* comments.list(id).pipe(as(member)), [made])
    })
  )

  it.describe("mentions", () => {
    it.effect("include active members and agents of the workspace, each once, in the order of the text", () =>
      Effect.gen(function* () {
        const comments = yield* Comments
        const agents = yield* AgentsRepo
        const scene = yield* makeTicketScene
        const { member, outsider, viewer, workspace } = scene
        const [agent, revoked] = [yield* addAgent(member), yield* addAgent(member, "codex")]
        yield* agents.revoke(revoked.principal.id, minute(1))
        const gone = yield* addMember(workspace, "member", { active: false })
        const elsewhere = yield* addAgent((yield* makeTicketScene).member)
        const { id } = yield* create(scene)
        const body = [
          user(viewer),
          agentLink(agent),
          user(member),
          user(viewer),
          user(outsider),
          user(gone),
          agentLink(revoked),
          agentLink(elsewhere),
          agentLink(member),
          user(agent),
          `[@New](user:${newId()})`,
          `\`${user(scene.admin)}\``
        ].join(" ")
        const { mentions } = yield* comments.create(id, { body }).pipe(as(member))
        const person = (caller: typeof viewer) => ({
          id: caller.principal.id,
          name: caller.principal.name,
          email: caller.principal.email
        })
        assert.deepStrictEqual(mentions, {
          users: [person(viewer), person(member)],
          agents: [{ id: agent.principal.id, name: "Claude", person: person(member) }]
        })
        const [listed] = yield* comments.list(id).pipe(as(member))
        assert.deepStrictEqual(listed?.mentions, mentions)
      })
    )

    it.effect("notify each agent once, when a person first mentions it", () =>
      Effect.gen(function* () {
        const comments = yield* Comments
        const scene = yield* makeTicketScene
        const { admin, member } = scene
        const [a, b] = [yield* addAgent(member), yield* addAgent(admin)]
        const [idOfA, idOfB] = [a.principal.id, b.principal.id]
        const { id } = yield* create(scene)
        const { id: comment } = yield* comments.create(id, { body: agentLink(a) + agentLink(a) }).pipe(as(member))
        const edit = (body: string) => comments.update(id, comment, { body }).pipe(as(member))
        const first = [agentLink(a) + agentLink(a), idOfA]
        assert.deepStrictEqual(yield* notificationsOf(id), [first])
        yield* edit(`${agentLink(a)} again`)
        assert.deepStrictEqual(yield* notificationsOf(id), [first])
        const both = `${agentLink(b)} and ${agentLink(a)}`
        yield* edit(both)
        yield* edit("nobody")
        const { mentions } = yield* edit(`${both}!`)
        assert.deepStrictEqual(
          mentions.agents.map(({ id }) => id),
          [idOfB, idOfA]
        )
        assert.deepStrictEqual(yield* notificationsOf(id), [first, [both, idOfB]])
        // Another comment is another message.
        yield* comments.create(id, { body: both }).pipe(as(member))
        assert.deepStrictEqual((yield* notificationsOf(id)).at(-1), [both, idOfB, idOfA])
      })
    )

    it.effect("notify nobody if an agent or an account key writes", () =>
      Effect.gen(function* () {
        const comments = yield* Comments
        const scene = yield* makeTicketScene
        const { admin, member, memberKey } = scene
        const [a, b] = [yield* addAgent(member), yield* addAgent(admin)]
        const { id } = yield* create(scene)
        for (const author of [a, memberKey]) {
          const made = yield* comments.create(id, { body: agentLink(b) }).pipe(as(author))
          assert.lengthOf(made.mentions.agents, 1)
          yield* comments.update(id, made.id, { body: `${agentLink(b)} ${agentLink(a)}` }).pipe(as(author))
        }
        assert.deepStrictEqual(yield* notificationsOf(id), [])
      })
    )

    it.effect("do not notify an agent whose person cannot see the ticket", () =>
      Effect.gen(function* () {
        const comments = yield* Comments
        const scene = yield* makeTicketScene
        const { admin, member, viewer, workspace } = scene
        const closed = yield* addTeam(workspace.id, { visibility: "private" })
        yield* addTeamMember(closed, viewer)
        const [ofMember, ofViewer, ofAdmin] = [yield* addAgent(member), yield* addAgent(viewer), yield* addAgent(admin)]
        const { id, identifier, title } = yield* create(scene, { team: closed.key }, admin)
        const body = [ofMember, ofViewer, ofAdmin].map(agentLink).join(" ")
        const made = yield* comments.create(id, { body }).pipe(as(admin))
        assert.lengthOf(made.mentions.agents, 3)
        assert.deepStrictEqual(yield* notificationsOf(id), [[body, ofViewer.principal.id, ofAdmin.principal.id]])
        const mention = (yield* MentionLog).find(({ comment }) => comment.id === made.id)!
        assert.deepStrictEqual(mention.ticket, { id, teamId: closed.id, identifier, title })
        assert.strictEqual(mention.by.principal.id, admin.principal.id)
        yield* comments.create(id, { body: agentLink(ofMember) }).pipe(as(admin))
        assert.lengthOf(yield* notificationsOf(id), 1)
      })
    )

    it.effect("stay when mentioned members leave, and notify nobody who left", () =>
      Effect.gen(function* () {
        const comments = yield* Comments
        const scene = yield* makeTicketScene
        const { admin, member, viewer } = scene
        const agent = yield* addAgent(viewer)
        const { id } = yield* create(scene)
        const made = yield* comments.create(id, { body: `${user(viewer)} ${agentLink(agent)}` }).pipe(as(member))
        yield* (yield* Members).deactivate(viewer.principal.id).pipe(as(admin))
        const edited = yield* comments
          .update(id, made.id, { body: `${agentLink(agent)} ${user(viewer)}!` })
          .pipe(as(member))
        assert.deepStrictEqual(edited.mentions, made.mentions)
        const fresh = yield* comments.create(id, { body: `${user(viewer)} ${agentLink(agent)}` }).pipe(as(member))
        assert.deepStrictEqual(fresh.mentions, { users: [], agents: [] })
        assert.lengthOf(yield* notificationsOf(id), 1)
      })
    )

    it.effect("notify each agent once under concurrent edits", () =>
      Effect.gen(function* () {
        const comments = yield* Comments
        const scene = yield* makeTicketScene
        const { member } = scene
        const agent = yield* addAgent(member)
        const { id } = yield* create(scene)
        const { id: comment } = yield* comments.create(id, { body: "x" }).pipe(as(member))
        yield* Effect.all(
          Array.from({ length: 16 }, (_, i) =>
            comments.update(id, comment, { body: `${agentLink(agent)} ${i}` }).pipe(as(member))
          ),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(yield* notificationsOf(id), 1)
      })
    )
  })
})
