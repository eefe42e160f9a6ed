import { assert } from "@effect/vitest"
import type { PersonId, TicketStatusId, WorkspaceId } from "@delivery/domain/Ids"
import { datesInCategory } from "@delivery/domain/planning/StatusTimes"
import { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { Effect } from "effect"
import { TicketsRepo } from "../../src/planning/TicketsRepo.ts"
import { TicketStatusesRepo, type TicketStatusRow } from "../../src/planning/TicketStatusesRepo.ts"
import { addMember, addWorkspace, minute, newId } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"
import { addTeam, addTeamMember, addTemplate, seesAll, seesOwn, statusesOf, statusRow, teamKey } from "./Scene.ts"
import { addTicket } from "./TicketsScene.ts"

const template = (workspaceId: WorkspaceId) => ({ workspaceId, id: null })

const byId = (rows: ReadonlyArray<TicketStatusRow>) => rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))

onEachStorage("TicketStatusesRepo", (it, storageName) => {
  it.effect("lists the statuses of a team or of the template as they were stored", () =>
    Effect.gen(function* () {
      const repo = yield* TicketStatusesRepo
      const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
      const [team, beside] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id)]
      const shared = yield* addTemplate(workspace.id)
      yield* addTemplate(other.id)
      const status = statusRow(team, {
        name: "Ünïcode 🚀 'quoted'",
        category: "canceled",
        position: 7,
        createdAt: "2026-02-03T04:05:06.789Z",
        updatedAt: minute(2)
      })
      const before = yield* statusesOf(team)
      yield* repo.insert([status])
      assert.deepStrictEqual(byId(yield* repo.list(workspace.id, team.id)), byId([...before, status]))
      assert.deepStrictEqual(byId(yield* repo.list(workspace.id, null)), byId(shared))
      assert.lengthOf(yield* repo.list(workspace.id, beside.id), 5)
      assert.isEmpty(yield* repo.list(other.id, team.id))
      yield* repo.insert([])
    })
  )

  it.effect("finds a team's statuses, and the team of a status, if the viewer sees the team", () =>
    Effect.gen(function* () {
      const repo = yield* TicketStatusesRepo
      const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
      const [open, secret] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id, { visibility: "private" })]
      const shared = (yield* addTemplate(workspace.id))[0]!
      const insider = yield* addMember(workspace, "member")
      const outsider = (yield* addMember(workspace, "member")).principal.id as PersonId
      yield* addTeamMember(secret, insider)
      const [ofOpen, ofSecret] = [yield* statusesOf(open), yield* statusesOf(secret)]
      for (const [viewer, sees] of [
        [seesAll(workspace.id), true],
        [seesOwn(workspace.id, insider.principal.id as PersonId), true],
        [seesOwn(workspace.id, outsider), false],
        [seesOwn(workspace.id, null), false]
      ] as const) {
        assert.deepStrictEqual(byId(yield* repo.listOfTeam(viewer, open.key)), byId(ofOpen))
        assert.deepStrictEqual(byId(yield* repo.listOfTeam(viewer, secret.key)), sees ? byId(ofSecret) : [])
        assert.deepStrictEqual(yield* repo.find(viewer, shared.id), { teamKey: null })
        assert.deepStrictEqual(yield* repo.find(viewer, ofOpen[0]!.id), { teamKey: open.key })
        const found = yield* repo.find(viewer, ofSecret[0]!.id)
        assert.deepStrictEqual(found, sees ? { teamKey: secret.key } : undefined)
        for (const missing of [newId<string>(), "", "Backlog", "\u0000"]) {
          assert.isUndefined(yield* repo.find(viewer, missing))
        }
        for (const missing of [teamKey(), "", open.id, "\u0000"]) {
          assert.isEmpty(yield* repo.listOfTeam(viewer, missing))
        }
      }
      assert.isUndefined(yield* repo.find(seesAll(other.id), shared.id))
      assert.isUndefined(yield* repo.find(seesAll(other.id), ofOpen[0]!.id))
      assert.isEmpty(yield* repo.listOfTeam(seesAll(other.id), open.key))
    })
  )

  it.effect("updates names, positions and the default of many statuses in one call, and nothing else", () =>
    Effect.gen(function* () {
      const repo = yield* TicketStatusesRepo
      const workspace = yield* addWorkspace()
      const [team, beside] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id)]
      const [one, two] = [
        statusRow(team, { name: "One", category: "backlog", position: 1 }),
        statusRow(team, { name: "Two", category: "backlog", position: 2 })
      ]
      yield* repo.insert([one, two])
      const first = (yield* statusesOf(team))[0]!
      const untouched = yield* statusesOf(beside)
      // All three swap what only one of them may have.
      const changed = [
        { ...first, name: "Two", position: 2, isDefault: false, updatedAt: minute(5) },
        { ...one, name: first.name, position: 0, isDefault: true, updatedAt: minute(6) },
        { ...two, name: "one", position: 1, updatedAt: minute(7) }
      ]
      const foreign = { category: "started", teamId: beside.id, createdAt: minute(9) } as const
      yield* repo.update(changed.map((status) => ({ ...status, ...foreign })))
      const found = yield* repo.list(workspace.id, team.id)
      assert.deepStrictEqual(byId(found.filter(({ category }) => category === "backlog")), byId(changed))
      assert.deepStrictEqual(yield* statusesOf(beside), untouched)
    })
  )

  it.effect("allows a name, in any case, and a position in a category once in a team or template", () =>
    Effect.gen(function* () {
      const repo = yield* TicketStatusesRepo
      const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
      const [team, beside] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id)]
      yield* addTemplate(workspace.id)
      for (const owner of [team, template(workspace.id)]) {
        const status = statusRow(owner, { name: "Größe", position: 1 })
        const second = statusRow(owner, { name: "Other", position: 2 })
        yield* repo.insert([status, second])
        const same = { name: "GRÖßE", position: 3 }
        for (const call of [
          repo.insert([statusRow(owner, same)]),
          repo.update([{ ...second, ...same }]),
          repo.insert([statusRow(owner, { position: 3, name: "New" }), statusRow(owner, { position: 4, name: "nEW" })])
        ]) {
          assert.strictEqual((yield* Effect.flip(call)).constraint, "ticket_statuses_name_key")
        }
        const inPlace = repo.insert([statusRow(owner, { position: 1 })])
        assert.strictEqual((yield* Effect.flip(inPlace)).constraint, "ticket_statuses_position_key")
        yield* repo.update([{ ...status, ...same }])
        yield* repo.insert([statusRow(owner, { position: 1, category: "completed" })])
      }
      yield* repo.insert([statusRow(beside, { name: "Größe", position: 1 })])
      yield* repo.insert([statusRow(template(other.id), { name: "Größe", position: 1 })])
    })
  )

  // Memory keeps what the service decided.
  if (storageName !== "memory") {
    it.effect("allows one default in a team or template, and none in a later category", () =>
      Effect.gen(function* () {
        const repo = yield* TicketStatusesRepo
        const workspace = yield* addWorkspace()
        const team = yield* addTeam(workspace.id)
        yield* addTemplate(workspace.id)
        for (const owner of [team, template(workspace.id)]) {
          const [backlog, , started] = yield* statusesOf(owner)
          for (const call of [
            repo.insert([statusRow(owner, { category: "unstarted", position: 1, isDefault: true })]),
            repo.update([
              { ...backlog!, isDefault: false },
              { ...started!, isDefault: true }
            ])
          ]) {
            assert.strictEqual((yield* Effect.exit(call))._tag, "Failure")
          }
        }
      })
    )
  }

  it.effect("deletes one status", () =>
    Effect.gen(function* () {
      const repo = yield* TicketStatusesRepo
      const team = yield* addTeam((yield* addWorkspace()).id)
      const [first, ...others] = yield* statusesOf(team)
      yield* repo.delete(first!.id)
      assert.deepStrictEqual(yield* statusesOf(team), others)
      yield* repo.delete(newId<TicketStatusId>())
    })
  )

  it.effect("moves all tickets of a status, and no others, with the dates of the category and in their order", () =>
    Effect.gen(function* () {
      const repo = yield* TicketStatusesRepo
      const tickets = yield* TicketsRepo
      const workspace = yield* addWorkspace()
      const viewer = seesAll(workspace.id)
      const at = "2026-02-03T04:05:06.789Z"
      const dates = [
        { startedAt: null, completedAt: null, canceledAt: null },
        { startedAt: minute(1), completedAt: minute(2), canceledAt: null },
        { startedAt: null, completedAt: null, canceledAt: minute(3) }
      ]
      for (const from of StatusCategory.literals) {
        for (const to of StatusCategory.literals) {
          const team = yield* addTeam(workspace.id)
          const second = statusRow(team, { name: "Second", category: from, position: 1 })
          yield* repo.insert([second])
          const statuses = yield* statusesOf(team)
          const target = statuses.find((status) => status.category === to)!
          const moved = []
          for (const fields of dates) {
            const updatedAt = fields.canceledAt === null ? minute(4) : "2027-01-01T00:00:00.000Z"
            moved.push(yield* addTicket(team, { ...fields, statusId: second.id, updatedAt }))
          }
          const bystander = yield* addTicket(team, { statusId: statuses.find(({ id }) => id !== second.id)!.id })
          const before = yield* tickets.find(viewer, bystander.id)
          assert.isTrue(yield* repo.hasTickets(second))
          yield* repo.moveTickets(second, target, at)
          assert.isFalse(yield* repo.hasTickets(second))
          assert.deepStrictEqual(yield* tickets.find(viewer, bystander.id), before)
          for (const ticket of moved) {
            const after = (yield* tickets.find(viewer, ticket.id))!
            const { canceledAt, completedAt, startedAt } = after
            const said = `${from} to ${to}`
            assert.deepStrictEqual({ startedAt, completedAt, canceledAt }, datesInCategory(ticket, from, to, at), said)
            assert.strictEqual(after.status.id, target.id, said)
            assert.strictEqual(after.rank, ticket.rank, said)
            assert.strictEqual(after.updatedAt, ticket.updatedAt > at ? "2027-01-01T00:00:00.001Z" : at, said)
          }
        }
      }
    })
  )
})
