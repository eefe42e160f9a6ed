import type { Ticket } from "@delivery/domain/planning/Ticket"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AgentsRepo } from "../../src/agents/AgentsRepo.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { addMember, as, minute, newId, now } from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addMilestone, addProject } from "./ProjectsScene.ts"
import { addTeam, statusesOf } from "./Scene.ts"
import {
  addAgent,
  countEvents,
  create,
  lastEvent,
  makeTag,
  makeTicketScene,
  patch,
  personOf,
  refused
} from "./TicketsScene.ts"

withServicesOnEachStorage("Updates of tickets", (it) => {
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
          [{ tags: [] }, { tags: [] }, ["tags", "b", null]],
          [{ blocks: true }, { blocks: true }, ["blocks", "false", "true"]],
          [{ title: "Still" }, { title: "Still" }, ["title", "New", "Still"]],
          [{ blocks: false }, { blocks: false }, ["blocks", "true", "false"]]
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
})
