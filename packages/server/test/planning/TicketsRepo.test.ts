import type { AgentId, MilestoneId, ProjectId, TagId, TicketId } from "@delivery/domain/Ids"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { AgentsRepo } from "../../src/agents/AgentsRepo.ts"
import { CommentsRepo } from "../../src/planning/CommentsRepo.ts"
import { TagsRepo } from "../../src/planning/TagsRepo.ts"
import { type TicketRow, type TicketSelection, TicketsRepo } from "../../src/planning/TicketsRepo.ts"
import { TicketStatusesRepo } from "../../src/planning/TicketStatusesRepo.ts"
import type { Viewer } from "../../src/planning/Viewer.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { assertHolds, awaitsThis, eventsOf, makeScene, minute, newId, unique } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"
import { addMilestone, addProject } from "./ProjectsScene.ts"
import { addTeam, addTeamMember, seesAll, seesOwn, statusRow, teamKey } from "./Scene.ts"
import {
  addAgent,
  addTicket,
  anEvent,
  commentRow,
  makeTicketScene,
  ticketRow,
  type TicketScene
} from "./TicketsScene.ts"

const addTag = Effect.fnUntraced(function* (
  { workspace }: TicketScene,
  team: { readonly id: TicketRow["teamId"] } | null,
  name = unique("tag")
) {
  const tag = {
    id: newId<TagId>(),
    workspaceId: workspace.id,
    teamId: team?.id ?? null,
    name,
    color: "#d73a4a",
    createdAt: minute(0)
  }
  yield* (yield* TagsRepo).insert(tag)
  return { id: tag.id, name, color: tag.color, teamId: tag.teamId }
})

const ids = (tickets: ReadonlyArray<{ readonly id: TicketId }>): ReadonlyArray<TicketId> => tickets.map(({ id }) => id)

const listed = (viewer: Viewer, selection: TicketSelection = {}) =>
  Effect.map(
    Effect.flatMap(TicketsRepo, (repo) => repo.list(viewer, selection)),
    (tickets) => ids(tickets).toSorted()
  )

