import type { TagId } from "@delivery/domain/Ids"
import type { CreateTicket } from "@delivery/domain/planning/Ticket"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AgentsRepo } from "../../src/agents/AgentsRepo.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { addMember, as, minute, newId, now } from "../identity/Scene.ts"
import { baseUrl, withServicesOnEachStorage } from "../support/Storages.ts"
import { addMilestone, addProject } from "./ProjectsScene.ts"
import { addTeam, addTeamMember, statusesOf } from "./Scene.ts"
import { addAgent, create, lastEvent, makeTag, makeTicketScene, refusedNew, withoutPlan } from "./TicketsScene.ts"

withServicesOnEachStorage("The creation of tickets", (it) => {
  it.describe("create", () => {
    it.effect("creates a ticket with the team's defaults", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const scene = yield* makeTicketScene
        const { member, status, team, workspace } = scene
        yield* TestClock.adjust(1_000)
        const ticket = yield* create(scene, { title: "Pay by card" })
        const at = yield* now
        const { email, id, name } = member.principal
        const defaults = status("backlog")
        assert.deepStrictEqual(ticket, {
          id: ticket.id,
          identifier: `${team.key}-1`,
          number: 1,
          url: `${baseUrl}/w/${workspace.slug}/tickets/${team.key}-1`,
          title: "Pay by card",
          description: null,
          plan: null,
          team: { id: team.id, key: team.key, name: team.name, visibility: "open" },
          status: { id: defaults.id, name: "Backlog", category: "backlog" },
          rank: ticket.rank,
          owner: null,
          project: null,
          milestone: null,
          tags: [],
          cases: null,
          completion: "free",
          passes: 1,
          mute: null,
          blocks: false,
          commentCount: 0,
          createdBy: { kind: "user", id, name, email },
          startedAt: null,
          completedAt: null,
          canceledAt: null,
          createdAt: at,
          updatedAt: at
        })
        for (const ref of [ticket.id, ticket.identifier, ticket.identifier.toLowerCase()]) {
          assert.deepStrictEqual(yield* tickets.get(ref).pipe(as(member)), ticket)
        }
        assert.deepStrictEqual(yield* tickets.list({}).pipe(as(member)), [withoutPlan(ticket)])
        const event = yield* lastEvent(scene)
        assert.deepInclude(event, {
          kind: "ticket_created",
          subjectType: "ticket",
          subjectId: ticket.id,
          subjectLabel: `${ticket.identifier} Pay by card`,
          subjectPath: `tickets/${ticket.identifier}`,
          changes: []
        })
      })
    )

    it.effect("creates a ticket with every field", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const scene = yield* makeTicketScene
        const { member, status, team, workspace } = scene
        const agent = yield* addAgent(member)
        const project = yield* addProject(workspace.id, { teams: [team.id] })
        const milestone = yield* addMilestone(project)
        const [tag10, tag9] = [yield* makeTag(team.key, "Step 10", member), yield* makeTag(team.key, "step 9", member)]
        const ticket = yield* create(
          scene,
          {
            description: "d",
            plan: "p",
            status: status("started").id,
            owner: agent.principal.id,
            project: project.slug,
            milestone: 1,
            tags: [tag10.id, tag9.id, tag10.id],
            blocks: true
          },
          agent
        )
        assert.deepInclude(ticket, {
          description: "d",
          plan: "p",
          status: { id: status("started").id, name: "In progress", category: "started" },
          owner: agent.principal,
          createdBy: agent.principal,
          project: { id: project.id, slug: project.slug, name: project.name },
          milestone: { number: 1, name: milestone.name },
          tags: [tag9, tag10].map(({ color, id, name }) => ({ id, name, color })),
          blocks: true,
          startedAt: ticket.createdAt
        })
        assert.deepStrictEqual(yield* tickets.get(ticket.id).pipe(as(member)), ticket)
        assert.deepStrictEqual(yield* tickets.list({}).pipe(as(member)), [withoutPlan(ticket)])
      })
    )

    it.effect("takes an owner by id or email address, and null for nobody", () =>
      Effect.gen(function* () {
        const scene = yield* makeTicketScene
        const { email, id, name } = scene.viewer.principal
        const owner = { kind: "user", id, name, email } as const
        assert.deepStrictEqual((yield* create(scene, { owner: id })).owner, owner)
        assert.deepStrictEqual((yield* create(scene, { owner: email })).owner, owner)
        assert.deepStrictEqual((yield* create(scene, { owner: email.toUpperCase() })).owner, owner)
        assert.isNull((yield* create(scene, { owner: null })).owner)
      })
    )

    it.effect("sets the dates of the first category", () =>
      Effect.gen(function* () {
        const scene = yield* makeTicketScene
        yield* TestClock.adjust(5_000)
        const at = yield* now
        const dates = (category: StatusCategory) =>
          Effect.map(
            create(scene, { status: scene.status(category).id }),
            ({ canceledAt, completedAt, startedAt }) => [startedAt, completedAt, canceledAt] as const
          )
        assert.deepStrictEqual(yield* dates("unstarted"), [null, null, null])
        assert.deepStrictEqual(yield* dates("started"), [at, null, null])
        assert.deepStrictEqual(yield* dates("completed"), [null, at, null])
        assert.deepStrictEqual(yield* dates("canceled"), [null, null, at])
      })
    )

    it.effect("numbers tickets and ranks them last in their team, and uses no number for a refused one", () =>
      Effect.gen(function* () {
        const scene = yield* makeTicketScene
        const { member, team, workspace } = scene
        const other = yield* addTeam(workspace.id)
        const first = yield* create(scene)
        assert.strictEqual(yield* refusedNew({ team: team.key, title: "x", status: newId() }, member), "NotFound")
        assert.strictEqual(yield* refusedNew({ team: team.key, title: "x", tags: [newId()] }, member), "NotFound")
        const second = yield* create(scene, { status: scene.status("completed").id })
        const elsewhere = yield* create(scene, { team: other.key })
        const third = yield* create(scene)
        assert.deepStrictEqual(
          [first, second, third, elsewhere].map(({ number }) => number),
          [1, 2, 3, 1]
        )
        assert.isBelow(first.rank < second.rank ? 0 : 1, 1)
        assert.isTrue(first.rank < second.rank && second.rank < third.rank)
      })
    )

    it.effect("names the field of a reference that does not exist or is invisible", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const scene = yield* makeTicketScene
        const { admin, member, outsider, team, workspace } = scene
        const [closed, other, elsewhere] = [
          yield* addTeam(workspace.id, { visibility: "private" }),
          yield* addTeam(workspace.id),
          yield* makeTicketScene
        ]
        const hidden = yield* addProject(workspace.id, { teams: [closed.id] })
        const project = yield* addProject(workspace.id, { teams: [team.id] })
        yield* addMilestone(yield* addProject(workspace.id, { teams: [team.id] }))
        const [ofOther, ofElsewhere] = [
          yield* makeTag(other.key, "bug", admin),
          yield* makeTag(null, "bug", elsewhere.admin)
        ]
        const [otherStatus] = yield* statusesOf(other)
        const base = { team: team.key, title: "x" }
        const message = (input: CreateTicket) =>
          tickets.create(input).pipe(
            as(member),
            Effect.flip,
            Effect.map(({ _tag, message }) => `${_tag} ${message.split(":")[0]}`)
          )
        for (const [field, input] of [
          ["team", { ...base, team: "NONE" }],
          ["team", { ...base, team: team.key.toLowerCase() }],
          ["team", { ...base, team: closed.key }],
          ["team", { ...base, team: elsewhere.team.key }],
          ["status", { ...base, status: newId() }],
          ["status", { ...base, status: "Done" }],
          ["status", { ...base, status: otherStatus!.id }],
          ["owner", { ...base, owner: newId() }],
          ["owner", { ...base, owner: "nobody@example.com" }],
          ["owner", { ...base, owner: outsider.principal.id }],
          ["owner", { ...base, owner: elsewhere.member.principal.email }],
          ["owner", { ...base, owner: "me" }],
          ["project", { ...base, project: "none" }],
          ["project", { ...base, project: hidden.slug }],
          ["milestone", { ...base, project: project.slug, milestone: 1 }],
          ["tags", { ...base, tags: [newId<TagId>()] }],
          ["tags", { ...base, tags: [ofOther.id] }],
          ["tags", { ...base, tags: [ofElsewhere.id] }],
          ["tags", { ...base, tags: ["bug"] }]
        ] as const) {
          assert.strictEqual(yield* message(input), `NotFound ${field}`, JSON.stringify(input))
        }
        assert.deepStrictEqual(yield* tickets.list({}).pipe(as(admin)), [])
      })
    )

    it.effect("refuses archived, unlinked and inactive references", () =>
      Effect.gen(function* () {
        const agents = yield* AgentsRepo
        const scene = yield* makeTicketScene
        const { admin, member, team, workspace } = scene
        const [archived, other] = [
          yield* addTeam(workspace.id, { archivedAt: minute(1) }),
          yield* addTeam(workspace.id)
        ]
        const [done, elsewhere] = [
          yield* addProject(workspace.id, { teams: [team.id] }, { archivedAt: minute(1) }),
          yield* addProject(workspace.id, { teams: [other.id] })
        ]
        const gone = yield* addMember(workspace, "member", { active: false })
        const [revoked, orphan] = [yield* addAgent(member), yield* addAgent({ ...gone, membership: member.membership })]
        yield* agents.revoke(revoked.principal.id, minute(1))
        const base = { team: team.key, title: "x" }
        for (const [expected, input] of [
          ["archived", { ...base, team: archived.key }],
          ["archived", { ...base, project: done.slug }],
          ["project_not_in_team", { ...base, project: elsewhere.slug }],
          ["inactive_owner", { ...base, owner: gone.principal.id }],
          ["inactive_owner", { ...base, owner: gone.principal.email }],
          ["inactive_owner", { ...base, owner: revoked.principal.id }],
          ["inactive_owner", { ...base, owner: orphan.principal.id }]
        ] as const) {
          assert.strictEqual(yield* refusedNew(input, admin), `Conflict ${expected}`, JSON.stringify(input))
        }
        // A reference that does not exist is reported before a conflict.
        assert.strictEqual(yield* refusedNew({ ...base, team: archived.key, owner: newId() }, admin), "NotFound")
      })
    )

    it.effect("gives a private team's ticket only to those who see the team", () =>
      Effect.gen(function* () {
        const scene = yield* makeTicketScene
        const { admin, member, viewer, workspace } = scene
        const closed = yield* addTeam(workspace.id, { visibility: "private" })
        yield* addTeamMember(closed, viewer)
        const [agent, ofAdmin] = [yield* addAgent(member), yield* addAgent(admin)]
        const to = (owner: string) => ({ team: closed.key, title: "x", owner })
        for (const owner of [member.principal.id, agent.principal.id]) {
          assert.strictEqual(yield* refusedNew(to(owner), admin), "Conflict owner_cannot_see")
        }
        for (const owner of [viewer.principal.id, admin.principal.id, ofAdmin.principal.id]) {
          assert.strictEqual((yield* create(scene, to(owner), admin)).owner?.id, owner)
        }
      })
    )
  })
})
