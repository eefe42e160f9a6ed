import type { AgentId, CommentId, ComputerId, MessageId, NotificationId, PersonId } from "@delivery/domain/Ids"
import { messagesPageSize } from "@delivery/domain/agents/Message"
import { notificationsPageSize } from "@delivery/domain/agents/Notification"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { AgentsRepo } from "../../src/agents/AgentsRepo.ts"
import {
  type InboxAddress,
  type MessageRow,
  MessagesRepo,
  type NotificationRow
} from "../../src/agents/MessagesRepo.ts"
import { ProductsRepo } from "../../src/catalog/ProductsRepo.ts"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { type TicketRow, TicketsRepo } from "../../src/planning/TicketsRepo.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { productRow } from "../catalog/Rows.ts"
import { addMember, assertHolds, makeScene, minute, newestFirst, newId, shuffled } from "../identity/Scene.ts"
import { addTeam, addTeamMember, seesAll, seesOwn } from "../planning/Scene.ts"
import { addAgent, addTicket, anEvent, makeTicketScene } from "../planning/TicketsScene.ts"
import { onEachStorage } from "../support/Storages.ts"
import { addProject } from "../planning/ProjectsScene.ts"

type Agent = Effect.Success<ReturnType<typeof addAgent>>
type Sender = { readonly principal: { readonly id: string } }

const messageRow = (agent: Agent, ticket: TicketRow, sender: Sender, fields: Partial<MessageRow> = {}): MessageRow => ({
  id: newId<MessageId>(),
  workspaceId: ticket.workspaceId,
  agentId: agent.principal.id,
  computerId: null,
  ticketId: ticket.id,
  ask: "build",
  note: null,
  commentId: null,
  senderId: sender.principal.id as PersonId,
  status: "queued",
  reply: null,
  evidenceRun: null,
  createdAt: minute(0),
  deliveredAt: null,
  completedAt: null,
  declinedAt: null,
  ...fields
})

/** A workspace in which the member's agent has computers, and a ticket of its team. */
const makeMessageScene = Effect.gen(function* () {
  const scene = yield* makeTicketScene
  const agent = yield* addAgent(scene.member)
  const ticket = yield* addTicket(scene.team)
  return { ...scene, agent, ticket }
})

const addComputer = Effect.fnUntraced(function* (agent: Agent, name: string, lastSeenAt = minute(0)) {
  return yield* (yield* AgentsRepo).putComputer({
    id: newId<ComputerId>(),
    workspaceId: agent.membership!.id,
    agentId: agent.principal.id,
    name,
    createdAt: minute(0),
    lastSeenAt
  })
})

const inboxOf = (agent: Agent, fields: Partial<InboxAddress> = {}): InboxAddress => ({
  agentId: agent.principal.id,
  computerId: null,
  seenAfter: minute(100),
  ...fields
})

const ids = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)

