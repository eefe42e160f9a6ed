import { assert } from "@effect/vitest"
import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Workspaces } from "../../src/identity/Workspaces.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { TicketStatuses } from "../../src/planning/TicketStatuses.ts"
import { TicketStatusesRepo } from "../../src/planning/TicketStatusesRepo.ts"
import { Views } from "../../src/planning/Views.ts"
import {
  addMember,
  adminsAndUp,
  answer,
  as,
  type CallerOf,
  eventsOf,
  everyRole,
  kindsOf,
  makeScene,
  newId,
  now,
  refusal,
  repeated,
  type Scene,
  unique,
  whoMay
} from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addProject } from "./ProjectsScene.ts"
import { addTeam, addTeamMember, addTemplate, statusesOf, teamKey } from "./Scene.ts"
import { addTicket } from "./TicketsScene.ts"
import { newestEvents } from "../events/NewestEvents.ts"

const namesOf = (statuses: ReadonlyArray<{ readonly name: string }>) => statuses.map(({ name }) => name)

withServicesOnEachStorage("TicketStatuses", (it, storageName) => {
  /** A workspace with its template, and a team. */
  const makeBoard = Effect.gen(function* () {
    const scene = yield* makeScene
    yield* addTemplate(scene.workspace.id)
    return { ...scene, team: yield* addTeam(scene.workspace.id) }
  })

  const create = Effect.fnUntraced(function* (
    { admin }: Scene,
    team: string | null,
    name: string,
    category: TicketStatus["category"] = "started"
  ) {
    return yield* (yield* TicketStatuses).create({ team, name, category }).pipe(as(admin))
  })

  const list = Effect.fnUntraced(function* (caller: CallerOf, team?: string) {
    return yield* (yield* TicketStatuses).list(team).pipe(as(caller))
  })

  const find = Effect.fnUntraced(function* (caller: CallerOf, team: string | null, name: string) {
    return (yield* list(caller, team ?? undefined)).find((status) => status.name === name)!
  })

  it.effect("checks the role before it finds the status", () =>
    Effect.gen(function* () {
      const statuses = yield* TicketStatuses
      const scene = yield* makeBoard
      const missing = newId<string>()
      assert.deepStrictEqual(yield* whoMay(scene, statuses.list()), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, statuses.list(teamKey())), everyRole)
      const make = statuses.create({ team: teamKey(), name: "New", category: "started" })
      assert.deepStrictEqual(yield* whoMay(scene, make), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, statuses.update(missing, { name: "New" })), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, statuses.delete(missing)), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, statuses.reorder(missing, { after: null })), adminsAndUp)
    })
  )

  it.effect("lists the template of every new workspace, in board order", () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const { owner } = yield* makeScene
      const { id, name, slug } = yield* workspaces.create({ slug: unique("made"), name: "Made" }).pipe(as(owner))
      const inside = { ...owner, membership: { id, slug, name, role: "owner" as const } }
      const listed = yield* list(inside)
      assert.deepStrictEqual(
        listed.map(({ id: _, ...status }) => status),
        [
          { name: "Backlog", category: "backlog", position: 0, isDefault: true },
          { name: "Todo", category: "unstarted", position: 0, isDefault: false },
          { name: "In progress", category: "started", position: 0, isDefault: false },
          { name: "Done", category: "completed", position: 0, isDefault: false },
          { name: "Canceled", category: "canceled", position: 0, isDefault: false }
        ]
      )
      assert.lengthOf(new Set(listed.map((status) => status.id)), 5)
    })
  )

  it.effect("lists the statuses of a team to those who see it; for others the team does not exist", () =>
    Effect.gen(function* () {
      const { admin, member, memberKey, viewer, workspace } = yield* makeBoard
      const secret = yield* addTeam(workspace.id, { visibility: "private" })
      const insider = yield* addMember(workspace, "viewer")
      yield* addTeamMember(secret, insider)
      for (const caller of [admin, insider]) assert.lengthOf(yield* list(caller, secret.key), 5)
      for (const caller of [member, viewer, memberKey]) {
        for (const key of [secret.key, teamKey(), "", "eng", secret.id]) {
          const error = yield* Effect.flip(list(caller, key))
          assert.deepStrictEqual(
            [error._tag, error.message],
            ["NotFound", `team: there is no team "${repeated(key)}" that you can see.`]
          )
        }
      }
    })
  )

  it.effect("puts a new status last in its category, in a team or in the template, and records an event", () =>
    Effect.gen(function* () {
      const scene = yield* makeBoard
      const { admin, adminKey, team, viewer, workspace } = scene
      const statuses = yield* TicketStatuses
      for (const [key, path] of [
        [team.key, `teams/${team.key}/ticket-statuses`],
        [null, "settings/ticket-statuses"]
      ] as const) {
        const made = yield* statuses.create({ team: key, name: "In review", category: "started" }).pipe(as(adminKey))
        assert.deepStrictEqual(made, {
          id: made.id,
          name: "In review",
          category: "started",
          position: 1,
          isDefault: false
        })
        const next = yield* create(scene, key, "In test")
        assert.strictEqual(next.position, 2)
        const listed = yield* list(viewer, key ?? undefined)
        assert.deepStrictEqual(namesOf(listed), [
          "Backlog",
          "Todo",
          "In progress",
          "In review",
          "In test",
          "Done",
          "Canceled"
        ])
        const event = (yield* eventsOf(workspace)).at(-2)
        assert.strictEqual(event?.kind, "status_created")
        assert.deepStrictEqual(event?.actor, adminKey.principal)
        assert.deepStrictEqual(
          [event?.subjectType, event?.subjectId, event?.subjectLabel, event?.subjectPath],
          ["status", made.id, "In review", path]
        )
      }
      // Left out, the team is none.
      const shared = yield* statuses.create({ name: "Shared", category: "backlog" }).pipe(as(admin))
      assert.deepInclude(yield* list(viewer), shared)
      assert.strictEqual(yield* refusal(create(scene, teamKey(), "Lost")), "NotFound")
    })
  )

  it.effect("shows events of a private team to those who see it, and finds no status of another workspace", () =>
    Effect.gen(function* () {
      const statuses = yield* TicketStatuses
      const scene = yield* makeBoard
      const secret = yield* addTeam(scene.workspace.id, { visibility: "private" })
      const made = yield* create(scene, secret.key, "Hush")
      yield* statuses.update(made.id, { name: "Hushed" }).pipe(as(scene.admin))
      yield* statuses.reorder(made.id, { after: null }).pipe(as(scene.admin))
      yield* statuses.delete(made.id).pipe(as(scene.admin))
      assert.deepStrictEqual(
        (yield* newestEvents.pipe(as(scene.owner))).map(({ kind, subject }) => [kind, subject.label]),
        [
          ["status_deleted", "Hushed"],
          ["status_updated", "Hushed"],
          ["status_updated", "Hushed"],
          ["status_created", "Hush"]
        ]
      )
      assert.deepStrictEqual(yield* newestEvents.pipe(as(scene.member)), [])

      const stranger = (yield* makeScene).owner
      const own = yield* find(scene.admin, scene.team.key, "Todo")
      for (const ref of [own.id, newId<string>(), "", "Todo", "\u0000"]) {
        for (const call of [
          statuses.update(ref, { name: "Mine" }),
          statuses.delete(ref),
          statuses.reorder(ref, { after: null })
        ]) {
          const error = yield* Effect.flip(call.pipe(as(stranger)))
          assert.deepStrictEqual(
            [error._tag, error.message],
            ["NotFound", `There is no ticket status "${repeated(ref)}" that you can see.`]
          )
        }
      }
    })
  )

  it.effect("renames a status, and records nothing if nothing differs", () =>
    Effect.gen(function* () {
      const statuses = yield* TicketStatuses
      const { admin, team, viewer, workspace } = yield* makeBoard
      const status = yield* find(viewer, team.key, "Todo")
      const renamed = yield* statuses.update(status.id, { name: "Next" }).pipe(as(admin))
      assert.deepStrictEqual(renamed, { ...status, name: "Next" })
      assert.deepStrictEqual(yield* find(viewer, team.key, "Next"), renamed)
      for (const input of [{}, { name: "Next" }]) {
        assert.deepStrictEqual(yield* statuses.update(status.id, input).pipe(as(admin)), renamed)
      }
      const recased = yield* statuses.update(status.id, { name: "NEXT" }).pipe(as(admin))
      assert.strictEqual(recased.name, "NEXT")
      const events = yield* eventsOf(workspace)
      assert.deepStrictEqual(
        events.map(({ changes, kind }) => [kind, changes]),
        [
          ["status_updated", [{ field: "name", from: "Todo", to: "Next" }]],
          ["status_updated", [{ field: "name", from: "Next", to: "NEXT" }]]
        ]
      )
    })
  )

  it.effect("refuses a name in use in the team or template, in any case, and changes nothing", () =>
    Effect.gen(function* () {
      const statuses = yield* TicketStatuses
      const scene = yield* makeBoard
      const other = yield* addTeam(scene.workspace.id)
      for (const team of [scene.team.key, null]) {
        const status = yield* find(scene.viewer, team, "Todo")
        for (const name of ["Done", "dONE"]) {
          assert.strictEqual(yield* refusal(create(scene, team, name, "backlog")), "Conflict name_in_use")
          const rename = statuses.update(status.id, { name }).pipe(as(scene.admin))
          assert.strictEqual(yield* refusal(rename), "Conflict name_in_use")
        }
      }
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), [])
      assert.lengthOf(yield* list(scene.viewer, scene.team.key), 5)
      // Another team's and the template's do not matter.
      yield* create(scene, other.key, "Fresh")
      yield* create(scene, null, "Fresh")
      yield* create(scene, scene.team.key, "Fresh")
    })
  )

  it.effect("moves the default among backlog and unstarted statuses, and new tickets follow", () =>
    Effect.gen(function* () {
      const statuses = yield* TicketStatuses
      const tickets = yield* Tickets
      const scene = yield* makeBoard
      const { admin, member, team, viewer, workspace } = scene
      const begun = yield* list(viewer, team.key)
      const [backlog, todo, started, done, canceled] = begun
      const makeDefault = (status: TicketStatus | undefined, name?: string) =>
        statuses.update(status!.id, { isDefault: true, ...(name === undefined ? {} : { name }) }).pipe(as(admin))
      const bornIn = Effect.map(
        tickets.create({ team: team.key, title: "New" }).pipe(as(member)),
        (ticket) => ticket.status.id
      )
      assert.strictEqual(yield* bornIn, backlog!.id)
      for (const status of [started, done, canceled]) {
        assert.strictEqual(yield* refusal(makeDefault(status, "Renamed")), "Conflict category_cannot_be_default")
      }
      assert.deepStrictEqual(yield* list(viewer, team.key), begun)
      assert.deepStrictEqual(yield* makeDefault(todo, "Next"), { ...todo, name: "Next", isDefault: true })
      assert.deepStrictEqual(
        (yield* list(viewer, team.key)).map(({ isDefault }) => isDefault),
        [false, true, false, false, false]
      )
      assert.deepStrictEqual((yield* eventsOf(workspace)).at(-1)?.changes, [
        { field: "name", from: "Todo", to: "Next" },
        { field: "isDefault", from: "false", to: "true" }
      ])
      assert.strictEqual(yield* bornIn, todo!.id)
      const before = yield* kindsOf(workspace)
      yield* makeDefault(todo)
      assert.deepStrictEqual(yield* kindsOf(workspace), before)
      yield* makeDefault(backlog)
      assert.strictEqual(yield* bornIn, backlog!.id)
      // The template and other teams keep theirs.
      assert.deepStrictEqual(
        (yield* list(viewer)).map(({ isDefault }) => isDefault),
        [true, false, false, false, false]
      )
    })
  )

  it.describe("delete", () => {
    it.effect("refuses the default, the last of a category, and a status with tickets, with a reason each", () =>
      Effect.gen(function* () {
        const statuses = yield* TicketStatuses
        const scene = yield* makeBoard
        const { admin, team, viewer, workspace } = scene
        const remove = (id: string, moveTo?: string) => refusal(statuses.delete(id, moveTo).pipe(as(admin)))
        const review = yield* create(scene, team.key, "In review")
        const later = yield* create(scene, team.key, "Later", "backlog")
        yield* addTicket(team, { statusId: review.id })
        const recorded = yield* kindsOf(workspace)
        const [backlog, , todo, started, , done, canceled] = yield* list(viewer, team.key)
        assert.strictEqual(yield* remove(backlog!.id), "Conflict is_default")
        assert.strictEqual(yield* remove(backlog!.id, later.id), "Conflict is_default")
        for (const status of [todo, done, canceled]) {
          assert.strictEqual(yield* remove(status!.id), "Conflict last_in_category")
          assert.strictEqual(yield* remove(status!.id, started!.id), "Conflict last_in_category")
        }
        assert.strictEqual(yield* remove(review.id), "Conflict has_tickets")
        assert.lengthOf(yield* list(viewer, team.key), 7)
        assert.deepStrictEqual(yield* kindsOf(workspace), recorded)
      })
    )

    it.effect("refuses a target of another team, and the status itself", () =>
      Effect.gen(function* () {
        const statuses = yield* TicketStatuses
        const scene = yield* makeBoard
        const { admin, team, viewer, workspace } = scene
        const other = yield* addTeam(workspace.id)
        const review = yield* create(scene, team.key, "In review")
        const foreign = [yield* find(viewer, other.key, "Done"), yield* find(viewer, null, "Done")]
        for (const moveTo of [...foreign.map(({ id }) => id), newId<string>(), "Done", "\u0000"]) {
          const error = yield* Effect.flip(statuses.delete(review.id, moveTo).pipe(as(admin)))
          assert.deepStrictEqual(
            [error._tag, error.message],
            ["NotFound", `moveTo: there is no ticket status "${repeated(moveTo)}" that you can see.`]
          )
        }
        const same = yield* Effect.flip(statuses.delete(review.id, review.id).pipe(as(admin)))
        assert.strictEqual(same._tag, "InvalidInput")
        assert.deepStrictEqual("issues" in same ? same.issues.map(({ path }) => path) : [], [["moveTo"]])
        // A missing object is reported before other errors.
        const missing = newId<string>()
        const error = yield* Effect.flip(statuses.delete(missing, missing).pipe(as(admin)))
        assert.strictEqual(error.message, `There is no ticket status "${repeated(missing)}" that you can see.`)
        assert.lengthOf(yield* list(viewer, team.key), 6)
      })
    )

    it.effect(
      "moves tickets to the target, in their order and with the dates of its category, and records one event",
      () =>
        Effect.gen(function* () {
          const statuses = yield* TicketStatuses
          const tickets = yield* Tickets
          const scene = yield* makeBoard
          const { admin, member, team, viewer, workspace } = scene
          const review = yield* create(scene, team.key, "In review")
          const [done, started] = [yield* find(viewer, team.key, "Done"), yield* find(viewer, team.key, "In progress")]
          const make = (title: string, status: TicketStatus) =>
            tickets.create({ team: team.key, title, status: status.id }).pipe(as(member))
          const before = []
          for (const [title, status] of [
            ["a", done],
            ["b", review],
            ["c", done],
            ["d", review],
            ["e", started]
          ] as const) {
            before.push(yield* make(title, status))
          }
          yield* TestClock.adjust("1 minute")
          const at = yield* now
          yield* statuses.delete(review.id, done.id).pipe(as(admin))
          const after = yield* tickets.list({ team: team.key }).pipe(as(viewer))
          assert.deepStrictEqual(
            after.map(({ status, title }) => `${title} ${status.name}`),
            ["e In progress", "a Done", "b Done", "c Done", "d Done"]
          )
          for (const { plan: _, ...ticket } of before) {
            const moved = {
              status: { id: done.id, name: "Done", category: "completed" as const },
              completedAt: at,
              updatedAt: at
            }
            const expected = ticket.status.id === review.id ? { ...ticket, ...moved } : ticket
            assert.deepStrictEqual(
              after.find(({ id }) => id === ticket.id),
              expected
            )
            assert.strictEqual(ticket.startedAt === null, ticket.status.id === done.id)
          }
          const [event, ...more] = (yield* eventsOf(workspace)).slice(1 + before.length)
          assert.deepStrictEqual(
            [event?.kind, event?.subjectLabel, event?.changes],
            ["status_deleted", "In review", [{ field: "tickets", from: "In review", to: "Done" }]]
          )
          assert.deepStrictEqual(more, [])
          assert.notInclude(namesOf(yield* list(viewer, team.key)), "In review")
        })
    )

    it.effect("needs no target without tickets or in the template, and frees the name", () =>
      Effect.gen(function* () {
        const statuses = yield* TicketStatuses
        const scene = yield* makeBoard
        const { admin, team, viewer } = scene
        for (const key of [team.key, null]) {
          const review = yield* create(scene, key, "In review")
          const target = yield* find(viewer, key, "Done")
          yield* statuses.delete(review.id).pipe(as(admin))
          const again = yield* create(scene, key, "In review")
          assert.notStrictEqual(again.id, review.id)
          yield* statuses.delete(again.id, target.id).pipe(as(admin))
          assert.strictEqual(yield* refusal(statuses.delete(again.id).pipe(as(admin))), "NotFound")
          assert.lengthOf(yield* list(viewer, key ?? undefined), 5)
        }
      })
    )
  })

  it.describe("reorder", () => {
    it.effect("moves like an array, within its category", () =>
      Effect.gen(function* () {
        const statuses = yield* TicketStatuses
        const scene = yield* makeBoard
        const { admin, viewer, workspace } = scene
        for (const key of [scene.team.key, null]) {
          for (const name of ["B", "C", "D"]) yield* create(scene, key, name)
          const inOrder = Effect.map(list(viewer, key ?? undefined), (all) =>
            all.filter(({ category }) => category === "started")
          )
          const others = Effect.map(list(viewer, key ?? undefined), (all) =>
            all.filter(({ category }) => category !== "started")
          )
          const untouched = yield* others
          const ids = (yield* inOrder).map(({ id }) => id)
          let model: ReadonlyArray<string> = ids
          for (const moved of ids) {
            for (const beside of [...ids, null]) {
              for (const side of ["before", "after"] as const) {
                if (beside === moved || (beside === null && side === "before")) continue
                const rest = model.filter((id) => id !== moved)
                const at = beside === null ? 0 : rest.indexOf(beside) + (side === "after" ? 1 : 0)
                const recorded = (yield* kindsOf(workspace)).length
                const isMoved = model.indexOf(moved) !== at
                model = rest.toSpliced(at, 0, moved)
                const place = side === "after" ? { after: beside } : { before: beside! }
                const answered = yield* statuses.reorder(moved, place).pipe(as(admin))
                assert.deepStrictEqual(
                  (yield* inOrder).map(({ id }) => id),
                  model
                )
                assert.deepStrictEqual(answered, yield* list(viewer, key ?? undefined))
                assert.strictEqual((yield* kindsOf(workspace)).length, recorded + (isMoved ? 1 : 0))
              }
            }
          }
          assert.deepStrictEqual(yield* others, untouched)
        }
        const last = (yield* eventsOf(workspace)).at(-1)
        assert.strictEqual(last?.kind, "status_updated")
        assert.deepStrictEqual(
          last?.changes.map(({ field }) => field),
          ["position"]
        )
      })
    )

    it.effect("refuses itself, another category, and another team", () =>
      Effect.gen(function* () {
        const statuses = yield* TicketStatuses
        const scene = yield* makeBoard
        const { admin, team, viewer, workspace } = scene
        const other = yield* addTeam(workspace.id)
        const review = yield* create(scene, team.key, "In review")
        const done = yield* find(viewer, team.key, "Done")
        const foreign = yield* find(viewer, other.key, "In progress")
        const shared = yield* find(viewer, null, "In progress")
        for (const side of ["before", "after"] as const) {
          const reorder = (id: string, beside: string) =>
            Effect.flip(
              statuses.reorder(id, side === "before" ? { before: beside } : { after: beside }).pipe(as(admin))
            )
          const itself = yield* reorder(review.id, review.id)
          assert.strictEqual(itself._tag, "InvalidInput")
          assert.deepStrictEqual("issues" in itself ? itself.issues.map(({ path }) => path) : [], [[side]])
          const across = yield* reorder(review.id, done.id)
          assert.deepInclude(across, { _tag: "Conflict", reason: "other_category" })
          for (const beside of [foreign.id, shared.id, newId<string>(), "Done", "\u0000"]) {
            const missing = yield* reorder(review.id, beside)
            assert.strictEqual(
              missing.message,
              `${side}: there is no ticket status "${repeated(beside)}" that you can see.`
            )
          }
        }
        assert.deepStrictEqual(yield* kindsOf(workspace), ["status_created"])
      })
    )
  })

  it.effect("updates names in filters of views that show tickets of the team", () =>
    Effect.gen(function* () {
      const statuses = yield* TicketStatuses
      const views = yield* Views
      const scene = yield* makeBoard
      const { admin, team, viewer, workspace } = scene
      const [same, different] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id)]
      // Its team has no status with this name.
      const todoOfDifferent = yield* find(viewer, different.key, "Todo")
      yield* statuses.update(todoOfDifferent.id, { name: "Open" }).pipe(as(admin))
      const single = yield* addProject(workspace.id, { teams: [team.id, different.id] })
      const mixed = yield* addProject(workspace.id, { teams: [team.id, same.id] })
      const abroad = yield* addProject(workspace.id, { teams: [same.id] })
      const filters = { statuses: ["Backlog", "tODO", "Done"] }
      type Input = Parameters<typeof views.create>[0]
      const inputs: Record<string, Pick<Input, "scope" | "filters">> = {
        workspace: { scope: { kind: "workspace" }, filters },
        "workspace, this team": { scope: { kind: "workspace" }, filters: { ...filters, teams: [team.key] } },
        "workspace, this and the different": {
          scope: { kind: "workspace" },
          filters: { ...filters, teams: [team.key, different.key] }
        },
        "workspace, the same": { scope: { kind: "workspace" }, filters: { ...filters, teams: [same.key] } },
        team: { scope: { kind: "team", key: team.key }, filters },
        "team, others": { scope: { kind: "team", key: team.key }, filters: { statuses: ["Done"] } },
        "the same team": { scope: { kind: "team", key: same.key }, filters },
        "project of this and the different": { scope: { kind: "project", key: single.slug }, filters },
        "project of this and the same": { scope: { kind: "project", key: mixed.slug }, filters },
        "project of this and the same, this team": {
          scope: { kind: "project", key: mixed.slug },
          filters: { ...filters, teams: [team.key] }
        },
        "project of the same": { scope: { kind: "project", key: abroad.slug }, filters }
      }
      const made: Record<string, { readonly id: string; readonly updatedAt: string }> = {}
      for (const [name, input] of Object.entries(inputs))
        made[name] = yield* views.create({ name, ...input }).pipe(as(admin))

      const all = Effect.gen(function* () {
        const scopes = [{}, { team: team.key }, { team: same.key }]
        const projects = [single, mixed, abroad].map(({ slug }) => ({ project: slug }))
        const lists = yield* Effect.forEach([...scopes, ...projects], (scope) => views.list(scope).pipe(as(viewer)))
        return lists.flat().filter(({ name }) => name in made)
      })
      const changed = (before: Effect.Success<typeof all>, after: Effect.Success<typeof all>) =>
        Object.fromEntries(
          after
            .filter((view, i) => view.updatedAt !== before[i]?.updatedAt)
            .map(({ filters, name }) => [name, filters.statuses])
        )

      const before = yield* all
      assert.lengthOf(before, Object.keys(inputs).length)
      yield* TestClock.adjust("1 minute")
      const todo = yield* find(viewer, team.key, "Todo")
      yield* statuses.update(todo.id, { name: "Next" }).pipe(as(admin))
      const renamed = yield* all
      const alone = ["Backlog", "Next", "Done"]
      const both = ["Backlog", "tODO", "Next", "Done"]
      assert.deepStrictEqual(changed(before, renamed), {
        workspace: both,
        "workspace, this team": alone,
        "workspace, this and the different": alone,
        team: alone,
        "project of this and the different": alone,
        "project of this and the same": both,
        "project of this and the same, this team": alone
      })
      for (const view of renamed.filter(({ filters }) => filters.statuses.includes("Next"))) {
        assert.strictEqual(view.updatedAt, yield* now)
      }

      yield* create(scene, team.key, "Later", "unstarted")
      yield* TestClock.adjust("1 minute")
      yield* statuses.delete(todo.id).pipe(as(admin))
      const deleted = yield* all
      assert.deepStrictEqual(changed(renamed, deleted), {
        workspace: ["Backlog", "tODO", "Done"],
        "workspace, this team": ["Backlog", "Done"],
        "workspace, this and the different": ["Backlog", "Done"],
        team: ["Backlog", "Done"],
        "project of this and the different": ["Backlog", "Done"],
        "project of this and the same": ["Backlog", "tODO", "Done"],
        "project of this and the same, this team": ["Backlog", "Done"]
      })

      // A name that another team still has stays where the view shows that team's tickets.
      yield* TestClock.adjust("1 minute")
      const last = yield* find(viewer, same.key, "Todo")
      yield* create(scene, same.key, "Later", "unstarted")
      yield* statuses.delete(last.id).pipe(as(admin))
      assert.deepStrictEqual(changed(deleted, yield* all), {
        workspace: ["Backlog", "Done"],
        "workspace, the same": ["Backlog", "Done"],
        "the same team": ["Backlog", "Done"],
        "project of this and the same": ["Backlog", "Done"],
        "project of the same": ["Backlog", "Done"]
      })

      // The template has no tickets, so no view follows it.
      const present = yield* all
      yield* TestClock.adjust("1 minute")
      const ofTemplate = yield* find(viewer, null, "Done")
      yield* statuses.update(ofTemplate.id, { name: "Finished" }).pipe(as(admin))
      assert.deepStrictEqual(yield* all, present)
    })
  )

  it.effect("changes no filter if the change is refused", () =>
    Effect.gen(function* () {
      const statuses = yield* TicketStatuses
      const views = yield* Views
      const scene = yield* makeBoard
      const { admin, team, viewer } = scene
      const scope = { kind: "team", key: team.key } as const
      const view = yield* views.create({ name: "Mine", scope, filters: { statuses: ["Todo", "Done"] } }).pipe(as(admin))
      const todo = yield* find(viewer, team.key, "Todo")
      yield* refusal(statuses.update(todo.id, { name: "done" }).pipe(as(admin)))
      yield* refusal(statuses.delete(todo.id).pipe(as(admin)))
      assert.deepStrictEqual(yield* views.list({ team: team.key }).pipe(as(viewer)), [view])
    })
  )

  it.describe("under concurrency", () => {
    const all = <A, E, R>(calls: ReadonlyArray<Effect.Effect<A, E, R>>) =>
      Effect.all(calls, { concurrency: "unbounded" })

    it.effect("never leaves a category empty after 20 deletes", () =>
      Effect.gen(function* () {
        const statuses = yield* TicketStatuses
        const scene = yield* makeBoard
        const { admin, team, viewer } = scene
        for (const key of [team.key, null]) {
          const made = [yield* find(viewer, key, "In progress")]
          for (let i = 0; i < 9; i++) made.push(yield* create(scene, key, `Step ${i}`))
          const doubled = [...made, ...made]
          const answers = yield* all(doubled.map(({ id }) => answer(statuses.delete(id).pipe(as(admin)))))
          const left = (yield* list(viewer, key ?? undefined)).filter(({ category }) => category === "started")
          assert.lengthOf(left, 1)
          assert.lengthOf(
            answers.filter((answer) => answer === "ok"),
            9
          )
          for (const refused of answers.filter((answer) => answer !== "ok")) {
            assert.include(["NotFound", "Conflict last_in_category"], refused)
          }
          assert.include(answers, "Conflict last_in_category")
        }
      })
    )

    it.effect("leaves one default after 20 changes: that of the last event", () =>
      Effect.gen(function* () {
        const statuses = yield* TicketStatuses
        const scene = yield* makeBoard
        const { admin, team, viewer, workspace } = scene
        for (const key of [team.key, null]) {
          const made = []
          for (let i = 0; i < 10; i++) {
            made.push(yield* create(scene, key, `Step ${i}`, i % 2 === 0 ? "backlog" : "unstarted"))
          }
          const doubled = [...made, ...made]
          const answers = yield* all(
            doubled.map(({ id }) => answer(statuses.update(id, { isDefault: true }).pipe(as(admin))))
          )
          assert.deepStrictEqual([...new Set(answers)], ["ok"])
          const defaults = (yield* list(viewer, key ?? undefined)).filter(({ isDefault }) => isDefault)
          assert.lengthOf(defaults, 1)
          assert.strictEqual((yield* eventsOf(workspace)).at(-1)?.subjectId, defaults[0]!.id)
        }
      })
    )

    it.effect("keeps one default when it is changed and deleted", () =>
      Effect.gen(function* () {
        const statuses = yield* TicketStatuses
        const scene = yield* makeBoard
        const { admin, team, viewer } = scene
        for (let round = 0; round < 6; round++) {
          const status = yield* create(scene, team.key, `Step ${round}`, "unstarted")
          const [made, deleted] = yield* all([
            answer(statuses.update(status.id, { isDefault: true }).pipe(as(admin))),
            answer(statuses.delete(status.id).pipe(as(admin)))
          ])
          assert.include([["ok", "Conflict is_default"].join(), ["NotFound", "ok"].join()], [made, deleted].join())
          const defaults = (yield* list(viewer, team.key)).filter(({ isDefault }) => isDefault)
          assert.lengthOf(defaults, 1)
          assert.strictEqual(defaults[0]!.id === status.id, made === "ok")
        }
      })
    )

    it.effect("gives a name to one of many requests, and each new status its own position", () =>
      Effect.gen(function* () {
        const scene = yield* makeBoard
        const { team, viewer } = scene
        for (const key of [team.key, null]) {
          const spellings = ["Review", "review", "REVIEW", "rEVIEW", "Review", "review", "REVIEW", "rEVIEW"]
          const answers = yield* all(spellings.map((name) => answer(create(scene, key, name))))
          assert.deepStrictEqual(answers.toSorted(), [...Array<string>(7).fill("Conflict name_in_use"), "ok"])
          yield* all(Array.from({ length: 12 }, (_, i) => create(scene, key, `Step ${i}`)))
          const started = (yield* list(viewer, key ?? undefined)).filter(({ category }) => category === "started")
          assert.lengthOf(new Set(started.map(({ position }) => position)), 14)
        }
      })
    )

    it.effect("loses no status and no position when many move", () =>
      Effect.gen(function* () {
        const statuses = yield* TicketStatuses
        const scene = yield* makeBoard
        const { admin, team, viewer } = scene
        const made = [yield* find(viewer, team.key, "In progress")]
        for (let i = 0; i < 5; i++) made.push(yield* create(scene, team.key, `Step ${i}`))
        const before = new Set(made.map(({ id }) => id))
        yield* all(
          Array.from({ length: 20 }, (_, i) => {
            const [moved, beside] = [made[i % 6]!.id, made[(i * 5 + 1) % 6]!.id]
            const place = i % 3 === 0 ? { after: null } : i % 3 === 1 ? { before: beside } : { after: beside }
            return answer(statuses.reorder(moved, moved === beside ? { after: null } : place).pipe(as(admin)))
          })
        )
        const started = (yield* list(viewer, team.key)).filter(({ category }) => category === "started")
        assert.deepStrictEqual(new Set(started.map(({ id }) => id)), before)
        assert.deepStrictEqual(
          started.map(({ position }) => position),
          [0, 1, 2, 3, 4, 5]
        )
      })
    )

    it.effect("moves tickets that enter a status while it is deleted, or refuses them", () =>
      Effect.gen(function* () {
        const statuses = yield* TicketStatuses
        const tickets = yield* Tickets
        const scene = yield* makeBoard
        const { admin, member, team, viewer } = scene
        const todo = yield* find(viewer, team.key, "Todo")
        for (let round = 0; round < 6; round++) {
          const doomed = yield* create(scene, team.key, `Step ${round}`)
          const movers = yield* Effect.all(Array.from({ length: 4 }, () => addTicket(team, { statusId: todo.id })))
          yield* addTicket(team, { statusId: doomed.id })
          const goes = movers.map(({ id }) => answer(tickets.update(id, { status: doomed.id }).pipe(as(member))))
          const born = Array.from({ length: 3 }, (_, i) =>
            answer(tickets.create({ team: team.key, title: `New ${i}`, status: doomed.id }).pipe(as(member)))
          )
          const [deleted, ...answers] = yield* all([
            answer(statuses.delete(doomed.id, todo.id).pipe(as(admin))),
            ...goes,
            ...born
          ])
          assert.strictEqual(deleted, "ok")
          for (const each of answers) assert.include(["ok", "NotFound"], each)
          const listed = yield* tickets.list({ team: team.key }).pipe(as(viewer))
          assert.deepStrictEqual([...new Set(listed.map(({ status }) => status.id))], [todo.id])
        }
      })
    )

    it.effect("does not delete a status that a ticket is getting", () =>
      Effect.gen(function* () {
        const statuses = yield* TicketStatuses
        const tickets = yield* Tickets
        const scene = yield* makeBoard
        const { admin, member, team, viewer } = scene
        const todo = yield* find(viewer, team.key, "Todo")
        for (let round = 0; round < 8; round++) {
          const status = yield* create(scene, team.key, `Step ${round}`)
          const ticket = yield* addTicket(team, { statusId: todo.id })
          const [deleted, moved] = yield* all([
            answer(statuses.delete(status.id).pipe(as(admin))),
            answer(tickets.update(ticket.id, { status: status.id }).pipe(as(member)))
          ])
          assert.include([["ok", "NotFound"].join(), ["Conflict has_tickets", "ok"].join()], [deleted, moved].join())
          const after = yield* tickets.get(ticket.id).pipe(as(viewer))
          assert.strictEqual(after.status.id, moved === "ok" ? status.id : todo.id)
        }
      })
    )
  })

  // The memory storage checks no values.
  if (storageName !== "memory") {
    it.effect("changes nothing if the event cannot be stored", () =>
      Effect.gen(function* () {
        const statuses = yield* TicketStatuses
        const repo = yield* TicketStatusesRepo
        const scene = yield* makeBoard
        const made = yield* create(scene, scene.team.key, "In review")
        const before = yield* statusesOf(scene.team)
        const unknownKind = { ...scene.admin, principal: { ...scene.admin.principal, kind: "robot" as never } }
        for (const call of [
          statuses.create({ team: scene.team.key, name: "Second", category: "started" }),
          statuses.update(made.id, { name: "Renamed" }),
          statuses.reorder(made.id, { after: null }),
          statuses.delete(made.id)
        ]) {
          assert.strictEqual((yield* Effect.exit(call.pipe(as(unknownKind))))._tag, "Failure")
        }
        assert.deepStrictEqual(yield* statusesOf(scene.team), before)
        assert.lengthOf(yield* repo.list(scene.workspace.id, null), 5)
      })
    )
  }
})
