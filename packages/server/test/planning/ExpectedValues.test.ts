import type { UpdateTicket } from "@delivery/domain/planning/Ticket"
import { assert } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { Projects } from "../../src/planning/Projects.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { as, refusal } from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addProject } from "./ProjectsScene.ts"
import { countEvents, create, makeTag, makeTicketScene, patch } from "./TicketsScene.ts"

withServicesOnEachStorage("Changes that expect values", (it) => {
  it.effect("are refused where a field has another value by now, and change nothing", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const scene = yield* makeTicketScene
      const { admin, member, status, team, workspace } = scene
      const [a, b] = [yield* makeTag(team.key, "a", member), yield* makeTag(team.key, "b", member)]
      const project = yield* addProject(workspace.id, { teams: [team.id] })
      const ticket = yield* create(scene, { description: "One", tags: [a.id, b.id], project: project.slug })
      const events = yield* countEvents(scene)
      const others: Record<string, NonNullable<UpdateTicket["expected"]>> = {
        title: { title: "another" },
        description: { description: null },
        plan: { plan: "" },
        status: { status: status("started").id },
        owner: { owner: member.principal.id },
        project: { project: null },
        milestone: { milestone: 1 },
        tags: { tags: [a.id] },
        "title, tags": { tags: [], title: "", description: "One" }
      }
      for (const [names, expected] of Object.entries(others)) {
        const refusal = yield* tickets
          .update(ticket.identifier, { plan: "Mine", expected })
          .pipe(as(admin), Effect.flip)
        assert.deepInclude(refusal, {
          _tag: "Conflict",
          reason: "ticket_changed",
          message: `The ticket was changed meanwhile: ${names}. Read it again, then decide.`
        })
      }
      assert.deepStrictEqual(yield* tickets.get(ticket.id).pipe(as(member)), ticket)
      assert.strictEqual(yield* countEvents(scene), events)
    })
  )

  it.effect("are made where everything is as expected, and again where they are made already", () =>
    Effect.gen(function* () {
      const scene = yield* makeTicketScene
      const { member, team } = scene
      const [a, b] = [yield* makeTag(team.key, "a", member), yield* makeTag(team.key, "b", member)]
      const ticket = yield* create(scene, { description: "One", tags: [a.id, b.id], owner: member.principal.id })
      const change: UpdateTicket = {
        description: "Two",
        expected: {
          title: ticket.title,
          description: "One",
          plan: null,
          status: ticket.status.id,
          owner: member.principal.id,
          project: null,
          milestone: null,
          tags: [b.id, a.id]
        }
      }
      const after = yield* patch(ticket.identifier, change, member)
      assert.strictEqual(after.description, "Two")
      const events = yield* countEvents(scene)
      assert.deepStrictEqual(yield* patch(ticket.identifier, change, member), after)
      assert.strictEqual(yield* countEvents(scene), events)
    })
  )

  it.effect("let one of many that write from the same text at once win", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const scene = yield* makeTicketScene
      const { member } = scene
      const { identifier } = yield* create(scene, { description: "Base" })
      const texts = Array.from({ length: 8 }, (_, index) => `Text ${index}`)
      const ends = yield* Effect.forEach(
        texts,
        (description) =>
          Effect.exit(tickets.update(identifier, { description, expected: { description: "Base" } }).pipe(as(member))),
        { concurrency: "unbounded" }
      )
      const won = texts.filter((_, index) => Exit.isSuccess(ends[index]!))
      assert.lengthOf(won, 1)
      assert.strictEqual((yield* tickets.get(identifier).pipe(as(member))).description, won[0])
    })
  )

  it.effect("compare each of many tickets alone", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const scene = yield* makeTicketScene
      const { member } = scene
      const owner = member.principal.id
      const [held, free] = [yield* create(scene, { owner }), yield* create(scene)]
      const results = yield* tickets
        .updateMany({ tickets: [held.identifier, free.identifier], changes: { owner, expected: { owner: null } } })
        .pipe(as(member))
      assert.deepStrictEqual(
        results.map(({ ok }) => ok),
        [true, true]
      )
      const back = yield* tickets
        .updateMany({
          tickets: [held.identifier, free.identifier],
          changes: { owner: null, expected: { owner: scene.admin.principal.id } }
        })
        .pipe(as(member))
      assert.deepStrictEqual(
        back.map((result) => (result.ok ? undefined : result.error.reason)),
        ["ticket_changed", "ticket_changed"]
      )
    })
  )

  it.effect("hold for the document of a project", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { member, team, workspace } = yield* makeTicketScene
      const { slug } = yield* addProject(workspace.id, { teams: [team.id] })
      const write = (document: string, expected: string | null) =>
        projects.update(slug, { document, expected: { document: expected } }).pipe(as(member))
      assert.strictEqual((yield* write("One", null)).document, "One")
      assert.strictEqual((yield* write("One", null)).document, "One")
      assert.strictEqual(yield* refusal(Effect.asVoid(write("Two", null))), "Conflict project_changed")
      assert.strictEqual((yield* write("Two", "One")).document, "Two")
    })
  )
})
