import type { TicketChanges } from "@delivery/domain/planning/Ticket"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Teams } from "../../src/planning/Teams.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import {
  answer,
  as,
  assertChain,
  type CallerOf,
  eventsOf,
  membersAndUp,
  newId,
  refusal,
  unique,
  whoMay
} from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addMilestone, addProject } from "./ProjectsScene.ts"
import { addTeam, statusesOf } from "./Scene.ts"
import { countEvents, create, identifiers, makeTag, makeTicketScene, refused, withoutPlan } from "./TicketsScene.ts"

const batch = (tickets: ReadonlyArray<string>, changes: TicketChanges, by: CallerOf) =>
  Effect.flatMap(Tickets, (service) => service.updateMany({ tickets, changes }).pipe(as(by)))

const codes = (results: Effect.Success<ReturnType<typeof batch>>) =>
  results.map((result) => (result.ok ? "ok" : [result.error._tag, result.error.reason].filter(Boolean).join(" ")))

withServicesOnEachStorage("Changes of many tickets", (it) => {
  it.effect("are for members and up", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { updateMany } = yield* Tickets
      assert.deepStrictEqual(yield* whoMay(scene, updateMany({ tickets: [newId()], changes: {} })), membersAndUp)
    })
  )

  it.effect("change or refuse each ticket alone, with the events and errors of changing it alone", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const scene = yield* makeTicketScene
      const { member, status, workspace } = scene
      const [archived, secret] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id, { visibility: "private" })]
      const [first, second] = [yield* create(scene), yield* create(scene, { status: status("started").id })]
      const other = yield* create(scene, { team: (yield* addTeam(workspace.id)).key })
      const unchangeable = yield* create(scene, { team: archived.key })
      const hidden = yield* create(scene, { team: secret.key }, scene.admin)
      yield* (yield* Teams).archive(archived.key).pipe(as(scene.admin))
      const before = yield* countEvents(scene)

      const refs = [other.id, first.identifier.toLowerCase(), hidden.identifier, unchangeable.id, "nothing", second.id]
      const changes = { status: status("started").id }
      const results = yield* batch(refs, changes, member)
      assert.deepStrictEqual(
        results.map(({ ticket }) => ticket),
        refs
      )
      assert.deepStrictEqual(codes(results), ["NotFound", "ok", "NotFound", "NotFound", "NotFound", "ok"])
      for (const result of results) {
        if (result.ok) {
          assert.deepStrictEqual(result.value, withoutPlan(yield* tickets.get(result.ticket).pipe(as(member))))
          assert.strictEqual(result.value.status.category, "started")
          continue
        }
        const alone = yield* Effect.flip(tickets.update(result.ticket, changes).pipe(as(member)))
        assert.deepInclude(alone, result.error)
      }
      // The second had the status already.
      const events = (yield* eventsOf(workspace)).slice(before)
      assert.deepStrictEqual(
        events.map(({ changes, kind, subjectId }) => [kind, subjectId, changes]),
        [["ticket_updated", first.id, [{ field: "status", from: "Backlog", to: "In progress" }]]]
      )
      const owned = yield* batch([unchangeable.id, second.id], { owner: scene.viewer.principal.email }, member)
      assert.deepStrictEqual(codes(owned), ["Conflict archived", "ok"])
      assert.strictEqual(
        yield* refused(unchangeable.id, { owner: scene.viewer.principal.email }, member),
        "Conflict archived"
      )
    })
  )

  it.effect("give each ticket the first status of a category in its team, also in the team that it moves to", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const scene = yield* makeTicketScene
      const { member, workspace } = scene
      const team = yield* addTeam(workspace.id)
      const [here, there] = [yield* create(scene), yield* create(scene, { team: team.key })]
      const statusIds = Effect.forEach([here, there], ({ id }) =>
        Effect.map(tickets.get(id).pipe(as(member)), ({ status }) => status.id)
      )
      const ofTeam = (yield* statusesOf(team)).find(({ category }) => category === "completed")!.id
      assert.deepStrictEqual(codes(yield* batch([here.id, there.id], { category: "completed" }, member)), ["ok", "ok"])
      assert.deepStrictEqual(yield* statusIds, [scene.status("completed").id, ofTeam])
      const moved = yield* batch([here.id, there.id], { category: "canceled", team: team.key }, member)
      assert.deepStrictEqual(codes(moved), ["ok", "ok"])
      const canceled = (yield* statusesOf(team)).find(({ category }) => category === "canceled")!.id
      assert.deepStrictEqual(yield* statusIds, [canceled, canceled])
    })
  )

  it.effect("add and remove tags one by one, and add none to a ticket that has 50", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const scene = yield* makeTicketScene
      const { admin, member, team } = scene
      const tags = yield* Effect.forEach(Array.from({ length: 50 }), () => makeTag(team.key, unique("tag"), member))
      const [a, b, c] = tags as [(typeof tags)[0], (typeof tags)[0], (typeof tags)[0]]
      const shared = yield* makeTag(null, unique("tag"), admin)
      const full = yield* create(scene, { tags: tags.map(({ id }) => id) })
      const [one, none] = [yield* create(scene, { tags: [a.id, b.id] }), yield* create(scene)]
      const refs = [one.id, full.id, none.id]
      const results = yield* batch(refs, { addTags: [c.id, shared.id], removeTags: [b.id, newId()] }, member)
      // The full one loses a tag and gets one.
      assert.deepStrictEqual(codes(results), ["ok", "ok", "ok"])
      const tagsOf = Effect.fnUntraced(function* (ref: string) {
        return new Set((yield* tickets.get(ref).pipe(as(member))).tags.map(({ id }) => id))
      })
      assert.deepStrictEqual(yield* tagsOf(one.id), new Set([a.id, c.id, shared.id]))
      assert.deepStrictEqual(yield* tagsOf(none.id), new Set([c.id, shared.id]))
      assert.strictEqual((yield* tagsOf(full.id)).size, 50)
      assert.deepStrictEqual(codes(yield* batch(refs, { addTags: [b.id] }, member)), ["ok", "InvalidInput", "ok"])
      assert.strictEqual((yield* tagsOf(full.id)).size, 50)
      assert.deepStrictEqual(codes(yield* batch([none.id], { addTags: [newId()] }, member)), ["NotFound"])
      // In another team a ticket keeps those of the workspace alone, and gets those of that team.
      const other = yield* addTeam(scene.workspace.id)
      const there = yield* makeTag(other.key, unique("tag"), member)
      const moved = yield* batch([one.id], { team: other.key, addTags: [there.id] }, member)
      assert.deepStrictEqual(codes(moved), ["ok"])
      assert.deepStrictEqual(yield* tagsOf(one.id), new Set([shared.id, there.id]))
    })
  )

  it.effect("change projects and milestones as changing a ticket alone does", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { member, team, workspace } = scene
      const project = yield* addProject(workspace.id, { teams: [team.id] })
      yield* addMilestone(project)
      const [inside, outside] = [
        yield* create(scene),
        yield* create(scene, { team: (yield* addTeam(workspace.id)).key })
      ]
      const refs = [inside.id, outside.id]
      const changes = { project: project.slug, milestone: 1 }
      assert.deepStrictEqual(codes(yield* batch(refs, changes, member)), ["ok", "Conflict project_not_in_team"])
      assert.deepStrictEqual(codes(yield* batch(refs, { milestone: 1 }, member)), ["ok", "InvalidInput"])
    })
  )

  it.effect("are refused as a whole where two references name one ticket", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { member, workspace } = scene
      const [moved, other] = [yield* create(scene), yield* create(scene)]
      yield* batch([moved.id], { team: (yield* addTeam(workspace.id)).key }, member)
      const before = yield* countEvents(scene)
      const refs = [other.id, moved.id, "nothing", moved.identifier]
      const refusing = batch(refs, { category: "started" }, member)
      assert.strictEqual(yield* refusal(refusing), "InvalidInput")
      assert.strictEqual(yield* countEvents(scene), before)
    })
  )

  it.effect("of several callers over the same tickets in opposite orders all end, and lose no change", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const scene = yield* makeTicketScene
      const { member, workspace } = scene
      const teams = [scene.team, yield* addTeam(workspace.id)] as const
      const made = yield* Effect.forEach(Array.from({ length: 10 }), (_, i) =>
        create(scene, { team: teams[i % 2]!.key })
      )
      const refs = made.map(({ id }) => id as string)
      const owners = [scene.viewer, scene.admin, scene.owner]
      const calls = Array.from({ length: 4 }, (_, i) => [
        batch(i % 2 === 0 ? refs : refs.toReversed(), { owner: owners[i % 3]!.principal.email }, member),
        batch(i % 2 === 0 ? refs.toReversed() : refs, { team: teams[i % 2]!.key }, member)
      ]).flat()
      const results = yield* Effect.all(calls, { concurrency: "unbounded" })
      assert.deepStrictEqual(new Set(results.flatMap(codes)), new Set(["ok"]))
      const shown = yield* Effect.forEach(made, ({ id }) => tickets.get(id).pipe(as(member)))
      assert.strictEqual(new Set(identifiers(shown)).size, made.length)
      const events = yield* eventsOf(workspace)
      for (const ticket of shown) {
        const { team } = made.find(({ id }) => id === ticket.id)!
        const changes = events
          .filter(({ kind, subjectId }) => kind === "ticket_updated" && subjectId === ticket.id)
          .flatMap(({ changes }) => changes.filter(({ field }) => field !== "status"))
        assertChain(
          changes.map((change) => ({ changes: [change] })),
          { team: team.name, owner: null },
          { team: ticket.team.name, owner: ticket.owner?.name ?? null }
        )
      }
      assert.strictEqual(yield* answer(batch([refs[0]!], {}, member)), "ok")
    })
  )
})