onEachStorage("MessagesRepo", (it) => {
  it.effect("finds a message as it was stored, with its agent, computer, ticket and sender", () =>
    Effect.gen(function* () {
      const repo = yield* MessagesRepo
      const { admin, agent, team, ticket, workspace } = yield* makeMessageScene
      const computer = yield* addComputer(agent, "laptop")
      const row = messageRow(agent, ticket, admin, {
        computerId: computer.id,
        ask: "mention",
        note: "Ünïcode 🚀\n> quoted",
        commentId: newId<CommentId>(),
        createdAt: minute(1)
      })
      const bare = messageRow(agent, ticket, admin, { createdAt: minute(2) })
      yield* repo.insert([row, bare])
      const { email, id, name } = admin.principal
      const stored = {
        id: row.id,
        agent: { id: agent.principal.id, name: "Claude", person: agent.principal.person },
        computer: { id: computer.id, name: "laptop" },
        ticket: { id: ticket.id, identifier: `${team.key}-${ticket.number}`, title: ticket.title },
        ask: "mention",
        note: row.note,
        commentId: row.commentId,
        sender: { id, name, email },
        status: "queued",
        reply: null,
        evidence: null,
        createdAt: minute(1),
        deliveredAt: null,
        completedAt: null,
        declinedAt: null,
        teamId: team.id
      }
      const viewer = seesAll(workspace.id)
      assert.deepStrictEqual<unknown>(yield* repo.find(viewer, row.id), stored)
      assert.deepStrictEqual<unknown>(yield* repo.findOfAgent(viewer, agent.principal.id, row.id), stored)
      assert.deepStrictEqual<unknown>((yield* repo.list(viewer, {}))[1], stored)
      assert.deepInclude(yield* repo.find(viewer, bare.id), { computer: null, note: null, commentId: null })
      const other = yield* addAgent(admin)
      assert.isUndefined(yield* repo.findOfAgent(viewer, other.principal.id, row.id))
      for (const id of [newId(), "x", "", row.id.toUpperCase()]) assert.isUndefined(yield* repo.find(viewer, id), id)
      assert.isUndefined(yield* repo.find(seesAll((yield* makeScene).workspace.id), row.id))
    })
  )

  it.effect("lists the newest 100 that the viewer sent or received, of visible tickets", () =>
    Effect.gen(function* () {
      const repo = yield* MessagesRepo
      const { admin, agent, member, team, ticket, viewer, workspace } = yield* makeMessageScene
      const [closed, other] = [yield* addTeam(workspace.id, { visibility: "private" }), yield* addTicket(team)]
      const hidden = yield* addTicket(closed)
      const ofAdmin = yield* addAgent(admin)
      const rows = newestFirst((createdAt, id) => messageRow(agent, ticket, admin, { createdAt, id: id as MessageId }))
      yield* repo.insert(shuffled(rows))
      const secret = messageRow(agent, hidden, admin, { createdAt: minute(4) })
      const own = messageRow(ofAdmin, other, member, { createdAt: minute(5), status: "completed" })
      yield* repo.insert([secret, own])
      const listed = (viewer: Parameters<typeof repo.list>[0], filter: Parameters<typeof repo.list>[1] = {}) =>
        Effect.map(repo.list(viewer, filter), ids)
      const all = seesAll(workspace.id)
      assert.deepStrictEqual(yield* listed(all), [own.id, secret.id, ...ids(rows)])
      assert.deepStrictEqual(yield* listed(seesOwn(workspace.id, member.principal.id)), [own.id, ...ids(rows)])
      assert.deepStrictEqual(yield* listed(seesOwn(workspace.id, admin.principal.id)), [own.id, ...ids(rows)])
      assert.deepStrictEqual(yield* listed(seesOwn(workspace.id, viewer.principal.id)), [])
      assert.deepStrictEqual(yield* listed(seesOwn(workspace.id, null)), [])
      yield* addTeamMember(closed, member)
      assert.include(yield* listed(seesOwn(workspace.id, member.principal.id)), secret.id)
      assert.deepStrictEqual(yield* listed(all, { agentId: ofAdmin.principal.id }), [own.id])
      assert.deepStrictEqual(yield* listed(all, { ticketId: hidden.id }), [secret.id])
      assert.deepStrictEqual(yield* listed(all, { status: "completed" }), [own.id])
      assert.deepStrictEqual(yield* listed(all, { status: "completed", ticketId: ticket.id }), [])
      const many = Array.from({ length: messagesPageSize }, () =>
        messageRow(agent, ticket, admin, { createdAt: minute(6) })
      )
      yield* repo.insert(many)
      assert.sameMembers([...(yield* listed(all))], ids(many))
    })
  )

  it.effect("finds messages for the computer, for any, and for one that was not seen lately", () =>
    Effect.gen(function* () {
      const repo = yield* MessagesRepo
      const agents = yield* AgentsRepo
      const { admin, agent, member, ticket, workspace } = yield* makeMessageScene
      const [laptop, tower, lost] = [
        yield* addComputer(agent, "laptop", minute(101)),
        yield* addComputer(agent, "tower", minute(101)),
        yield* addComputer(agent, "lost", minute(99))
      ]
      const [any, forLaptop, forTower, forLost, delivered] = [
        messageRow(agent, ticket, admin, { createdAt: minute(4) }),
        messageRow(agent, ticket, admin, { createdAt: minute(3), computerId: laptop.id }),
        messageRow(agent, ticket, admin, { createdAt: minute(2), computerId: tower.id }),
        messageRow(agent, ticket, admin, { createdAt: minute(1), computerId: lost.id }),
        messageRow(agent, ticket, admin, { status: "delivered" })
      ]
      const others = messageRow(yield* addAgent(admin), ticket, member)
      yield* repo.insert([any, forLaptop, forTower, forLost, delivered, others])
      const viewer = seesOwn(workspace.id, member.principal.id)
      const waiting = (computerId: ComputerId | null) => {
        const inbox = inboxOf(agent, { computerId })
        return Effect.tap(Effect.map(repo.waiting(viewer, inbox), ids), (found) =>
          Effect.map(repo.count(viewer, inbox), (count) => assert.lengthOf(found, count))
        )
      }
      assert.deepStrictEqual(yield* waiting(laptop.id), [forLost.id, forLaptop.id, any.id])
      assert.deepStrictEqual(yield* waiting(tower.id), [forLost.id, forTower.id, any.id])
      assert.deepStrictEqual(yield* waiting(null), [forLost.id, any.id])
      // A computer is seen by its sessions, too.
      yield* agents.putSession({
        workspaceId: workspace.id,
        computerId: lost.id,
        id: "s",
        lastSeenAt: minute(102)
      })
      assert.deepStrictEqual(yield* waiting(laptop.id), [forLaptop.id, any.id])
      assert.deepStrictEqual(yield* waiting(lost.id), [forLost.id, any.id])
      assert.deepStrictEqual(ids(yield* repo.take(viewer, inboxOf(agent, { computerId: laptop.id }), 10, minute(5))), [
        forLaptop.id,
        any.id
      ])
    })
  )

  it.effect("delivers the oldest first, each once, to concurrent takers", () =>
    Effect.gen(function* () {
      const repo = yield* MessagesRepo
      const { admin, agent, member, ticket, workspace } = yield* makeMessageScene
      const viewer = seesOwn(workspace.id, member.principal.id)
      const rows = Array.from({ length: 30 }, (_, index) =>
        messageRow(agent, ticket, admin, { createdAt: minute(index) })
      )
      yield* repo.insert(rows.toReversed())
      const [first] = yield* repo.take(viewer, inboxOf(agent), 1, minute(40))
      assert.deepInclude(first, {
        id: rows[0]!.id,
        status: "delivered",
        deliveredAt: minute(40),
        teamId: ticket.teamId
      })
      assert.deepStrictEqual(ids(yield* repo.take(viewer, inboxOf(agent), 3, minute(40))), ids(rows.slice(1, 4)))
      const taken = yield* Effect.forEach(
        Array.from({ length: 12 }),
        () => repo.take(viewer, inboxOf(agent), 3, minute(41)),
        { concurrency: "unbounded" }
      )
      // Who takes at once may find less than there is, held by others; what is left is there for the next.
      const left = yield* repo.take(viewer, inboxOf(agent), 100, minute(42))
      assert.sameMembers(ids([...taken.flat(), ...left]), ids(rows.slice(4)))
      assert.strictEqual(yield* repo.count(viewer, inboxOf(agent)), 0)
      assert.deepStrictEqual(yield* repo.take(viewer, inboxOf(agent), 1, minute(43)), [])
    })
  )

  it.effect("shows the inbox of an agent without tickets that its person cannot see", () =>
    Effect.gen(function* () {
      const repo = yield* MessagesRepo
      const { admin, agent, member, workspace } = yield* makeMessageScene
      const closed = yield* addTeam(workspace.id, { visibility: "private" })
      const message = messageRow(agent, yield* addTicket(closed), admin)
      yield* repo.insert([message])
      const viewer = seesOwn(workspace.id, member.principal.id)
      assert.deepStrictEqual(yield* repo.waiting(viewer, inboxOf(agent)), [])
      assert.deepStrictEqual(yield* repo.take(viewer, inboxOf(agent), 10, minute(1)), [])
      assert.isUndefined(yield* repo.findOfAgent(viewer, agent.principal.id, message.id))
      yield* addTeamMember(closed, member)
      assert.deepStrictEqual(ids(yield* repo.take(viewer, inboxOf(agent), 10, minute(1))), [message.id])
    })
  )

  it.effect("ends a message, and returns the status of a locked one", () =>
    Effect.gen(function* () {
      const repo = yield* MessagesRepo
      const { admin, agent, ticket, workspace } = yield* makeMessageScene
      const [queued, delivered, declined] = [
        messageRow(agent, ticket, admin, { createdAt: minute(1) }),
        messageRow(agent, ticket, admin),
        messageRow(agent, ticket, admin, { createdAt: minute(1) })
      ]
      yield* repo.insert([queued, delivered, declined])
      yield* repo.take(seesAll(workspace.id), inboxOf(agent), 1, minute(1))
      yield* assertHolds(repo.lock(queued.id))
      assert.strictEqual(yield* repo.lock(delivered.id), "delivered")
      assert.isUndefined(yield* repo.lock(newId<MessageId>()))
      yield* repo.end(queued.id, "completed", "Done.", minute(5))
      yield* repo.end(delivered.id, "completed", "Done.", minute(5))
      yield* repo.end(declined.id, "declined", null, minute(5))
      const found = (id: MessageId) =>
        Effect.map(repo.find(seesAll(workspace.id), id), (message) => [
          message?.status,
          message?.reply,
          message?.deliveredAt,
          message?.completedAt,
          message?.declinedAt
        ])
      assert.deepStrictEqual(yield* found(queued.id), ["completed", "Done.", minute(5), minute(5), null])
      assert.deepStrictEqual(yield* found(delivered.id), ["completed", "Done.", minute(1), minute(5), null])
      assert.deepStrictEqual(yield* found(declined.id), ["declined", null, null, null, minute(5)])
      assert.deepStrictEqual(yield* repo.waiting(seesAll(workspace.id), inboxOf(agent)), [])
    })
  )

  it.effect("declines only queued messages of the agents, whoever sees them", () =>
    Effect.gen(function* () {
      const repo = yield* MessagesRepo
      const { admin, agent, member, ticket, workspace } = yield* makeMessageScene
      const closed = yield* addTeam(workspace.id, { visibility: "private" })
      const [codex, ofAdmin] = [yield* addAgent(member, "codex"), yield* addAgent(admin)]
      const [second, first, hidden, delivered, others] = [
        messageRow(agent, ticket, admin, { createdAt: minute(3) }),
        messageRow(codex, ticket, member, { createdAt: minute(1) }),
        messageRow(agent, yield* addTicket(closed), admin, { createdAt: minute(2) }),
        messageRow(agent, ticket, admin, { status: "delivered" }),
        messageRow(ofAdmin, ticket, member)
      ]
      yield* repo.insert([second, first, hidden, delivered, others])
      const agents = [agent.principal.id, codex.principal.id]
      assert.deepStrictEqual(
        yield* repo.declineQueued((yield* makeScene).workspace.id, agents, "No.", minute(9)),
        [],
        "another workspace"
      )
      const declined = yield* repo.declineQueued(workspace.id, agents, "No.", minute(9))
      assert.deepStrictEqual(ids(declined), [first.id, hidden.id, second.id])
      for (const message of declined) {
        assert.deepInclude(message, { status: "declined", reply: "No.", declinedAt: minute(9), deliveredAt: null })
      }
      assert.deepStrictEqual(yield* repo.declineQueued(workspace.id, agents, "No.", minute(9)), [])
      assert.deepStrictEqual(yield* repo.declineQueued(workspace.id, [], "No.", minute(9)), [])
      const status = (id: MessageId) => Effect.map(repo.find(seesAll(workspace.id), id), (found) => found?.status)
      assert.deepStrictEqual([yield* status(delivered.id), yield* status(others.id)], ["delivered", "queued"])
    })
  )

  it.effect("finds an addressee, revoked or not, with its computers", () =>
    Effect.gen(function* () {
      const repo = yield* MessagesRepo
      const agents = yield* AgentsRepo
      const members = yield* MembersRepo
      const { admin, agent, member, workspace } = yield* makeMessageScene
      const closed = yield* addTeam(workspace.id, { visibility: "private" })
      const [laptop, tower] = [yield* addComputer(agent, "laptop", minute(1)), yield* addComputer(agent, "tower")]
      yield* agents.putSession({
        workspaceId: workspace.id,
        computerId: laptop.id,
        id: "s",
        repository: "acme/shop",
        lastSeenAt: minute(2)
      })
      const id = agent.principal.id
      const found = yield* repo.addressee(workspace.id, id, closed.id)
      assert.deepStrictEqual<unknown>(
        { ...found, computers: found?.computers.toSorted((a, b) => a.name.localeCompare(b.name)) },
        {
          agent: { id, name: "Claude", person: agent.principal.person },
          isRevoked: false,
          hasActiveMember: true,
          seesPrivateTeam: false,
          computers: [
            {
              id: laptop.id,
              name: "laptop",
              lastSeenAt: minute(1),
              sessions: [{ repository: "acme/shop", lastSeenAt: minute(2) }]
            },
            { id: tower.id, name: "tower", lastSeenAt: minute(0), sessions: [] }
          ]
        }
      )
      yield* addTeamMember(closed, member)
      assert.isTrue((yield* repo.addressee(workspace.id, id, closed.id))?.seesPrivateTeam)
      const ofAdmin = yield* addAgent(admin)
      assert.isTrue((yield* repo.addressee(workspace.id, ofAdmin.principal.id, closed.id))?.seesPrivateTeam)
      const personId = member.principal.id
      yield* members.update({ workspaceId: workspace.id, personId, role: "member", active: false })
      assert.deepInclude(yield* repo.addressee(workspace.id, id, closed.id), {
        isRevoked: false,
        hasActiveMember: false
      })
      yield* agents.revoke(ofAdmin.principal.id, minute(3))
      assert.deepInclude(yield* repo.addressee(workspace.id, ofAdmin.principal.id, closed.id), {
        isRevoked: true,
        hasActiveMember: true
      })
      const elsewhere = yield* makeScene
      assert.isUndefined(yield* repo.addressee(elsewhere.workspace.id, id, closed.id))
      assert.isUndefined(yield* repo.addressee(workspace.id, newId<AgentId>(), closed.id))
      assert.deepStrictEqual(
        [
          yield* repo.hasAgent(workspace.id, ofAdmin.principal.id),
          yield* repo.hasAgent(elsewhere.workspace.id, id),
          yield* repo.hasAgent(workspace.id, newId<AgentId>())
        ],
        [true, false, false]
      )
    })
  )

  it.effect("finds the repositories of the ticket's project, and the ticket of a filter", () =>
    Effect.gen(function* () {
      const repo = yield* MessagesRepo
      const { team, ticket, workspace } = yield* makeMessageScene
      const products = yield* ProductsRepo
      const [shop, till, bare] = [
        productRow(workspace.id, { repository: "acme/shop" }),
        productRow(workspace.id, { repository: "acme/till" }),
        productRow(workspace.id, { repository: null })
      ]
      for (const product of [shop, till, bare]) yield* products.insert(product)
      const project = yield* addProject(workspace.id, {
        teams: [team.id],
        products: [shop, till, bare].map(({ id }) => id)
      })
      const planned = yield* addTicket(team, { projectId: project.id })
      assert.sameMembers([...(yield* repo.repositories(planned.id))], ["acme/shop", "acme/till"])
      assert.deepStrictEqual(yield* repo.repositories(ticket.id), [])
      const closed = yield* addTeam(workspace.id, { visibility: "private" })
      const hidden = yield* addTicket(closed)
      const viewer = seesOwn(workspace.id, null)
      for (const ref of [ticket.id, `${team.key}-${ticket.number}`, `${team.key}-${ticket.number}`.toLowerCase()]) {
        assert.strictEqual(yield* repo.findTicket(viewer, ref), ticket.id)
      }
      for (const ref of [hidden.id, "NO-1", "x", newId()]) assert.isUndefined(yield* repo.findTicket(viewer, ref), ref)
      assert.strictEqual(yield* repo.findTicket(seesAll(workspace.id), hidden.id), hidden.id)
    })
  )

  it.effect("lists each person's newest 100 notifications, with the current message", () =>
    Effect.gen(function* () {
      const repo = yield* MessagesRepo
      const { admin, agent, member, ticket, workspace } = yield* makeMessageScene
      const closed = yield* addTeam(workspace.id, { visibility: "private" })
      const [message, secret] = [messageRow(agent, ticket, admin), messageRow(agent, yield* addTicket(closed), admin)]
      yield* repo.insert([message, secret])
      const row = (messageId: MessageId, fields: Partial<NotificationRow> = {}): NotificationRow => ({
        id: newId<NotificationId>(),
        workspaceId: workspace.id,
        personId: member.principal.id,
        kind: "message_received",
        messageId,
        readAt: null,
        createdAt: minute(0),
        ...fields
      })
      /** Of a message of its own: a person is notified once of each. */
      const received = Effect.fnUntraced(function* (fields: Partial<NotificationRow>) {
        const message = messageRow(agent, ticket, admin)
        yield* repo.insert([message])
        const made = row(message.id, fields)
        yield* repo.notify([made])
        return made.id
      })
      yield* repo.notify([])
      const times = newestFirst((createdAt, id) => ({ createdAt, id: id as NotificationId }))
      yield* Effect.forEach(shuffled(times), received)
      const to = { personId: admin.principal.id }
      const [seen, hidden] = [row(message.id, { ...to, kind: "message_completed" }), row(secret.id, to)]
      yield* repo.notify([seen, hidden])
      yield* repo.end(message.id, "completed", "Done.", minute(5))
      const viewer = seesOwn(workspace.id, null)
      const of = (id: PersonId) => repo.notifications(viewer, id)
      assert.deepStrictEqual(ids(yield* of(member.principal.id)), ids(times))
      const [one, ...more] = yield* of(admin.principal.id)
      assert.deepStrictEqual(more, [])
      assert.deepInclude(one, { id: seen.id, kind: "message_completed", readAt: null, createdAt: minute(0) })
      assert.deepInclude(one?.message, { id: message.id, status: "completed", reply: "Done." })
      assert.notProperty(one?.message, "teamId")
      assert.strictEqual(yield* repo.read(viewer, member.principal.id, minute(6)), times.length)
      assert.strictEqual(yield* repo.read(viewer, member.principal.id, minute(7)), 0)
      const read = (yield* of(member.principal.id)).map(({ readAt }) => readAt)
      assert.deepStrictEqual(new Set(read), new Set([minute(6)]))
      // What is not seen stays unread.
      assert.strictEqual(yield* repo.read(viewer, admin.principal.id, minute(8)), 1)
      assert.strictEqual(yield* repo.read(seesAll(workspace.id), admin.principal.id, minute(8)), 1)
      const many = Array.from({ length: notificationsPageSize }, () => ({ createdAt: minute(9) }))
      const newest = yield* Effect.forEach(many, received)
      assert.sameMembers(ids(yield* of(member.principal.id)), newest)
      assert.deepStrictEqual(yield* of((yield* addMember(workspace, "member")).principal.id), [])
    })
  )

  it.effect("marks one notification of a person read and unread, where they see its ticket", () =>
    Effect.gen(function* () {
      const repo = yield* MessagesRepo
      const { admin, agent, member, ticket, workspace } = yield* makeMessageScene
      const closed = yield* addTeam(workspace.id, { visibility: "private" })
      const viewer = seesOwn(workspace.id, null)
      const notified = Effect.fnUntraced(function* (about: TicketRow) {
        const message = messageRow(agent, about, admin)
        yield* repo.insert([message])
        const row: NotificationRow = {
          id: newId<NotificationId>(),
          workspaceId: workspace.id,
          personId: member.principal.id,
          kind: "message_received",
          messageId: message.id,
          readAt: null,
          createdAt: minute(0)
        }
        yield* repo.notify([row])
        return row.id
      })
      const [one, other, hidden] = [
        yield* notified(ticket),
        yield* notified(ticket),
        yield* notified(yield* addTicket(closed))
      ]
      const person = member.principal.id
      const readAt = Effect.map(
        repo.notifications(seesAll(workspace.id), person),
        (found) => new Map(found.map(({ id, readAt }) => [id, readAt]))
      )
      const marked = yield* repo.mark(viewer, person, one, minute(1))
      assert(marked !== undefined)
      assert.strictEqual(marked.readAt, minute(1))
      assert.deepStrictEqual(
        marked,
        (yield* repo.notifications(viewer, person)).find(({ id }) => id === one)
      )
      // It keeps the time when it was read.
      assert.deepStrictEqual(yield* repo.mark(viewer, person, one, minute(2)), marked)
      yield* repo.mark(viewer, person, other, minute(2))
      assert.deepStrictEqual(yield* repo.mark(viewer, person, one, null), { ...marked, readAt: null })
      assert.deepStrictEqual(yield* repo.mark(viewer, person, one, null), { ...marked, readAt: null })
      for (const [seen, of, id] of [
        [viewer, person, hidden],
        [viewer, admin.principal.id, one],
        [seesAll((yield* makeScene).workspace.id), person, one],
        [viewer, person, newId()],
        [viewer, person, "x"]
      ] as const) {
        assert.isUndefined(yield* repo.mark(seen, of, id, minute(3)))
      }
      assert.deepStrictEqual(
        yield* readAt,
        new Map([
          [one, null],
          [other, minute(2)],
          [hidden, null]
        ])
      )
    })
  )

  it.effect("deletes the messages of a deleted ticket", () =>
    Effect.gen(function* () {
      const repo = yield* MessagesRepo
      const storage = yield* Storage
      const { admin, agent, member, ticket, workspace } = yield* makeMessageScene
      const message = messageRow(agent, ticket, admin)
      yield* repo.insert([message])
      yield* repo.notify([
        {
          id: newId<NotificationId>(),
          workspaceId: workspace.id,
          personId: member.principal.id,
          kind: "message_received",
          messageId: message.id,
          readAt: null,
          createdAt: minute(0)
        }
      ])
      yield* storage.transaction(
        Effect.flatMap(TicketsRepo, (tickets) => tickets.delete(ticket.id, anEvent(workspace.id)))
      )
      const viewer = seesAll(workspace.id)
      assert.isUndefined(yield* repo.find(viewer, message.id))
      assert.deepStrictEqual(yield* repo.list(viewer, {}), [])
      assert.deepStrictEqual(yield* repo.waiting(viewer, inboxOf(agent)), [])
      assert.deepStrictEqual(yield* repo.take(viewer, inboxOf(agent), 1, minute(1)), [])
      assert.deepStrictEqual(yield* repo.notifications(viewer, member.principal.id), [])
      assert.strictEqual(yield* repo.read(viewer, member.principal.id, minute(1)), 0)
      assert.deepStrictEqual(yield* repo.declineQueued(workspace.id, [agent.principal.id], "No.", minute(1)), [])
      assert.isUndefined(yield* repo.lock(message.id))
    })
  )
})
