import type { TagId } from "@delivery/domain/Ids"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Comments } from "../../src/planning/Comments.ts"
import { Milestones } from "../../src/planning/Milestones.ts"
import { Projects } from "../../src/planning/Projects.ts"
import { Tags } from "../../src/planning/Tags.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { TicketsRepo } from "../../src/planning/TicketsRepo.ts"
import { TicketStatuses } from "../../src/planning/TicketStatuses.ts"
import { addMember, answer, as, assertChain, eventsOf, newId } from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addProject } from "./ProjectsScene.ts"
import { addTeam, seesAll } from "./Scene.ts"
import { create, identifiers, makeTicketScene, type TicketScene } from "./TicketsScene.ts"

/**
 * Many writers at once. A deadlock, a broken constraint or a lost row is a defect, which fails the test: each call must
 * succeed, or be refused as the contract says.
 */

const times = <A, E, R>(count: number, call: (index: number) => Effect.Effect<A, E, R>) =>
  Effect.all(
    Array.from({ length: count }, (_, index) => call(index)),
    { concurrency: "unbounded" }
  )

const numbers = (length: number) => Array.from({ length }, (_, i) => i + 1)

const all = Effect.fnUntraced(function* ({ admin }: TicketScene) {
  return yield* (yield* Tickets).list({}).pipe(as(admin), Effect.orDie)
})

/** No number and no rank of a team is given twice, and every identifier answers with its ticket. */
const assertSound = Effect.fnUntraced(function* (scene: TicketScene) {
  const tickets = yield* Tickets
  const shown = yield* all(scene)
  for (const key of new Set(shown.map(({ team }) => team.key))) {
    const ofTeam = shown.filter(({ team }) => team.key === key)
    for (const values of [ofTeam.map(({ rank }) => rank), identifiers(ofTeam)]) {
      assert.strictEqual(new Set(values).size, ofTeam.length)
    }
  }
  for (const { id, identifier } of shown) {
    assert.strictEqual((yield* tickets.get(identifier).pipe(as(scene.admin))).id, id)
  }
  return shown
})

const outcomes = (found: ReadonlyArray<string>) => [...new Set(found)].toSorted()