onEachStorage("TicketsRepo", (it, storage) => {
  it.effect("finds a ticket as it was stored, with all its details", () =>
    Effect.gen(function* () {
      const repo = yield* TicketsRepo
      const scene = yield* makeTicketScene
      const { member, status, team, workspace } = scene
      const agent = yield* addAgent(member, "other", "Zed")
      const project = yield* addProject(workspace.id, { teams: [team.id] })
      const milestone = yield* addMilestone(project)
      const tags = [yield* addTag(scene, team), yield* addTag(scene, null)]
      const row = yield* addTicket(team, {
        title: "Ünïcode 🚀 'quoted'",
        description: "a\nb",
        plan: "1. c",
        statusId: status("started").id,
        ownerKind: "agent",
        ownerId: agent.principal.id,
        projectId: project.id,
        milestoneId: milestone.id,
        creatorKind: "user",
        creatorId: member.principal.id,
        startedAt: minute(1),
        completedAt: minute(2),
        canceledAt: minute(3),
        createdAt: minute(4),
        updatedAt: "2026-02-03T04:05:06.789Z",
        tagIds: tags.map(({ id }) => id)
      })
      yield* (yield* CommentsRepo).insert(commentRow(row, member), { users: [], agents: [] }, anEvent(workspace.id))
      const found = yield* repo.find(seesAll(workspace.id), row.id)
      const { id, name, email } = member.principal
      assert.deepStrictEqual(
        { ...found!, tags: found!.tags.toSorted((a, b) => (a.id < b.id ? -1 : 1)) },
        {
          id: row.id,
          number: row.number,
          title: row.title,
          description: "a\nb",
          plan: "1. c",
          team: { id: team.id, key: team.key, name: team.name, visibility: "open" },
          status: { id: row.statusId, name: "In progress", category: "started", position: 0 },
          rank: row.rank,
          owner: { ...agent.principal },
          project: { id: project.id, slug: project.slug, name: project.name },
          milestone: { id: milestone.id, number: 1, name: milestone.name },
          tags,
          blocks: false,
          cases: null,
          completion: "free",
          passes: 1,
          mute: null,
          pastOwners: null,
          commentCount: 1,
          creator: { kind: "user", id: row.creatorId },
          createdBy: { kind: "user", id, name, email },
          startedAt: minute(1),
          completedAt: minute(2),
          canceledAt: minute(3),
          createdAt: minute(4),
          updatedAt: "2026-02-03T04:05:06.789Z"
        }
      )
      const { plan: _, ...withoutPlan } = found!
      const [only] = yield* repo.list(seesAll(workspace.id), {})
      assert.deepStrictEqual(
        { ...only!, tags: only!.tags.toSorted((a, b) => (a.id < b.id ? -1 : 1)) },
        {
          ...withoutPlan,
          tags
        }
      )
    })
  )

  it.effect("shows absent values as null, and deleted actors as removed", () =>
    Effect.gen(function* () {
      const repo = yield* TicketsRepo
      const { team, workspace } = yield* makeTicketScene
      const row = yield* addTicket(team)
      const found = yield* repo.find(seesAll(workspace.id), row.id)
      assert.deepInclude(found, {
        description: null,
        plan: null,
        owner: null,
        project: null,
        milestone: null,
        tags: [],
        blocks: false,
        cases: null,
        completion: "free",
        passes: 1,
        mute: null,
        pastOwners: null,
        commentCount: 0,
        createdBy: { kind: "removed" },
        startedAt: null,
        completedAt: null,
        canceledAt: null
      })
    })
  )

  it.effect("finds by id and identifier in any case, in the workspace and team that the viewer sees", () =>
    Effect.gen(function* () {
      const repo = yield* TicketsRepo
      const { member, team, viewer: other, workspace } = yield* makeTicketScene
      const elsewhere = yield* makeTicketScene
      const closed = yield* addTeam(workspace.id, { visibility: "private" })
      yield* addTeamMember(closed, member)
      const sees = {
        all: seesAll(workspace.id),
        member: seesOwn(workspace.id, member.principal.id),
        other: seesOwn(workspace.id, other.principal.id),
        key: seesOwn(workspace.id, null)
      }
      const [open, hidden] = [yield* addTicket(team), yield* addTicket(closed)]
      for (const find of [repo.find, repo.locate]) {
        for (const ref of [open.id, `${team.key}-1`, `${team.key.toLowerCase()}-1`]) {
          for (const viewer of Object.values(sees)) assert.strictEqual((yield* find(viewer, ref))?.id, open.id)
          assert.isUndefined(yield* find(seesAll(elsewhere.workspace.id), ref))
        }
        for (const ref of [hidden.id, `${closed.key}-1`]) {
          assert.strictEqual((yield* find(sees.all, ref))?.id, hidden.id)
          assert.strictEqual((yield* find(sees.member, ref))?.id, hidden.id)
          assert.isUndefined(yield* find(sees.other, ref))
          assert.isUndefined(yield* find(sees.key, ref))
        }
        for (const ref of ["", " ", "1", `${team.key}-2`, `${teamKey()}-1`, `${team.key}-0`, newId(), team.id, "ü-1"]) {
          assert.isUndefined(yield* find(sees.all, ref), ref)
        }
      }
      assert.deepStrictEqual(yield* repo.locate(sees.all, open.id), {
        id: open.id,
        teamId: team.id,
        projectId: null
      })
    })
  )

  it.effect("finds a ticket by identifiers of former teams, if the viewer sees them", () =>
    Effect.gen(function* () {
      const repo = yield* TicketsRepo
      const { member, team, viewer: other, workspace } = yield* makeTicketScene
      const closed = yield* addTeam(workspace.id, { visibility: "private" })
      yield* addTeamMember(closed, member)
      const row = yield* addTicket(closed)
      const moved = { ...row, teamId: team.id, number: 7, rank: "b00", statusId: (yield* addTicket(team)).statusId }
      yield* repo.update(moved, undefined, [], true)
      const back = { ...row, number: 9 }
      for (const ref of [`${closed.key}-1`, `${team.key}-7`, row.id]) {
        assert.strictEqual((yield* repo.find(seesOwn(workspace.id, member.principal.id), ref))?.id, row.id, ref)
      }
      const viewer = seesOwn(workspace.id, other.principal.id)
      assert.isUndefined(yield* repo.find(viewer, `${closed.key}-1`))
      assert.strictEqual((yield* repo.find(viewer, `${team.key}-7`))?.number, 7)
      yield* repo.update(back, undefined, [], true)
      for (const number of [1, 9]) {
        assert.strictEqual((yield* repo.find(seesAll(workspace.id), `${closed.key}-${number}`))?.number, 9)
      }
      assert.isUndefined(yield* repo.find(viewer, `${team.key}-7`))
    })
  )

  it.effect("lists the visible tickets that match a selection", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { admin, member, status, team, workspace } = scene
      const agent = yield* addAgent(member, "other", "Zed")
      const other = yield* addTeam(workspace.id, { visibility: "private" })
      const [checkout, search] = [
        yield* addProject(workspace.id, { teams: [team.id, other.id] }),
        yield* addProject(workspace.id, { teams: [team.id] })
      ]
      const [bug, urgent] = [yield* addTag(scene, null), yield* addTag(scene, team)]
      const a = yield* addTicket(team, {
        ownerKind: "user",
        ownerId: member.principal.id,
        projectId: checkout.id,
        tagIds: [bug.id, urgent.id]
      })
      const b = yield* addTicket(team, {
        ownerKind: "agent",
        ownerId: agent.principal.id,
        statusId: status("started").id,
        tagIds: [bug.id]
      })
      const c = yield* addTicket(team, { projectId: search.id, statusId: status("completed").id })
      const d = yield* addTicket(other, { projectId: checkout.id })
      yield* addTicket((yield* makeTicketScene).team)

      const all = seesAll(workspace.id)
      const expected = (...rows: ReadonlyArray<TicketRow>) => ids(rows).toSorted()
      for (const [selection, rows] of [
        [{}, [a, b, c, d]],
        [{ teamIds: [], projectIds: [], owners: [], categories: [], statusIds: [], tagIds: [] }, [a, b, c, d]],
        [{ teamIds: [team.id] }, [a, b, c]],
        [{ teamIds: [team.id, other.id] }, [a, b, c, d]],
        [{ projectIds: [checkout.id] }, [a, d]],
        [{ projectIds: [checkout.id, search.id] }, [a, c, d]],
        [{ projectIds: [newId<ProjectId>()] }, []],
        [{ owners: [member.principal.id] }, [a]],
        [{ owners: [agent.principal.id] }, [b]],
        [{ owners: [member.principal.id, agent.principal.id] }, [a, b]],
        [{ owners: [null] }, [c, d]],
        [{ owners: [null, member.principal.id] }, [a, c, d]],
        [{ owners: [admin.principal.id] }, []],
        [{ categories: ["backlog"] }, [a, d]],
        [{ categories: ["started", "completed"] }, [b, c]],
        [{ statusIds: [status("started").id] }, [b]],
        [{ tagIds: [bug.id] }, [a, b]],
        [{ tagIds: [urgent.id] }, [a]],
        [{ tagIds: [bug.id, urgent.id] }, [a, b]],
        [
          { teamIds: [team.id], projectIds: [checkout.id], owners: [member.principal.id], categories: ["backlog"] },
          [a]
        ],
        [{ teamIds: [team.id], categories: ["canceled"] }, []]
      ] satisfies ReadonlyArray<readonly [TicketSelection, ReadonlyArray<TicketRow>]>) {
        assert.deepStrictEqual(yield* listed(all, selection), expected(...rows), JSON.stringify(selection))
      }
      const own = seesOwn(workspace.id, member.principal.id)
      assert.deepStrictEqual(yield* listed(own), expected(a, b, c))
      assert.deepStrictEqual(yield* listed(own, { projectIds: [checkout.id] }), expected(a))
      assert.deepStrictEqual(yield* listed(own, { teamIds: [other.id] }), [])
      assert.deepStrictEqual(yield* listed(seesOwn(workspace.id, null)), expected(a, b, c))
    })
  )

  it.effect("updates every field of one ticket, and tags if they are sent", () =>
    Effect.gen(function* () {
      const repo = yield* TicketsRepo
      const scene = yield* makeTicketScene
      const { member, status, team, workspace } = scene
      const viewer = seesAll(workspace.id)
      const project = yield* addProject(workspace.id, { teams: [team.id] })
      const milestone = yield* addMilestone(project)
      const [kept, dropped, added] = [
        yield* addTag(scene, team),
        yield* addTag(scene, team),
        yield* addTag(scene, team)
      ]
      const row = yield* addTicket(team, { tagIds: [kept.id, dropped.id] })
      const other = yield* addTicket(team, { tagIds: [dropped.id] })
      const changed: TicketRow = {
        ...row,
        number: 12,
        title: "Changed",
        description: "d",
        plan: "p",
        statusId: status("canceled").id,
        rank: "b5",
        ownerKind: "user",
        ownerId: member.principal.id,
        projectId: project.id,
        milestoneId: milestone.id,
        startedAt: minute(1),
        completedAt: minute(2),
        canceledAt: minute(3),
        updatedAt: minute(4)
      }
      const stored = Effect.map(repo.find(viewer, row.id), (found) => ({
        ...row,
        number: found!.number,
        title: found!.title,
        description: found!.description,
        plan: found!.plan,
        statusId: found!.status.id,
        rank: found!.rank,
        ownerKind: found!.owner?.kind ?? null,
        ownerId: found!.owner?.id ?? null,
        projectId: found!.project?.id ?? null,
        milestoneId: found!.milestone?.id ?? null,
        startedAt: found!.startedAt,
        completedAt: found!.completedAt,
        canceledAt: found!.canceledAt,
        updatedAt: found!.updatedAt
      }))
      const tagsOf = (id: TicketId) =>
        Effect.map(repo.find(viewer, id), (found) => found!.tags.map(({ id }) => id).toSorted())
      const events = [anEvent(workspace.id, { kind: "ticket_one" }), anEvent(workspace.id, { kind: "ticket_two" })]
      yield* repo.update(changed, undefined, events, true)
      assert.deepStrictEqual<unknown>(yield* stored, changed)
      assert.deepStrictEqual(yield* tagsOf(row.id), [kept.id, dropped.id].toSorted())
      yield* repo.update(changed, [kept.id, added.id], [], false)
      assert.deepStrictEqual(yield* tagsOf(row.id), [kept.id, added.id].toSorted())
      yield* repo.update(row, [], [], true)
      assert.deepStrictEqual<unknown>(yield* stored, row)
      assert.deepStrictEqual(yield* tagsOf(row.id), [])
      assert.deepStrictEqual(yield* tagsOf(other.id), [dropped.id])
      assert.strictEqual((yield* repo.find(viewer, `${team.key}-12`))?.id, row.id)
      const kinds = (yield* eventsOf(workspace)).map(({ kind }) => kind)
      assert.sameMembers(
        kinds.filter((kind) => /_(one|two)$/.test(kind)),
        ["ticket_one", "ticket_two"]
      )
    })
  )

  it.effect("deletes a ticket with its identifiers, tags and comments, and nothing else", () =>
    Effect.gen(function* () {
      const repo = yield* TicketsRepo
      const comments = yield* CommentsRepo
      const scene = yield* makeTicketScene
      const { member, team, workspace } = scene
      const viewer = seesAll(workspace.id)
      const tag = yield* addTag(scene, team)
      const [row, other] = [yield* addTicket(team, { tagIds: [tag.id] }), yield* addTicket(team, { tagIds: [tag.id] })]
      for (const ticket of [row, other]) {
        const mentions = { users: [member.principal.id], agents: [] }
        yield* comments.insert(commentRow(ticket, member), mentions, anEvent(workspace.id))
      }
      yield* repo.delete(row.id, anEvent(workspace.id, { kind: "ticket_deleted" }))
      for (const ref of [row.id, `${team.key}-1`]) {
        assert.isUndefined(yield* repo.find(viewer, ref))
        assert.isUndefined(yield* comments.list(viewer, ref))
      }
      const left = yield* repo.find(viewer, other.id)
      assert.deepInclude(left, { commentCount: 1, tags: [tag] })
      assert.deepStrictEqual(yield* listed(viewer), [other.id])
      assert.include(
        (yield* eventsOf(workspace)).map(({ kind }) => kind),
        "ticket_deleted"
      )
      // Nothing refers to the tag's and the status's tickets any more.
      yield* repo.delete(other.id, anEvent(workspace.id))
      assert.isFalse(yield* (yield* TicketStatusesRepo).hasTickets(statusRow(team, { id: row.statusId })))
    })
  )

  it.effect("numbers tickets of each team from 1, and reuses the number of a failed transaction", () =>
    Effect.gen(function* () {
      const repo = yield* TicketsRepo
      const transactions = yield* Storage
      const { team, workspace } = yield* makeTicketScene
      const other = yield* addTeam(workspace.id)
      const take = (id: TicketRow["teamId"]) => transactions.transaction(repo.takeNumber(id))
      assert.strictEqual(yield* take(team.id), 1)
      assert.strictEqual(yield* take(team.id), 2)
      assert.strictEqual(yield* take(other.id), 1)
      yield* Effect.exit(transactions.transaction(Effect.andThen(repo.takeNumber(team.id), Effect.fail("no"))))
      assert.strictEqual(yield* take(team.id), 3)
    })
  )

  it.effect("finds the references of a change in the team", () =>
    Effect.gen(function* () {
      const repo = yield* TicketsRepo
      const scene = yield* makeTicketScene
      const { team, workspace } = scene
      const [other, elsewhere] = [yield* addTeam(workspace.id), yield* makeTicketScene]
      const [linked, unlinked] = [
        yield* addProject(workspace.id, { teams: [team.id] }),
        yield* addProject(workspace.id, { teams: [other.id] })
      ]
      const milestone = yield* addMilestone(linked)
      const [ofTeam, ofWorkspace] = [yield* addTag(scene, team), yield* addTag(scene, null)]
      const [ofOther, ofElsewhere] = [yield* addTag(scene, other), yield* addTag(elsewhere, null)]
      const base = { workspaceId: workspace.id, teamId: team.id }

      const nothing = yield* repo.resolve(base)
      assert.deepStrictEqual(
        nothing.statuses
          .map(({ category, isDefault, name, position }) => [name, category, position, isDefault])
          .toSorted(),
        [
          ["Backlog", "backlog", 0, true],
          ["Canceled", "canceled", 0, false],
          ["Done", "completed", 0, false],
          ["In progress", "started", 0, false],
          ["Todo", "unstarted", 0, false]
        ]
      )
      assert.deepStrictEqual(
        { ...nothing, statuses: [] },
        { statuses: [], lastRank: null, owner: undefined, isLinked: false, milestone: undefined, tags: [] }
      )

      yield* addTicket(team, { rank: "a1" })
      yield* addTicket(team, { rank: "a0V" })
      yield* addTicket(other, { rank: "b00" })
      const tags = [ofTeam, ofWorkspace, ofOther, ofElsewhere].map(({ id }) => id)
      const found = yield* repo.resolve({
        ...base,
        projectId: linked.id,
        milestone: 1,
        tags: [...tags, "bug", newId()]
      })
      assert.strictEqual(found.lastRank, "a1")
      assert.isTrue(found.isLinked)
      assert.deepStrictEqual(found.milestone, { id: milestone.id, number: 1, name: milestone.name })
      assert.sameDeepMembers([...found.tags], [ofTeam, ofWorkspace])
      assert.isUndefined((yield* repo.resolve({ ...base, projectId: linked.id, milestone: 2 })).milestone)
      assert.deepInclude(yield* repo.resolve({ ...base, projectId: unlinked.id, milestone: 1 }), {
        isLinked: false,
        milestone: undefined
      })
    })
  )

  it.effect("finds owners by id and email address, inactive ones included", () =>
    Effect.gen(function* () {
      const repo = yield* TicketsRepo
      const agents = yield* AgentsRepo
      const { admin, member, outsider, team, viewer: inTeam, workspace } = yield* makeTicketScene
      yield* addTeamMember(team, inTeam)
      const [agent, revoked, ofAdmin] = [
        yield* addAgent(member),
        yield* addAgent(member, "codex"),
        yield* addAgent(admin)
      ]
      yield* agents.revoke(revoked.principal.id, minute(1))
      const elsewhere = yield* makeScene
      const foreign = yield* addAgent(elsewhere.member)
      const owner = (ref: string) =>
        Effect.map(repo.resolve({ workspaceId: workspace.id, teamId: team.id, owner: ref }), (found) => found.owner)
      const { email, id, name } = member.principal
      const person = { owner: { kind: "user", id, name, email }, active: true, seesPrivateTeam: false } as const
      assert.deepStrictEqual(yield* owner(id), person)
      assert.deepStrictEqual(yield* owner(email), person)
      assert.deepStrictEqual(yield* owner(email.toUpperCase()), person)
      assert.isTrue((yield* owner(admin.principal.id))!.seesPrivateTeam)
      assert.isTrue((yield* owner(inTeam.principal.id))!.seesPrivateTeam)
      assert.deepStrictEqual(yield* owner(agent.principal.id), {
        owner: agent.principal,
        active: true,
        seesPrivateTeam: false
      })
      assert.deepInclude(yield* owner(revoked.principal.id), { active: false, seesPrivateTeam: false })
      assert.deepInclude(yield* owner(ofAdmin.principal.id), { active: true, seesPrivateTeam: true })
      for (const ref of [
        outsider.principal.id,
        elsewhere.member.principal.email,
        foreign.principal.id,
        newId(),
        "me"
      ]) {
        assert.isUndefined(yield* owner(ref), ref)
        assert.isUndefined(yield* repo.findOwner(workspace.id, ref), ref)
      }
      assert.deepStrictEqual(yield* repo.findOwner(workspace.id, email), { kind: "user", id })
      assert.deepStrictEqual<unknown>(yield* repo.findOwner(workspace.id, revoked.principal.id), {
        kind: "agent",
        id: revoked.principal.id
      })
    })
  )

  it.effect("finds and locks projects of teams that the viewer sees", () =>
    Effect.gen(function* () {
      const repo = yield* TicketsRepo
      const { member, team, workspace } = yield* makeTicketScene
      const closed = yield* addTeam(workspace.id, { visibility: "private" })
      const [open, hidden, archived] = [
        yield* addProject(workspace.id, { teams: [closed.id, team.id] }),
        yield* addProject(workspace.id, { teams: [closed.id] }),
        yield* addProject(workspace.id, { teams: [team.id] }, { archivedAt: minute(1) })
      ]
      const own = seesOwn(workspace.id, member.principal.id)
      for (const find of [repo.findProject, repo.lockProject]) {
        const { id, name, slug } = open
        for (const ref of [id, slug]) {
          assert.deepStrictEqual(yield* find(own, ref), { id, slug, name, archived: false })
          assert.isUndefined(yield* find(seesAll((yield* makeScene).workspace.id), ref))
        }
        assert.isUndefined(yield* find(own, hidden.slug))
        assert.strictEqual((yield* find(seesAll(workspace.id), hidden.slug))?.id, hidden.id)
        assert.isTrue((yield* find(own, archived.slug))?.archived)
        for (const ref of ["", "A B", unique("none"), newId()]) assert.isUndefined(yield* find(own, ref))
      }
    })
  )

  it.effect("orders the tickets of a team and of a status", () =>
    Effect.gen(function* () {
      const repo = yield* TicketsRepo
      const { status, team, workspace } = yield* makeTicketScene
      const other = yield* addTeam(workspace.id)
      const row = (rank: string, category: "backlog" | "started") =>
        addTicket(team, { rank, statusId: status(category).id })
      const [third, first, second, fourth] = [
        yield* row("a1", "started"),
        yield* row("Zz", "backlog"),
        yield* row("a0", "started"),
        yield* row("a1V", "backlog")
      ]
      yield* addTicket(other, { rank: "a0V" })
      const order = repo.orderOf(team)
      const none = newId<TicketId>()
      assert.deepStrictEqual(yield* order.ids, ids([first!, second!, third!, fourth!]))
      assert.strictEqual(yield* order.next("above", null, none), "Zz")
      assert.strictEqual(yield* order.next("below", null, none), "a1V")
      assert.strictEqual(yield* order.next("above", "a0", none), "a1")
      assert.strictEqual(yield* order.next("above", "a0", third!.id), "a1V")
      assert.strictEqual(yield* order.next("below", "a1", second!.id), "Zz")
      assert.isNull(yield* order.next("above", "a1V", none))
      assert.isNull(yield* order.next("below", "Zz", none))
      const started = { workspaceId: workspace.id, teamId: team.id, statusId: status("started").id }
      assert.deepStrictEqual(yield* repo.inStatus(started, "above", null, none), { id: second!.id, rank: "a0" })
      assert.deepStrictEqual(yield* repo.inStatus(started, "above", null, second!.id), { id: third!.id, rank: "a1" })
      assert.deepStrictEqual(yield* repo.inStatus(started, "below", "a1V", none), { id: third!.id, rank: "a1" })
      assert.isUndefined(yield* repo.inStatus(started, "above", "a1", none))
      assert.isUndefined(yield* repo.inStatus(started, "below", "a0", none))
      // Two change places in one statement.
      yield* order.setRanks([
        [first!.id, "a1V"],
        [fourth!.id, "Zz"]
      ])
      assert.deepStrictEqual(yield* order.ids, ids([fourth!, second!, third!, first!]))
    })
  )

  it.effect("locks a ticket for one transaction at a time", () =>
    Effect.gen(function* () {
      const repo = yield* TicketsRepo
      const { team, workspace } = yield* makeTicketScene
      const row = yield* addTicket(team)
      const held = yield* repo.lockTeams([team.id], "shared")
      const { id, key, name, visibility } = team
      assert.deepStrictEqual([...held], [[team.id, { id, key, name, visibility, archived: false }]])
      const archived = yield* addTeam(workspace.id, { archivedAt: minute(1) })
      assert.isTrue((yield* repo.lockTeams([team.id, archived.id], "exclusive")).get(archived.id)?.archived)
      yield* assertHolds(repo.lockTeams([team.id], "exclusive"))
      yield* assertHolds(repo.lock(row.id))
      yield* assertHolds(repo.takeNumber(team.id))
      assert.deepStrictEqual(yield* repo.lock(row.id), { id: row.id, teamId: team.id, projectId: null })
      assert.isUndefined(yield* repo.lock(newId<TicketId>()))
    })
  )

  if (storage === "PostgreSQL") {
    it.effect("allows many shared locks of a team, or one exclusive lock", () =>
      Effect.gen(function* () {
        const repo = yield* TicketsRepo
        const transactions = yield* Storage
        const { team } = yield* makeTicketScene
        const steps: Array<string> = []
        const step = (name: string) => Effect.sync(() => void steps.push(name))
        const both = [yield* Deferred.make<void>(), yield* Deferred.make<void>()] as const
        const begun = yield* Deferred.make<Fiber.Fiber<unknown>>()
        const shared = (i: 0 | 1) =>
          transactions.transaction(
            Effect.gen(function* () {
              yield* repo.lockTeams([team.id], "shared")
              yield* Deferred.succeed(both[i], undefined)
              // Each waits until the other has it, too, and until a third waits for both.
              yield* Deferred.await(both[i === 0 ? 1 : 0])
              yield* awaitsThis(yield* Deferred.await(begun))
              yield* step("shared ends")
            })
          )
        const fibers = [yield* Effect.forkChild(shared(0)), yield* Effect.forkChild(shared(1))]
        yield* Deferred.await(both[0])
        yield* Deferred.await(both[1])
        const exclusive = yield* Effect.forkChild(
          transactions.transaction(Effect.andThen(repo.lockTeams([team.id], "exclusive"), step("exclusive")))
        )
        yield* Deferred.succeed(begun, exclusive)
        for (const fiber of [...fibers, exclusive]) yield* Fiber.join(fiber)
        assert.deepStrictEqual(steps, ["shared ends", "shared ends", "exclusive"])
      })
    )
  }

  it.effect("rejects rows that break a constraint", () =>
    Effect.gen(function* () {
      if (storage === "memory") return
      const repo = yield* TicketsRepo
      const { team, workspace } = yield* makeTicketScene
      const row = yield* addTicket(team)
      const refused = (fields: Partial<TicketRow>) =>
        Effect.gen(function* () {
          const ticket = yield* ticketRow(team, fields)
          assert.isTrue((yield* Effect.exit(repo.insert(ticket, [], anEvent(workspace.id))))._tag === "Failure")
        })
      yield* refused({ number: row.number })
      yield* refused({ rank: row.rank })
      yield* refused({ projectId: newId<ProjectId>() })
      yield* refused({ milestoneId: newId<MilestoneId>() })
      yield* refused({ ownerKind: "user", ownerId: null })
      yield* refused({ ownerKind: "robot" as "agent", ownerId: newId<AgentId>() })
    })
  )
})
