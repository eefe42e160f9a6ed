import type { AgentId, CommentId, PersonId } from "@delivery/domain/Ids"
import type { Mentions } from "@delivery/domain/planning/Mentions"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { AgentsRepo } from "../../src/agents/AgentsRepo.ts"
import { CommentsRepo, type CommentDetails } from "../../src/planning/CommentsRepo.ts"
import { addMember, assertHolds, kindsOf, makeScene, minute, newestFirst, newId, shuffled } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"
import { addTeam, addTeamMember, seesAll, seesOwn } from "./Scene.ts"
import { addAgent, addTicket, anEvent, commentRow, makeTicketScene } from "./TicketsScene.ts"

const nobody: Mentions = { users: [], agents: [] }

/** Whom a comment is shown to mention. */
const mentioned = (comment: CommentDetails | undefined) => ({
  users: comment?.users.map(({ id }) => id),
  agents: comment?.agents.map(({ id }) => id)
})

onEachStorage("CommentsRepo", (it) => {
  it.effect("finds a comment as it was stored, with its author and its mentions in the order of the text", () =>
    Effect.gen(function* () {
      const repo = yield* CommentsRepo
      const { admin, member, memberKey, team, viewer, workspace } = yield* makeTicketScene
      const [agent, other] = [yield* addAgent(member, "other", "Zed"), yield* addAgent(admin)]
      const ticket = yield* addTicket(team)
      const row = commentRow(ticket, agent, { body: "Ünïcode 🚀", createdAt: minute(1), editedAt: minute(2) })
      const mentions = {
        users: [viewer.principal.id, admin.principal.id],
        agents: [other.principal.id, agent.principal.id]
      }
      yield* repo.insert(row, mentions, anEvent(workspace.id, { kind: "ticket_commented" }))
      const person = ({ principal: { email, id, name } }: typeof admin) => ({ id, name, email })
      const shown = {
        ...row,
        author: agent.principal,
        users: [person(viewer), person(admin)],
        agents: [other, agent].map(({ principal: { id, name, person } }) => ({ id, name, person }))
      }
      assert.deepStrictEqual<unknown>(yield* repo.find(ticket.id, row.id), shown)
      assert.deepStrictEqual<unknown>(yield* repo.list(seesAll(workspace.id), ticket.id), [shown])
      assert.isUndefined(yield* repo.find((yield* addTicket(team)).id, row.id))
      assert.isUndefined(yield* repo.find(ticket.id, newId<CommentId>()))
      assert.include(yield* kindsOf(workspace), "ticket_commented")

      const byKey = commentRow(ticket, memberKey)
      const byNobody = commentRow(ticket, memberKey, { authorKind: "apiKey", authorId: newId() })
      for (const comment of [byKey, byNobody]) yield* repo.insert(comment, nobody, anEvent(workspace.id))
      assert.deepStrictEqual<unknown>((yield* repo.find(ticket.id, byKey.id))?.author, memberKey.principal)
      assert.deepStrictEqual((yield* repo.find(ticket.id, byNobody.id))?.author, { kind: "removed" })
    })
  )

  it.effect("lists comments of a ticket that the viewer sees, oldest first", () =>
    Effect.gen(function* () {
      const repo = yield* CommentsRepo
      const { member, team, workspace } = yield* makeTicketScene
      const closed = yield* addTeam(workspace.id, { visibility: "private" })
      const [ticket, other, hidden] = [yield* addTicket(team), yield* addTicket(team), yield* addTicket(closed)]
      const rows = newestFirst((createdAt, id) => commentRow(ticket, member, { createdAt, id: id as CommentId }))
      for (const row of shuffled(rows)) yield* repo.insert(row, nobody, anEvent(workspace.id))
      yield* repo.insert(commentRow(hidden, member), nobody, anEvent(workspace.id))
      const own = seesOwn(workspace.id, member.principal.id)
      const listed = (ref: string, viewer = own) =>
        Effect.map(repo.list(viewer, ref), (comments) => comments?.map(({ id }) => id))
      const oldestFirst = rows.map(({ id }) => id).toReversed()
      for (const ref of [ticket.id, `${team.key}-1`, `${team.key.toLowerCase()}-1`]) {
        assert.deepStrictEqual(yield* listed(ref), oldestFirst)
      }
      assert.deepStrictEqual(yield* listed(other.id), [])
      for (const ref of [hidden.id, newId(), "x", `${team.key}-3`]) assert.isUndefined(yield* listed(ref), ref)
      assert.lengthOf((yield* listed(hidden.id, seesAll(workspace.id)))!, 1)
      assert.isUndefined(yield* listed(ticket.id, seesAll((yield* makeScene).workspace.id)))
    })
  )

  it.effect("finds who can be mentioned, and which agents' persons see the team", () =>
    Effect.gen(function* () {
      const repo = yield* CommentsRepo
      const agents = yield* AgentsRepo
      const { admin, member, outsider, owner, viewer, workspace } = yield* makeTicketScene
      const elsewhere = yield* makeScene
      const team = yield* addTeam(workspace.id, { visibility: "private" })
      yield* addTeamMember(team, viewer)
      const gone = yield* addMember(workspace, "member", { active: false })
      const foreign = yield* addAgent(elsewhere.member)
      const [ofMember, revoked, ofAdmin, ofOwner, ofViewer, ofGone] = [
        yield* addAgent(member),
        yield* addAgent(member, "other", "Zed"),
        yield* addAgent(admin),
        yield* addAgent(owner),
        yield* addAgent(viewer),
        yield* addAgent({ ...gone, membership: member.membership })
      ]
      yield* agents.revoke(revoked!.principal.id, minute(1))
      const named = {
        users: [member, viewer, gone, outsider, elsewhere.member].map(({ principal }) => principal.id),
        agents: [ofMember, revoked, ofAdmin, ofOwner, ofViewer, ofGone, foreign].map((agent) => agent!.principal.id)
      }
      const sees = (team: Parameters<typeof repo.mentionable>[0]) =>
        Effect.map(repo.mentionable(team, named), ({ agents, users }) => {
          assert.sameMembers([...users], [member.principal.id, viewer.principal.id])
          return new Map(agents.map(({ id, seesTeam }) => [id, seesTeam]))
        })
      const expected = (ofMembers: boolean) =>
        new Map([
          [ofMember!.principal.id, ofMembers],
          [ofAdmin!.principal.id, true],
          [ofOwner!.principal.id, true],
          [ofViewer!.principal.id, true]
        ])
      assert.deepStrictEqual(yield* sees(team), expected(false))
      assert.deepStrictEqual(yield* sees({ ...team, visibility: "open" }), expected(true))
      const unknown = { users: [newId<PersonId>()], agents: [newId<AgentId>()] }
      for (const named of [nobody, unknown]) {
        assert.deepStrictEqual<unknown>(yield* repo.mentionable(team, named), nobody)
      }
    })
  )

  it.effect("updates text and mentions of one comment, and keeps everybody who was mentioned", () =>
    Effect.gen(function* () {
      const repo = yield* CommentsRepo
      const { admin, member, team, viewer, workspace } = yield* makeTicketScene
      const [a, b] = [(yield* addAgent(member)).principal.id, (yield* addAgent(admin)).principal.id]
      const [first, second] = [member.principal.id, viewer.principal.id]
      const ticket = yield* addTicket(team)
      const [row, other] = [commentRow(ticket, member), commentRow(ticket, member)]
      for (const comment of [row, other]) {
        yield* repo.insert(comment, { users: [first], agents: [a] }, anEvent(workspace.id))
      }
      const everybody = [a, b, first, second].toSorted()
      const edited = { ...row, body: "New", editedAt: minute(5) }
      const change = (users: ReadonlyArray<PersonId>, agents: ReadonlyArray<AgentId>) =>
        Effect.gen(function* () {
          yield* repo.update(edited, { users, agents }, anEvent(workspace.id, { kind: "comment_updated" }))
          const found = yield* repo.find(ticket.id, row.id)
          assert.deepStrictEqual<unknown>(mentioned(found), { users, agents })
          assert.deepInclude(found, { body: "New", editedAt: minute(5), createdAt: row.createdAt })
          return (yield* repo.everMentioned(row.id)).toSorted()
        })
      assert.deepStrictEqual(yield* change([second, first], [b, a]), everybody)
      assert.deepStrictEqual(yield* change([first, second], [a, b]), everybody)
      assert.deepStrictEqual(yield* change([], []), everybody)
      assert.deepStrictEqual(yield* change([second], [b]), everybody)
      assert.deepStrictEqual(mentioned(yield* repo.find(ticket.id, other.id)), { users: [first], agents: [a] })
      assert.sameMembers([...(yield* repo.everMentioned(other.id))], [first, a])
      assert.strictEqual((yield* repo.find(ticket.id, other.id))?.body, other.body)
      assert.include(yield* kindsOf(workspace), "comment_updated")
    })
  )

  it.effect("deletes one comment", () =>
    Effect.gen(function* () {
      const repo = yield* CommentsRepo
      const { member, team, workspace } = yield* makeTicketScene
      const ticket = yield* addTicket(team)
      const [row, other] = [commentRow(ticket, member), commentRow(ticket, member)]
      for (const comment of [row, other]) {
        yield* repo.insert(comment, { users: [member.principal.id], agents: [] }, anEvent(workspace.id))
      }
      yield* repo.delete(row.id, anEvent(workspace.id, { kind: "comment_deleted" }))
      assert.isUndefined(yield* repo.find(ticket.id, row.id))
      assert.deepStrictEqual(
        (yield* repo.list(seesAll(workspace.id), ticket.id))?.map(({ id }) => id),
        [other.id]
      )
      assert.include(yield* kindsOf(workspace), "comment_deleted")
    })
  )

  it.effect("locks a comment for one transaction at a time", () =>
    Effect.gen(function* () {
      const repo = yield* CommentsRepo
      const { member, team, workspace } = yield* makeTicketScene
      const [ticket, other] = [yield* addTicket(team), yield* addTicket(team)]
      const row = commentRow(ticket, member)
      yield* repo.insert(row, nobody, anEvent(workspace.id))
      yield* assertHolds(repo.lock(ticket.id, row.id))
      assert.isTrue(yield* repo.lock(ticket.id, row.id))
      assert.isFalse(yield* repo.lock(other.id, row.id))
      assert.isFalse(yield* repo.lock(ticket.id, newId<CommentId>()))
    })
  )
})