withServicesOnEachStorage("Tickets under concurrency", (it) => {
  it.effect("numbers 50 concurrent tickets without gaps or repeats, although others fail", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const scene = yield* makeTicketScene
      const { member, team, workspace } = scene
      const made = yield* times(80, (i) =>
        // Three of eight fail after their number was taken, or before.
        tickets
          .create({ team: team.key, title: `${i}`, ...([1, 4, 6].includes(i % 8) ? { tags: [newId()] } : {}) })
          .pipe(as(member), Effect.option)
      )
      const shown = yield* assertSound(scene)
      assert.lengthOf(shown, 50)
      assert.lengthOf(
        made.filter(({ _tag }) => _tag === "Some"),
        50
      )
      assert.deepStrictEqual(
        shown.map(({ number }) => number).toSorted((a, b) => a - b),
        numbers(50)
      )
      // Ranks follow numbers: each went last.
      assert.deepStrictEqual(
        shown.map(({ number }) => number),
        numbers(50)
      )
      assert.lengthOf(yield* eventsOf(workspace), 50)
    })
  )

  it.effect(
    "loses no ticket when many move between teams concurrently",
    () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const scene = yield* makeTicketScene
        const { member, workspace } = scene
        const teams = [scene.team, yield* addTeam(workspace.id), yield* addTeam(workspace.id)]
        const made: Array<Ticket> = []
        for (let i = 0; i < 12; i++) made.push(yield* create(scene, { team: teams[i % 3]!.key }))
        const known = new Map(made.map(({ id, identifier }) => [identifier, id]))
        for (let round = 0; round < 5; round++) {
          // Two callers send each ticket to different teams.
          const moved = yield* times(24, (i) =>
            tickets
              .update(made[i % 12]!.id, { team: teams[(i + round + (i < 12 ? 1 : 2)) % 3]!.key })
              .pipe(as(member), Effect.orDie)
          )
          for (const { id, identifier } of moved) known.set(identifier, id)
        }
        const shown = yield* assertSound(scene)
        assert.sameMembers(
          shown.map(({ id }) => id),
          made.map(({ id }) => id)
        )
        for (const [identifier, id] of known) {
          assert.strictEqual((yield* tickets.get(identifier).pipe(as(member))).id, id, identifier)
        }
        // Every number of a team was given once, to a ticket that was there.
        for (const { key } of teams) {
          const given = [...known.keys()].filter((identifier) => identifier.startsWith(`${key}-`))
          assert.lengthOf(given, Math.max(...given.map((identifier) => Number(identifier.split("-")[1]))))
        }
      }),
    240_000
  )

  it.effect(
    "neither loses nor doubles a rank under concurrent reorders",
    () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const repo = yield* TicketsRepo
        const scene = yield* makeTicketScene
        const { member, team } = scene
        const made: Array<Ticket> = []
        for (let i = 0; i < 20; i++) made.push(yield* create(scene))
        for (let round = 0; round < 4; round++) {
          yield* times(40, (i) => {
            const [moved, beside] = [made[(i * 7 + round) % 20]!.id, made[(i * 3 + round + 1) % 20]!.id]
            const place = i % 3 === 0 ? { before: beside } : i % 3 === 1 ? { after: beside } : { after: null }
            return moved === beside && i % 3 !== 2
              ? Effect.void
              : Effect.asVoid(tickets.reorder(moved, place).pipe(as(member), Effect.orDie))
          })
        }
        const shown = yield* assertSound(scene)
        assert.lengthOf(shown, 20)
        assert.deepStrictEqual<unknown>(
          yield* repo.orderOf(team).ids,
          shown.map(({ id }) => id)
        )
      }),
    240_000
  )

  it.effect("keeps every concurrent change of one ticket", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const scene = yield* makeTicketScene
      const { member, status, workspace } = scene
      const ticket = yield* create(scene)
      const categories = ["backlog", "unstarted", "started", "completed", "canceled"] as const
      yield* times(60, (i) =>
        tickets
          .update(ticket.id, i % 2 === 0 ? { title: `Title ${i}` } : { status: status(categories[(i >> 1) % 5]!).id })
          .pipe(as(member), Effect.orDie)
      )
      const shown = yield* tickets.get(ticket.id).pipe(as(member))
      const updates = (yield* eventsOf(workspace)).filter(({ kind }) => kind === "ticket_updated")
      assertChain(
        updates,
        { title: ticket.title, status: ticket.status.name },
        { title: shown.title, status: shown.status.name }
      )
    })
  )

  it.effect(
    "deletes a status while tickets get it: no ticket keeps it or is lost",
    () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const statuses = yield* TicketStatuses
        const repo = yield* TicketsRepo
        const scene = yield* makeTicketScene
        const { admin, member, status, team, workspace } = scene
        for (let round = 0; round < 6; round++) {
          const doomed = yield* statuses
            .create({ team: team.key, name: `Doomed ${round}`, category: "completed" })
            .pipe(as(admin))
          const made = [yield* create(scene, { status: doomed.id }), yield* create(scene), yield* create(scene)]
          const found = yield* times(12, (i) => {
            if (i === 5) return answer(statuses.delete(doomed.id, status("started").id).pipe(as(admin)))
            if (i % 4 === 3) {
              return answer(tickets.create({ team: team.key, title: "x", status: doomed.id }).pipe(as(member)))
            }
            return answer(tickets.update(made[i % 3]!.id, { status: doomed.id }).pipe(as(member)))
          })
          assert.strictEqual(found[5], "ok")
          assert.isTrue(
            outcomes(found).every((outcome) => ["ok", "NotFound"].includes(outcome)),
            found.join()
          )
          const left = yield* repo.list(seesAll(workspace.id), { statusIds: [doomed.id] })
          assert.lengthOf(left, 0)
          // Who had it is in `started` since, with the dates of that.
          for (const { completedAt, startedAt, status: now } of yield* all(scene)) {
            assert.isNull(completedAt)
            assert.strictEqual(startedAt !== null, now.category === "started")
          }
          for (const { id } of yield* all(scene)) yield* tickets.delete(id).pipe(as(admin))
        }
      }),
    240_000
  )

  it.effect(
    "adds tickets to projects while they are archived, unlinked and lose milestones",
    () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const projects = yield* Projects
        const milestones = yield* Milestones
        const scene = yield* makeTicketScene
        const { member, team, workspace } = scene
        const other = yield* addTeam(workspace.id)
        for (let round = 0; round < 6; round++) {
          const { slug } = yield* addProject(workspace.id, { teams: [team.id, other.id] })
          const milestone = yield* milestones.create(slug, { name: "Beta" }).pipe(as(member))
          const made = [yield* create(scene), yield* create(scene), yield* create(scene)]
          const found = yield* times(12, (i) => {
            const id = made[i % 3]!.id
            if (i === 4) return answer(milestones.delete(slug, milestone.number).pipe(as(member)))
            if (i === 6) return answer(projects.update(slug, { teams: [other.key] }).pipe(as(member)))
            if (i === 9) return answer(projects.archive(slug).pipe(as(member)))
            if (i === 10) return answer(tickets.update(id, { team: other.key }).pipe(as(member)))
            return answer(
              tickets.update(id, { project: slug, ...(i % 2 === 0 ? { milestone: 1 } : {}) }).pipe(as(member))
            )
          })
          const allowed = new Set([
            "ok",
            "NotFound",
            "Conflict archived",
            "Conflict project_not_in_team",
            "Conflict team_has_tickets"
          ])
          assert.isTrue(
            outcomes(found).every((outcome) => allowed.has(outcome)),
            found.join()
          )
          const linked = (yield* projects.get(slug).pipe(as(member))).teams.map(({ id }) => id)
          const isWithout = (yield* projects.get(slug).pipe(as(member))).milestones.length === 0
          for (const ticket of yield* all(scene)) {
            if (ticket.project?.slug !== slug) continue
            assert.include(linked, ticket.team.id)
            if (isWithout) assert.isNull(ticket.milestone)
          }
        }
        yield* assertSound(scene)
      }),
    240_000
  )

  it.effect("tags tickets while tags are deleted", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const tags = yield* Tags
      const scene = yield* makeTicketScene
      const { member, team } = scene
      const made = [yield* create(scene), yield* create(scene)]
      for (let round = 0; round < 8; round++) {
        const doomed: Array<TagId> = []
        for (const name of ["a", "b", "c"]) {
          doomed.push((yield* tags.create({ team: team.key, name, color: "#000000" }).pipe(as(member))).id)
        }
        const found = yield* times(12, (i) =>
          i % 4 === 1
            ? answer(tags.delete(doomed[(i - 1) / 4]!).pipe(as(member)))
            : answer(tickets.update(made[i % 2]!.id, { tags: doomed.slice(i % 3) }).pipe(as(member)))
        )
        assert.isTrue(
          outcomes(found).every((outcome) => ["ok", "NotFound"].includes(outcome)),
          found.join()
        )
        for (const ticket of yield* all(scene)) assert.deepStrictEqual(ticket.tags, [])
      }
    })
  )

  it.effect(
    "keeps every invariant under concurrent writes of tickets, comments, teams and members",
    () =>
      Effect.gen(function* () {
        const tickets = yield* Tickets
        const comments = yield* Comments
        const teams = yield* Teams
        const scene = yield* makeTicketScene
        const { admin, workspace } = scene
        const other = yield* addTeam(workspace.id)
        const keys = [scene.team.key, other.key]
        const member = yield* addMember(workspace, "member")
        const made: Array<Ticket> = []
        for (let i = 0; i < 10; i++) made.push(yield* create(scene, { team: keys[i % 2]! }))
        const found = yield* times(160, (i) => {
          const { id } = made[(i * 7) % 10]!
          const beside = made[(i * 3 + 1) % 10]!.id
          switch (i % 8) {
            case 0:
              return answer(tickets.create({ team: keys[i % 3 === 0 ? 0 : 1]!, title: `${i}` }).pipe(as(member)))
            case 1:
            case 2:
              return answer(tickets.update(id, { team: keys[(i >> 3) % 2]! }).pipe(as(member)))
            case 3:
              return answer(tickets.reorder(id, { after: beside }).pipe(as(member)))
            case 4:
              return answer(comments.create(id, { body: `${i}` }).pipe(as(member)))
            case 5:
              return answer(tickets.update(id, { title: `${i}`, owner: member.principal.id }).pipe(as(admin)))
            case 6:
              return i === 94 || i === 126
                ? answer(tickets.delete(id).pipe(as(admin)))
                : answer(tickets.reorder(id, { after: null }).pipe(as(member)))
            default:
              return answer((i % 16 === 7 ? teams.archive(other.key) : teams.restore(other.key)).pipe(as(admin)))
          }
        })
        const allowed = new Set(["ok", "NotFound", "InvalidInput", "Conflict other_status", "Conflict archived"])
        assert.isTrue(
          outcomes(found).every((outcome) => allowed.has(outcome)),
          outcomes(found).join()
        )
        assert.isAtLeast(found.filter((outcome) => outcome === "ok").length, 60)
        const shown = yield* assertSound(scene)
        for (const { commentCount, id } of shown) {
          assert.lengthOf(yield* comments.list(id).pipe(as(admin)), commentCount)
        }
      }),
    240_000
  )
})
