import type { UpdateTicket } from "@delivery/domain/planning/Ticket"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Teams } from "../../src/planning/Teams.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { TicketStatuses } from "../../src/planning/TicketStatuses.ts"
import { answer, as, eventsOf, minute, newId, now, refusal } from "../identity/Scene.ts"
import { baseUrl, withServicesOnEachStorage } from "../support/Storages.ts"
import { addProject } from "./ProjectsScene.ts"
import { addTeam, addTeamMember, statusesOf } from "./Scene.ts"
import {
  countEvents,
  create,
  identifiers,
  lastEvent,
  makeTag,
  makeTicketScene,
  patch,
  refused
} from "./TicketsScene.ts"

withServicesOnEachStorage("Moves of tickets", (it) => {
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
          // Events of one transaction come in no order.
          const events = (yield* eventsOf(workspace)).slice(before).toSorted((a, b) => (a.id < b.id ? -1 : 1))
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
})
