import type { Ticket } from "@delivery/domain/planning/Ticket"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Members } from "../../src/identity/Members.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { TicketStatuses } from "../../src/planning/TicketStatuses.ts"
import {
  addAccountKey,
  addMember,
  answer,
  as,
  type CallerOf,
  everyRole,
  makeScene,
  membersAndUp,
  newId,
  refusal,
  unique,
  whoMay
} from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addMilestone, addProject } from "./ProjectsScene.ts"
import { addTeam, addTeamMember } from "./Scene.ts"
import { addAgent, create, identifiers, lastEvent, makeTicketScene, withoutPlan } from "./TicketsScene.ts"

withServicesOnEachStorage("Tickets", (it) => {
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
        const secret = yield* addTeam(workspace.id, { visibility: "private" })
        const hidden = yield* addProject(workspace.id, { teams: [secret.id] })
        for (const one of [project, project, hidden]) yield* addMilestone(one)
        const milestone = `${project.slug}/2`
        const a = yield* create(scene, { owner: member.principal.id, project: project.slug, milestone: 2 })
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
          [{ milestone }, [a]],
          [{ milestone, team: other.key }, []],
          [{ milestone: `${project.slug}/1` }, []],
          [{ milestone: "none" }, [b, c, d]],
          [{ milestone: "none", project: project.slug }, [c]],
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
          ["milestone", { milestone: "2" }],
          ["milestone", { milestone: "None" }],
          ["milestone", { milestone: `${project.slug}/3` }],
          ["milestone", { milestone: `${project.slug}/02` }],
          ["milestone", { milestone: `${project.slug}/2/2` }],
          ["milestone", { milestone: `${project.slug}/99999999999` }],
          ["milestone", { milestone: `${hidden.slug}/1` }],
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
