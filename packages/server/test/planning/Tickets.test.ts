import type { TagId } from "@delivery/domain/Ids"
import type { CreateTicket, Ticket, TicketSummary, UpdateTicket } from "@delivery/domain/planning/Ticket"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AgentsRepo } from "../../src/agents/AgentsRepo.ts"
import { Members } from "../../src/identity/Members.ts"
import { Tags } from "../../src/planning/Tags.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { TicketStatuses } from "../../src/planning/TicketStatuses.ts"
import {
  addAccountKey,
  addMember,
  answer,
  as,
  type CallerOf,
  eventsOf,
  makeScene,
  membersAndUp,
  everyRole,
  minute,
  newId,
  now,
  refusal,
  unique,
  whoMay
} from "../identity/Scene.ts"
import { baseUrl, withServicesOnEachStorage } from "../support/Storages.ts"
import { addMilestone, addProject } from "./ProjectsScene.ts"
import { addTeam, addTeamMember, statusesOf } from "./Scene.ts"
import { addAgent, create, identifiers, makeTicketScene, type TicketScene } from "./TicketsScene.ts"

type Summary = TicketSummary & { readonly plan?: string | null }
const withoutPlan = ({ plan: _, ...summary }: Summary): TicketSummary => summary

const makeTag = (team: string | null, name: string, by: CallerOf) =>
  Effect.flatMap(Tags, (tags) => tags.create({ team, name, color: "#d73a4a" }).pipe(as(by), Effect.orDie))

/** The newest event of the workspace. */
const lastEvent = ({ workspace }: TicketScene) => Effect.map(eventsOf(workspace), (events) => events.at(-1)!)

const countEvents = ({ workspace }: TicketScene) => Effect.map(eventsOf(workspace), ({ length }) => length)

/** A change of a ticket, which then is as it was said to be. */
const patch = Effect.fnUntraced(function* (ref: string, input: UpdateTicket, by: CallerOf) {
  const tickets = yield* Tickets
  const answered = yield* tickets.update(ref, input).pipe(as(by), Effect.orDie)
  assert.deepStrictEqual(answered, yield* tickets.get(answered.id).pipe(as(by), Effect.orDie))
  return answered
})

const refused = (ref: string, input: UpdateTicket, by: CallerOf) =>
  Effect.flatMap(Tickets, (tickets) => refusal(Effect.asVoid(tickets.update(ref, input).pipe(as(by)))))

const refusedNew = (input: CreateTicket, by: CallerOf) =>
  Effect.flatMap(Tickets, (tickets) => refusal(Effect.asVoid(tickets.create(input).pipe(as(by)))))

withServicesOnEachStorage("Tickets", (it) => {
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
            tags: [tag10.id, tag9.id, tag10.id]
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

  it.describe("roles", () => {
    it.effect("read: every role; write: members and up", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const scene = yield* makeTicketScene
        const { identifier } = yield* create(scene)
        assert.deepStrictEqual(yield* whoMay(scene, tickets.list({})), everyRole)
        assert.deepStrictEqual(yield* whoMay(scene, tickets.get(identifier)), everyRole)
        assert.deepStrictEqual(yield* whoMay(scene, tickets.create({ team: scene.team.key, title: "x" })), membersAndUp)
        assert.deepStrictEqual(yield* whoMay(scene, tickets.update(identifier, { title: unique("x") })), membersAndUp)
        assert.deepStrictEqual(yield* whoMay(scene, tickets.update(newId(), { title: "x" })), membersAndUp)
        assert.deepStrictEqual(yield* whoMay(scene, tickets.reorder(identifier, { after: null })), membersAndUp)
        assert.deepStrictEqual(yield* whoMay(scene, tickets.delete(newId())), membersAndUp)
      })
    )

    it.effect("delete: who created it, the person whose agent did, admins and owners", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const scene = yield* makeTicketScene
        const { admin, member, memberKey, owner, workspace } = scene
        const other = yield* addMember(workspace, "member")
        const [agent, ofOther] = [yield* addAgent(member), yield* addAgent(other)]
        const otherKey = yield* addAccountKey(workspace, "member")
        const deletion = (by: CallerOf, creator: CallerOf) =>
          Effect.flatMap(create(scene, {}, creator), ({ identifier }) =>
            tickets.delete(identifier).pipe(as(by), answer)
          )
        for (const [by, creator] of [
          [member, member],
          [agent, agent],
          [member, agent],
          [memberKey, memberKey],
          [admin, member],
          [owner, agent],
          [admin, memberKey]
        ] as const) {
          assert.strictEqual(yield* deletion(by, creator), "ok")
        }
        for (const [by, creator] of [
          [other, member],
          [other, agent],
          [agent, member],
          [ofOther, agent],
          [ofOther, member],
          [member, memberKey],
          [otherKey, memberKey]
        ] as const) {
          assert.strictEqual(yield* deletion(by, creator), "Forbidden not_creator")
        }
      })
    )
  })

  it.describe("list", () => {
    it.effect("orders by category, position, rank", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const statuses = yield* TicketStatuses
        const scene = yield* makeTicketScene
        const { admin, member, team } = scene
        const review = yield* statuses.create({ team: team.key, name: "Review", category: "started" }).pipe(as(admin))
        const made = (status: string) => create(scene, { status })
        const done = yield* made(scene.status("completed").id)
        const [reviewed, started] = [yield* made(review.id), yield* made(scene.status("started").id)]
        const [first, second, third] = [yield* create(scene), yield* create(scene), yield* create(scene)]
        const inOrder = Effect.map(tickets.list({}).pipe(as(member)), identifiers)
        assert.deepStrictEqual(yield* inOrder, identifiers([first, second, third, started, reviewed, done]))
        yield* tickets.reorder(third.id, { before: first.id }).pipe(as(member))
        yield* statuses.reorder(review.id, { after: null }).pipe(as(admin))
        assert.deepStrictEqual(yield* inOrder, identifiers([third, first, second, reviewed, started, done]))
      })
    )

    it.effect("filters by team, project, owner and category, all at once", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const scene = yield* makeTicketScene
        const { admin, member, memberKey, status, team, workspace } = scene
        const other = yield* addTeam(workspace.id)
        const [agent, ofAdmin] = [yield* addAgent(member), yield* addAgent(admin)]
        const project = yield* addProject(workspace.id, { teams: [team.id, other.id] })
        const a = yield* create(scene, { owner: member.principal.id, project: project.slug })
        const b = yield* create(scene, { owner: agent.principal.id, status: status("started").id })
        const c = yield* create(scene, { team: other.key, project: project.slug })
        const d = yield* create(scene, { owner: admin.principal.email, status: status("canceled").id })
        const list = (filter: Parameters<typeof tickets.list>[0], by: CallerOf = member) =>
          Effect.map(tickets.list(filter).pipe(as(by), Effect.orDie), (found) => identifiers(found).toSorted())
        const expected = (...made: ReadonlyArray<Ticket>) => identifiers(made).toSorted()
        for (const [filter, made] of [
          [{}, [a, b, c, d]],
          [{ team: team.key }, [a, b, d]],
          [{ project: project.slug }, [a, c]],
          [{ owner: member.principal.id }, [a]],
          [{ owner: member.principal.email }, [a]],
          [{ owner: agent.principal.id }, [b]],
          [{ owner: "me" }, [a]],
          [{ owner: "none" }, [c]],
          [{ category: "backlog" }, [a, c]],
          [{ category: "completed" }, []],
          [{ team: other.key, project: project.slug, owner: "none", category: "backlog" }, [c]],
          [{ team: team.key, owner: "none" }, []]
        ] as const) {
          assert.deepStrictEqual(yield* list(filter), expected(...made), JSON.stringify(filter))
        }
        assert.deepStrictEqual(yield* list({ owner: "me" }, agent), expected(a, b))
        assert.deepStrictEqual(yield* list({ owner: "me" }, admin), expected(d))
        assert.deepStrictEqual(yield* list({ owner: "me" }, ofAdmin), expected(d))
        assert.deepStrictEqual(yield* list({ owner: "me" }, memberKey), [])
        for (const [field, filter] of [
          ["team", { team: "NONE" }],
          ["project", { project: "none" }],
          ["owner", { owner: newId() }],
          ["owner", { owner: "None" }],
          ["owner", { owner: memberKey.principal.id }]
        ] as const) {
          const { message } = yield* Effect.flip(tickets.list(filter).pipe(as(member)))
          assert.strictEqual(message.split(":")[0], field)
        }
      })
    )

    it.effect("lists tickets of archived teams and of inactive owners", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const scene = yield* makeTicketScene
        const { admin, member, team } = scene
        const { email, id, name } = member.principal
        const ticket = yield* create(scene, { owner: id })
        yield* (yield* Members).deactivate(id).pipe(as(admin))
        yield* (yield* Teams).archive(team.key).pipe(as(admin))
        for (const filter of [{}, { team: team.key }, { owner: id }, { owner: email }]) {
          const [found] = yield* tickets.list(filter).pipe(as(admin))
          assert.deepStrictEqual(found, withoutPlan(ticket))
          assert.deepStrictEqual(found?.owner, { kind: "user", id, name, email })
        }
      })
    )
  })

  it.describe("a private team's tickets", () => {
    it.effect("do not exist for callers who cannot see the team", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const scene = yield* makeTicketScene
        const { admin, adminKey, member, memberKey, owner, viewer, workspace } = scene
        const closed = yield* addTeam(workspace.id, { visibility: "private" })
        yield* addTeamMember(closed, viewer)
        const other = yield* addMember(workspace, "member")
        yield* addTeamMember(closed, other)
        const [insider, stranger] = [yield* addAgent(other), yield* addAgent(member)]
        const open = yield* create(scene)
        const hidden = yield* create(scene, { team: closed.key }, other)
        for (const by of [viewer, other, insider, admin, owner, adminKey]) {
          assert.deepStrictEqual((yield* tickets.list({}).pipe(as(by))).length, 2)
          assert.strictEqual((yield* tickets.get(hidden.identifier).pipe(as(by))).id, hidden.id)
        }
        for (const by of [member, memberKey, stranger]) {
          assert.deepStrictEqual(yield* tickets.list({}).pipe(as(by)), [withoutPlan(open)])
          for (const ref of [hidden.id, hidden.identifier]) {
            const calls: ReadonlyArray<Effect.Effect<string, unknown, never>> = [
              tickets.get(ref).pipe(as(by), answer),
              tickets.update(ref, { title: "Mine" }).pipe(as(by), answer),
              tickets.delete(ref).pipe(as(by), answer),
              tickets.reorder(ref, { after: null }).pipe(as(by), answer),
              tickets.reorder(open.id, { before: ref }).pipe(as(by), answer),
              tickets.update(open.id, { team: closed.key }).pipe(as(by), answer)
            ]
            for (const call of calls) assert.strictEqual(yield* call, "NotFound")
          }
          assert.strictEqual(yield* refusal(tickets.list({ team: closed.key }).pipe(as(by))), "NotFound")
        }
      })
    )
  })

  it.describe("update", () => {
    it.effect("changes only the fields that are sent, and records the changes", () =>
      Effect.gen(function* () {
        const scene = yield* makeTicketScene
        const { member, status, team, viewer, workspace } = scene
        const project = yield* addProject(workspace.id, { teams: [team.id] })
        const milestone = yield* addMilestone(project)
        const [b, a] = [yield* makeTag(team.key, "b", member), yield* makeTag(team.key, "a", member)]
        let ticket = yield* create(scene)
        for (const [input, after, change] of [
          [{ title: "New" }, { title: "New" }, ["title", ticket.title, "New"]],
          [{ description: "d" }, { description: "d" }, ["description", null, "changed"]],
          [{ description: "e" }, { description: "e" }, ["description", null, "changed"]],
          [{ description: null }, { description: null }, ["description", null, "changed"]],
          [{ plan: "" }, { plan: "" }, ["plan", null, "changed"]],
          [
            { status: status("unstarted").id },
            { status: { id: status("unstarted").id, name: "Todo", category: "unstarted" } },
            ["status", "Backlog", "Todo"]
          ],
          [
            { owner: viewer.principal.email },
            { owner: { kind: "user", ...personOf(viewer) } },
            ["owner", null, viewer.principal.name]
          ],
          [{ owner: null }, { owner: null }, ["owner", viewer.principal.name, null]],
          [
            { project: project.slug },
            { project: { id: project.id, slug: project.slug, name: project.name } },
            ["project", null, project.name]
          ],
          [{ milestone: 1 }, { milestone: { number: 1, name: milestone.name } }, ["milestone", null, milestone.name]],
          [{ milestone: null }, { milestone: null }, ["milestone", milestone.name, null]],
          [
            { tags: [b.id, a.id] },
            { tags: [a, b].map(({ color, id, name }) => ({ id, name, color })) },
            ["tags", null, "a, b"]
          ],
          [{ tags: [b.id] }, { tags: [{ id: b.id, name: "b", color: b.color }] }, ["tags", "a, b", "b"]],
          [{ tags: [] }, { tags: [] }, ["tags", "b", null]]
        ] as const) {
          yield* TestClock.adjust(1_000)
          const before = ticket
          ticket = yield* patch(ticket.identifier, input, member)
          assert.deepStrictEqual(ticket, { ...before, ...after, updatedAt: yield* now } as Ticket)
          const [field, from, to] = change
          assert.deepInclude(yield* lastEvent(scene), {
            kind: "ticket_updated",
            subjectId: ticket.id,
            subjectLabel: `${ticket.identifier} ${ticket.title}`,
            changes: [{ field, from, to }]
          })
        }
      })
    )

    it.effect("changes and records nothing if nothing differs", () =>
      Effect.gen(function* () {
        const scene = yield* makeTicketScene
        const { admin, member, team, workspace } = scene
        const project = yield* addProject(workspace.id, { teams: [team.id] })
        yield* addMilestone(project)
        const tag = yield* makeTag(team.key, "bug", member)
        const ticket = yield* create(scene, {
          owner: member.principal.id,
          project: project.slug,
          milestone: 1,
          tags: [tag.id]
        })
        const events = yield* countEvents(scene)
        yield* TestClock.adjust(1_000)
        const { description, plan, status, title } = ticket
        for (const input of [
          {},
          { title, description, plan },
          {
            status: status.id,
            owner: member.principal.email,
            project: project.slug,
            milestone: 1,
            tags: [tag.id, tag.id]
          },
          { team: team.key }
        ]) {
          assert.deepStrictEqual(yield* patch(ticket.id, input, admin), ticket)
        }
        assert.strictEqual(yield* countEvents(scene), events)
        // An archived team takes no changes, and this is none.
        yield* (yield* Teams).archive(team.key).pipe(as(admin))
        assert.deepStrictEqual(yield* patch(ticket.id, { title }, admin), ticket)
        assert.strictEqual(yield* refused(ticket.id, { title: "New" }, admin), "Conflict archived")
      })
    )

    it.effect("moves updatedAt forward also within a millisecond", () =>
      Effect.gen(function* () {
        const scene = yield* makeTicketScene
        const ticket = yield* create(scene)
        const first = yield* patch(ticket.id, { title: "a" }, scene.member)
        const second = yield* patch(ticket.id, { title: "b" }, scene.member)
        assert.isTrue(ticket.updatedAt < first.updatedAt && first.updatedAt < second.updatedAt)
      })
    )

    it.effect("sets the dates of each category that it passes through", () =>
      Effect.gen(function* () {
        const scene = yield* makeTicketScene
        const { id } = yield* create(scene)
        const seen: Array<ReadonlyArray<string | null>> = []
        for (const category of ["started", "completed", "started", "canceled", "canceled", "backlog"] as const) {
          yield* TestClock.adjust(1_000)
          const { canceledAt, completedAt, startedAt } = yield* patch(
            id,
            { status: scene.status(category).id },
            scene.member
          )
          seen.push([startedAt, completedAt, canceledAt])
        }
        const at = Date.parse(yield* now)
        const time = (step: number) => new Date(at - (6 - step) * 1_000).toISOString()
        assert.deepStrictEqual(seen, [
          [time(1), null, null],
          [time(1), time(2), null],
          [time(1), null, null],
          [time(1), null, time(4)],
          [time(1), null, time(4)],
          [time(1), null, null]
        ])
      })
    )

    it.effect("removes the milestone with the project, and checks milestones against the project", () =>
      Effect.gen(function* () {
        const scene = yield* makeTicketScene
        const { member, team, workspace } = scene
        const [one, two] = [
          yield* addProject(workspace.id, { teams: [team.id] }),
          yield* addProject(workspace.id, { teams: [team.id] })
        ]
        yield* addMilestone(one)
        yield* addMilestone(two)
        const second = yield* addMilestone(two)
        const { id } = yield* create(scene)
        assert.strictEqual(yield* refused(id, { milestone: 1 }, member), "InvalidInput")
        yield* patch(id, { project: one.slug, milestone: 1 }, member)
        assert.strictEqual(yield* refused(id, { milestone: 2 }, member), "NotFound")
        assert.isNull((yield* patch(id, { project: two.slug }, member)).milestone)
        assert.deepStrictEqual((yield* patch(id, { project: two.slug, milestone: 2 }, member)).milestone, {
          number: 2,
          name: second.name
        })
        const { milestone, project } = yield* patch(id, { project: null }, member)
        assert.deepStrictEqual([project, milestone], [null, null])
        assert.deepStrictEqual((yield* lastEvent(scene)).changes, [
          { field: "project", from: two.name, to: null },
          { field: "milestone", from: second.name, to: null }
        ])
      })
    )

    it.effect("checks only the fields that are sent", () =>
      Effect.gen(function* () {
        const agents = yield* AgentsRepo
        const scene = yield* makeTicketScene
        const { admin, member, team, workspace } = scene
        const other = yield* addTeam(workspace.id)
        const agent = yield* addAgent(member)
        const [project, elsewhere] = [
          yield* addProject(workspace.id, { teams: [team.id] }, { archivedAt: minute(1) }),
          yield* addProject(workspace.id, { teams: [other.id] })
        ]
        const { id } = yield* create(scene, { owner: agent.principal.id })
        const gone = yield* addMember(workspace, "member", { active: false })
        for (const [expected, input] of [
          ["NotFound", { status: (yield* statusesOf(other))[0]!.id }],
          ["NotFound", { owner: newId() }],
          ["NotFound", { project: "none" }],
          ["NotFound", { tags: [newId()] }],
          ["NotFound", { team: "NONE" }],
          ["Conflict archived", { project: project.slug }],
          ["Conflict project_not_in_team", { project: elsewhere.slug }],
          ["Conflict inactive_owner", { owner: gone.principal.id }]
        ] as const) {
          assert.strictEqual(yield* refused(id, input, member), expected, JSON.stringify(input))
        }
        yield* agents.revoke(agent.principal.id, minute(1))
        assert.strictEqual((yield* patch(id, { title: "New" }, admin)).owner?.id, agent.principal.id)
        assert.strictEqual(yield* refused(id, { owner: gone.principal.id }, admin), "Conflict inactive_owner")
      })
    )
  })

  it.describe("a move to another team", () => {
    it.effect("gives a new identifier, the first status of the category and the last rank", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const statuses = yield* TicketStatuses
        const scene = yield* makeTicketScene
        const { admin, member, status, team, workspace } = scene
        const other = yield* addTeam(workspace.id)
        const review = yield* statuses.create({ team: other.key, name: "Review", category: "started" }).pipe(as(admin))
        yield* statuses.reorder(review.id, { after: null }).pipe(as(admin))
        const last = yield* create(scene, { team: other.key })
        const [ofTeam, ofWorkspace] = [yield* makeTag(team.key, "team", member), yield* makeTag(null, "all", admin)]
        const project = yield* addProject(workspace.id, { teams: [team.id, other.id] })
        const before = yield* create(scene, {
          status: status("started").id,
          tags: [ofTeam.id, ofWorkspace.id],
          project: project.slug
        })
        yield* TestClock.adjust(1_000)
        const after = yield* patch(before.identifier, { team: other.key }, member)
        assert.deepStrictEqual(after, {
          ...before,
          identifier: `${other.key}-2`,
          number: 2,
          url: `${baseUrl}/w/${workspace.slug}/tickets/${other.key}-2`,
          team: { id: other.id, key: other.key, name: other.name, visibility: "open" },
          status: { id: review.id, name: "Review", category: "started" },
          rank: after.rank,
          tags: [{ id: ofWorkspace.id, name: "all", color: ofWorkspace.color }],
          updatedAt: yield* now
        })
        assert.isTrue(last.rank < after.rank)
        for (const ref of [before.identifier, before.identifier.toLowerCase(), after.identifier, before.id]) {
          assert.deepStrictEqual(yield* tickets.get(ref).pipe(as(member)), after)
        }
        assert.deepInclude(yield* lastEvent(scene), {
          kind: "ticket_updated",
          subjectLabel: `${after.identifier} ${after.title}`,
          subjectPath: `tickets/${after.identifier}`,
          changes: [
            { field: "team", from: team.name, to: other.name },
            { field: "status", from: "In progress", to: "Review" },
            { field: "tags", from: "all, team", to: "all" }
          ]
        })
        // Its old number stays taken.
        assert.strictEqual((yield* create(scene)).number, 2)
        const back = yield* patch(after.id, { team: team.key }, member)
        assert.strictEqual(back.identifier, `${team.key}-3`)
        for (const number of [1, 3]) {
          assert.strictEqual((yield* tickets.get(`${team.key}-${number}`).pipe(as(member))).id, before.id)
        }
        assert.strictEqual((yield* tickets.get(after.identifier).pipe(as(member))).id, before.id)
        yield* tickets.delete(after.identifier).pipe(as(member))
        for (const ref of [before.identifier, after.identifier, back.identifier]) {
          assert.strictEqual(yield* refusal(tickets.get(ref).pipe(as(member))), "NotFound")
        }
      })
    )

    it.effect("takes other fields too, checked in the new team", () =>
      Effect.gen(function* () {
        const scene = yield* makeTicketScene
        const { admin, member, status, team, workspace } = scene
        const [other, archived] = [
          yield* addTeam(workspace.id),
          yield* addTeam(workspace.id, { archivedAt: minute(1) })
        ]
        const done = (yield* statusesOf(other)).find(({ category }) => category === "completed")
        const [here, there] = [
          yield* addProject(workspace.id, { teams: [team.id] }),
          yield* addProject(workspace.id, { teams: [other.id] })
        ]
        const tag = yield* makeTag(other.key, "other", admin)
        const { id } = yield* create(scene, { project: here.slug })
        const move = (input: UpdateTicket) => ({ team: other.key, ...input })
        for (const [expected, input] of [
          ["Conflict project_not_in_team", move({})],
          ["Conflict project_not_in_team", move({ project: here.slug })],
          ["NotFound", move({ project: null, status: status("completed").id })],
          ["NotFound", move({ project: null, tags: [(yield* makeTag(team.key, "team", member)).id] })],
          ["Conflict archived", { team: archived.key, project: null }]
        ] as const) {
          assert.strictEqual(yield* refused(id, input, member), expected, JSON.stringify(input))
        }
        const moved = yield* patch(
          id,
          move({ project: there.slug, status: done!.id, tags: [tag.id], title: "Moved" }),
          member
        )
        assert.deepInclude(moved, {
          number: 1,
          title: "Moved",
          project: { id: there.id, slug: there.slug, name: there.name },
          status: { id: done!.id, name: "Done", category: "completed" },
          tags: [{ id: tag.id, name: "other", color: tag.color }],
          completedAt: moved.updatedAt
        })
        yield* (yield* Teams).archive(other.key).pipe(as(admin))
        assert.strictEqual(yield* refused(id, { team: team.key, project: null }, admin), "Conflict archived")
      })
    )

    it.effect("requires an owner who sees the new team, unless another is sent", () =>
      Effect.gen(function* () {
        const scene = yield* makeTicketScene
        const { admin, member, workspace } = scene
        const closed = yield* addTeam(workspace.id, { visibility: "private" })
        const { id } = yield* create(scene, { owner: member.principal.id })
        const to = { team: closed.key }
        assert.strictEqual(yield* refused(id, to, admin), "Conflict owner_cannot_see")
        assert.strictEqual(
          yield* refused(id, { ...to, owner: member.principal.id }, admin),
          "Conflict owner_cannot_see"
        )
        assert.isNull((yield* patch(id, { ...to, owner: null }, admin)).owner)
        const other = yield* create(scene, { owner: member.principal.id })
        yield* addTeamMember(closed, member)
        assert.strictEqual((yield* patch(other.id, to, admin)).owner?.id, member.principal.id)
      })
    )

    it.effect("records an event for each team, which discloses nothing of the other if that is private", () =>
      Effect.gen(function* () {
        const scene = yield* makeTicketScene
        const { admin, status, team, workspace } = scene
        const [closed, secret] = [
          yield* addTeam(workspace.id, { visibility: "private" }),
          yield* addTeam(workspace.id, { visibility: "private" })
        ]
        const ticket = yield* create(scene)
        const move = Effect.fnUntraced(function* (to: string, title: string) {
          const before = yield* countEvents(scene)
          const moved = yield* patch(ticket.id, { team: to, title }, admin)
          const events = (yield* eventsOf(workspace)).slice(before)
          return { moved, events: events.map(({ changes, subjectLabel }) => ({ label: subjectLabel, changes })) }
        })
        const titled = (from: string, to: string) => ({ field: "title", from, to })
        const moves = (from: string | null, to: string | null) => ({ field: "team", from, to })
        const statuses = (name: string) => ({ field: "status", from: name, to: name })

        const away = yield* move(closed.key, "Two")
        assert.deepStrictEqual(away.events, [
          { label: `${ticket.identifier} ${ticket.title}`, changes: [moves(team.name, null)] },
          {
            label: `${closed.key}-1 Two`,
            changes: [titled(ticket.title, "Two"), moves(team.name, closed.name), statuses(status("backlog").name)]
          }
        ])
        const across = yield* move(secret.key, "Three")
        assert.deepStrictEqual(across.events, [
          { label: `${closed.key}-1 Two`, changes: [moves(closed.name, null)] },
          { label: `${secret.key}-1 Three`, changes: [moves(null, secret.name)] }
        ])
        const back = yield* move(team.key, "Four")
        assert.deepStrictEqual(back.events, [
          {
            label: `${team.key}-2 Four`,
            changes: [titled("Three", "Four"), moves(secret.name, team.name), statuses(status("backlog").name)]
          },
          { label: `${team.key}-2 Four`, changes: [moves(null, team.name)] }
        ])
      })
    )
  })

  it.describe("delete", () => {
    it.effect("deletes the ticket and records an event", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const scene = yield* makeTicketScene
        const { admin, member, team } = scene
        const ticket = yield* create(scene)
        yield* tickets.delete(ticket.identifier.toLowerCase()).pipe(as(member))
        assert.strictEqual(yield* refusal(tickets.get(ticket.id).pipe(as(member))), "NotFound")
        assert.strictEqual(yield* refusal(tickets.delete(ticket.id).pipe(as(member))), "NotFound")
        assert.deepInclude(yield* lastEvent(scene), {
          kind: "ticket_deleted",
          subjectId: ticket.id,
          subjectLabel: `${ticket.identifier} ${ticket.title}`
        })
        // Its number is not given again.
        const other = yield* create(scene)
        assert.strictEqual(other.number, 2)
        yield* (yield* Teams).archive(team.key).pipe(as(admin))
        assert.strictEqual(yield* refusal(tickets.delete(other.id).pipe(as(member))), "Conflict archived")
        assert.strictEqual(
          yield* refusal(Effect.asVoid(tickets.create({ team: team.key, title: "x" }).pipe(as(member)))),
          "Conflict archived"
        )
      })
    )
  })

  it.describe("reorder", () => {
    it.effect("refuses itself, other statuses and teams, and missing tickets", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const scene = yield* makeTicketScene
        const { admin, member, status, team, workspace } = scene
        const other = yield* addTeam(workspace.id)
        const [a, b, started, elsewhere] = [
          yield* create(scene),
          yield* create(scene),
          yield* create(scene, { status: status("started").id }),
          yield* create(scene, { team: other.key })
        ]
        const foreign = yield* create(yield* makeTicketScene)
        const reordered = (place: Parameters<typeof tickets.reorder>[1]) =>
          tickets.reorder(a.id, place).pipe(as(member), answer)
        for (const [expected, ref] of [
          ["InvalidInput", a.id],
          ["InvalidInput", a.identifier.toLowerCase()],
          ["Conflict other_status", started.id],
          ["Conflict other_status", elsewhere.identifier],
          ["NotFound", foreign.id],
          ["NotFound", newId()],
          ["NotFound", "x"]
        ] as const) {
          assert.strictEqual(yield* reordered({ before: ref }), expected)
          assert.strictEqual(yield* reordered({ after: ref }), expected)
        }
        yield* (yield* Teams).archive(team.key).pipe(as(admin))
        assert.strictEqual(yield* reordered({ after: b.id }), "Conflict archived")
        assert.strictEqual(yield* reordered({ before: b.id }), "ok")
      })
    )

    it.effect("moves a ticket and records an event, and does neither if it is there already", () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const scene = yield* makeTicketScene
        const { member, status, team } = scene
        const [a, b, c] = [yield* create(scene), yield* create(scene), yield* create(scene)]
        const between = yield* create(scene, { status: status("started").id })
        const d = yield* create(scene)
        const order = Effect.map(tickets.list({ team: team.key, category: "backlog" }).pipe(as(member)), identifiers)
        yield* TestClock.adjust(1_000)
        const moved = yield* tickets.reorder(d.identifier, { before: b.identifier }).pipe(as(member))
        assert.deepStrictEqual(moved, { ...d, rank: moved.rank, updatedAt: yield* now })
        assert.deepStrictEqual(yield* tickets.get(d.id).pipe(as(member)), moved)
        assert.deepStrictEqual(yield* order, identifiers([a, d, b, c]))
        assert.deepInclude(yield* lastEvent(scene), { kind: "ticket_reordered", subjectId: d.id, changes: [] })
        const events = yield* countEvents(scene)
        for (const [ref, place] of [
          [d.id, { before: b.id }],
          [d.id, { after: a.id }],
          [a.id, { after: null }],
          [c.id, { after: b.id }],
          [between.id, { after: null }]
        ] as const) {
          yield* TestClock.adjust(1_000)
          const before = yield* tickets.get(ref).pipe(as(member))
          assert.deepStrictEqual(yield* tickets.reorder(ref, place).pipe(as(member)), before)
        }
        assert.strictEqual(yield* countEvents(scene), events)
        yield* tickets.reorder(c.id, { after: null }).pipe(as(member))
        assert.deepStrictEqual(yield* order, identifiers([c, a, d, b]))
        yield* tickets.reorder(c.id, { after: d.identifier }).pipe(as(member))
        assert.deepStrictEqual(yield* order, identifiers([a, d, c, b]))
      })
    )
  })

  it.effect("keeps tickets of different workspaces apart", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const [scene, other] = [yield* makeTicketScene, yield* makeScene]
      const { id, identifier } = yield* create(scene)
      for (const ref of [id, identifier]) {
        assert.strictEqual(yield* refusal(tickets.get(ref).pipe(as(other.owner))), "NotFound")
        assert.strictEqual(yield* refusal(tickets.delete(ref).pipe(as(other.owner))), "NotFound")
      }
      assert.deepStrictEqual(yield* tickets.list({}).pipe(as(other.owner)), [])
    })
  )
})

const personOf = ({ principal }: { readonly principal: { id: string; name: string; email: string } }) => ({
  id: principal.id,
  name: principal.name,
  email: principal.email
})
