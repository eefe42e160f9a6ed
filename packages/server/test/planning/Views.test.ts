import { assert } from "@effect/vitest"
import type { TagId } from "@delivery/domain/Ids"
import type { CreateTicket } from "@delivery/domain/planning/Ticket"
import {
  CreateView,
  maxPersonalViews,
  maxSharedViews,
  maxValuesOfView,
  type ReorderView,
  type View,
  type ViewFiltersInput
} from "@delivery/domain/planning/View"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { Milestones } from "../../src/planning/Milestones.ts"
import { Projects } from "../../src/planning/Projects.ts"
import { Tags } from "../../src/planning/Tags.ts"
import { Teams } from "../../src/planning/Teams.ts"
import type { TeamRow } from "../../src/planning/TeamsRepo.ts"
import { TicketStatuses } from "../../src/planning/TicketStatuses.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { Views } from "../../src/planning/Views.ts"
import { ViewsRepo } from "../../src/planning/ViewsRepo.ts"
import {
  addMember,
  answer,
  as,
  type CallerOf,
  eventsOf,
  everyRole,
  kindsOf,
  makeScene,
  membersAndUp,
  newId,
  now,
  refusal,
  unique,
  whoMay
} from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addMilestone } from "./ProjectsScene.ts"
import { addTeam, addTeamMember, seesAll, statusesOf } from "./Scene.ts"
import { addAgent } from "./TicketsScene.ts"
import { newestEvents } from "../events/NewestEvents.ts"

const unfiltered = { categories: [], statuses: [], owners: [], tags: [], teams: [], projects: [], milestones: [] }

/** The field or the noun of what does not exist, without the value that the call sent. */
const missing = <A, R>(call: Effect.Effect<A, { readonly _tag: string; readonly message: string }, R>) =>
  Effect.map(Effect.flip(call), ({ _tag, message }) => {
    assert.strictEqual(_tag, "NotFound")
    return message.replace(/: there is no .*$/s, "").replace(/ ".*" that you can see\.$/s, "")
  })
const noView = "There is no view"

withServicesOnEachStorage("Views", (it, storageName) => {
  /** A workspace with an open team and a private one, whose member is `insider`, and a project of each. */
  const makeTeams = Effect.gen(function* () {
    const projects = yield* Projects
    const scene = yield* makeScene
    const open = yield* addTeam(scene.workspace.id)
    const closed = yield* addTeam(scene.workspace.id, { visibility: "private" })
    const insider = yield* addMember(scene.workspace, "member")
    yield* addTeamMember(closed, insider)
    const projectOf = (key: string) => {
      const slug = unique("project")
      return projects.create({ slug, name: slug, teams: [key] }).pipe(as(insider))
    }
    const [shared, hidden] = [yield* projectOf(open.key), yield* projectOf(closed.key)]
    return { ...scene, scene, open, closed, insider, shared, hidden, projectOf }
  })

  const create = Effect.fnUntraced(function* (caller: CallerOf, fields: Partial<CreateView> = {}) {
    return yield* (yield* Views)
      .create({ name: unique("View"), scope: { kind: "workspace" }, ...fields })
      .pipe(as(caller))
  })

  const names = Effect.fnUntraced(function* (caller: CallerOf, scope: Parameters<Views["Service"]["list"]>[0] = {}) {
    const views = yield* (yield* Views).list(scope).pipe(as(caller))
    assert.deepStrictEqual(
      views.map(({ position }) => position),
      views.map((_, i) => i)
    )
    return views.map(({ name }) => name)
  })

  it.effect("checks the role before it finds the view", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const scene = yield* makeScene
      const unknown = newId<string>()
      const make = Effect.suspend(() => views.create({ name: "Mine", scope: { kind: "workspace" } }))
      assert.deepStrictEqual(yield* whoMay(scene, views.list({})), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, make), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, views.update(unknown, { name: "New" })), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, views.delete(unknown)), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, views.reorder(unknown, { after: null })), membersAndUp)
    })
  )

  it.effect("creates a view of the workspace, a team or a project, last in its scope, and records an event", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const { member, memberKey, open, shared, viewer, workspace } = yield* makeTeams
      const scopes = [
        [{ kind: "workspace" }, {}, 0],
        [{ kind: "team", key: open.key }, { team: open.key }, 0],
        [{ kind: "project", key: shared.slug }, { project: shared.slug }, 4]
      ] as const
      for (const [scope, query, position] of scopes) {
        const name = unique("View")
        const made = yield* views
          .create({ name, scope, layout: "board", group: "milestone", sort: "updated" })
          .pipe(as(member))
        const at = yield* now
        assert.deepStrictEqual(made, {
          id: made.id,
          name,
          scope,
          visibility: "shared",
          filters: unfiltered,
          hiddenFilters: [],
          layout: "board",
          group: "milestone",
          sort: "updated",
          isDefault: false,
          position,
          createdBy: member.principal,
          createdAt: at,
          updatedAt: at
        } satisfies View)
        const second = yield* create(memberKey, { scope })
        assert.deepStrictEqual(
          [second.layout, second.group, second.sort, second.position],
          ["list", "status", null, position + 1]
        )
        assert.deepStrictEqual(second.createdBy, memberKey.principal)
        const listed = yield* views.list(query).pipe(as(viewer))
        assert.deepStrictEqual(listed.slice(position), [made, second])
        const event = (yield* eventsOf(workspace)).at(-2)
        assert.deepStrictEqual(
          [event?.kind, event?.subjectType, event?.subjectId, event?.subjectLabel, event?.subjectPath],
          ["view_created", "view", made.id, name, `views/${made.id}`]
        )
      }
      const both = views.list({ team: open.key, project: shared.slug }).pipe(as(viewer))
      assert.strictEqual(yield* refusal(both), "InvalidInput")
    })
  )

  it.effect("is its person's alone where it is personal, whatever the role of others", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const { admin, insider, member, memberKey, owner, workspace } = yield* makeTeams
      const agent = yield* addAgent(member)
      const eventCount = Effect.map(eventsOf(workspace), (events) => events.length)
      const before = yield* eventCount
      const mine = yield* create(member, { name: "Mine", visibility: "personal" })
      const made = yield* create(agent, { name: "Of my agent", visibility: "personal" })
      const theirs = yield* create(insider, { name: "Theirs", visibility: "personal" })
      assert.deepStrictEqual([mine.visibility, mine.position, made.position, theirs.position], ["personal", 0, 1, 0])
      const shared = yield* create(insider, { name: "Shared" })
      for (const caller of [member, agent])
        assert.deepStrictEqual(yield* names(caller), ["Mine", "Of my agent", "Shared"])
      for (const caller of [admin, owner, memberKey]) {
        assert.deepStrictEqual(yield* names(caller), ["Shared"])
        const calls = [
          views.get(mine.id),
          views.listTickets(mine.id),
          views.update(mine.id, { name: "Taken" }),
          views.update(mine.id, { visibility: "shared" }),
          views.delete(mine.id),
          views.reorder(mine.id, { after: null })
        ]
        for (const call of calls) assert.strictEqual(yield* missing(call.pipe(as(caller))), noView)
        const beside = views.reorder(shared.id, { before: mine.id }).pipe(as(caller))
        assert.strictEqual(yield* refusal(beside), "NotFound")
      }
      // For who sees no other, it is the first already.
      const still = yield* views.reorder(shared.id, { after: null }).pipe(as(admin))
      assert.strictEqual(still.updatedAt, shared.updatedAt)
      assert.deepStrictEqual((yield* views.listTickets(mine.id).pipe(as(agent))).length, 0)
      yield* views.update(mine.id, { name: "Still mine", layout: "board" }).pipe(as(member))
      yield* views.reorder(mine.id, { after: shared.id }).pipe(as(member))
      assert.deepStrictEqual(yield* names(member), ["Of my agent", "Shared", "Still mine"])
      yield* views.delete(made.id).pipe(as(member))
      // Of all that, the event of the shared one alone is there.
      assert.strictEqual(yield* eventCount, before + 1)
      assert.strictEqual(yield* refusal(create(memberKey, { visibility: "personal" })), "Forbidden account_key")
    })
  )

  it.effect("is shared by its person, and taken back by nobody else, which is all that others are told", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const { admin, member, memberKey, viewer, workspace } = yield* makeTeams
      const agent = yield* addAgent(member)
      const { id } = yield* create(agent, { name: "A secret plan", visibility: "personal" })
      const told = Effect.map(eventsOf(workspace), (events) => {
        const { changes, kind, subjectId, subjectLabel } = events.at(-1)!
        return { kind, subjectId, subjectLabel, changes }
      })
      const open = yield* views.update(id, { name: "Plan", layout: "board", visibility: "shared" }).pipe(as(member))
      assert.deepStrictEqual([open.visibility, open.name], ["shared", "Plan"])
      assert.deepStrictEqual(yield* names(viewer), ["Plan"])
      assert.deepStrictEqual(yield* told, {
        kind: "view_updated",
        subjectId: id,
        subjectLabel: "Plan",
        changes: [{ field: "visibility", from: "personal", to: "shared" }]
      })
      const take = views.update(id, { name: "Mine alone", visibility: "personal" })
      assert.strictEqual(yield* refusal(take.pipe(as(admin))), "Forbidden not_creator")
      assert.strictEqual(yield* refusal(take.pipe(as(memberKey))), "Forbidden account_key")
      assert.strictEqual((yield* take.pipe(as(member))).visibility, "personal")
      assert.deepStrictEqual(yield* names(viewer), [])
      assert.deepStrictEqual(yield* told, {
        kind: "view_updated",
        subjectId: id,
        subjectLabel: "Plan",
        changes: [{ field: "visibility", from: "shared", to: "personal" }]
      })
      // What is there already changes nothing.
      assert.strictEqual((yield* take.pipe(as(agent))).name, "Mine alone")
    })
  )

  it.effect("keeps the first views of a project shared", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const { insider, shared } = yield* makeTeams
      const [first] = yield* views.list({ project: shared.slug }).pipe(as(insider))
      const take = views.update(first!.id, { visibility: "personal" }).pipe(as(insider))
      assert.strictEqual(yield* refusal(take), "Conflict is_default")
    })
  )

  it.effect(
    "has as many in a scope, and as many of a person there, as the limit says, however many are sent at once",
    () =>
      Effect.gen(function* () {
        const views = yield* Views
        const { insider, member, shared, viewer } = yield* makeTeams
        const scope = { kind: "project", key: shared.slug } as const
        const many = (count: number, make: Effect.Effect<View, unknown, Views>) =>
          Effect.all(
            Array.from({ length: count }, () => Effect.as(make, "made").pipe(Effect.orElseSucceed(() => "refused"))),
            { concurrency: 8 }
          )
        const made = yield* many(maxSharedViews + 3, create(member, { scope }))
        // The four first ones of the project do not count.
        assert.lengthOf(
          made.filter((one) => one === "made"),
          maxSharedViews
        )
        assert.lengthOf(yield* names(viewer, { project: shared.slug }), maxSharedViews + 4)
        assert.strictEqual(yield* refusal(create(insider, { scope })), "Conflict too_many_views")
        // Personal ones have a limit of their own.
        const own = yield* create(insider, { scope, visibility: "personal" })
        const share = views.update(own.id, { visibility: "shared" }).pipe(as(insider))
        assert.strictEqual(yield* refusal(share), "Conflict too_many_views")
        const personal = yield* many(maxPersonalViews + 3, create(member, { visibility: "personal" }))
        assert.lengthOf(
          personal.filter((one) => one === "made"),
          maxPersonalViews
        )
        assert.strictEqual(yield* refusal(create(member, { visibility: "personal" })), "Conflict too_many_views")
        // Those of other scopes do not count: they may be archived, or seen no more.
        yield* create(member, { scope, visibility: "personal" })
        const open = yield* create(member)
        const take = views.update(open.id, { visibility: "personal" }).pipe(as(member))
        assert.strictEqual(yield* refusal(take), "Conflict too_many_views")
        yield* create(insider, { visibility: "personal" })
      })
  )

  it("has no more values in all filters together than the limit says", () => {
    const isValid = (filters: ViewFiltersInput) =>
      Schema.is(CreateView)({ name: "Many", scope: { kind: "workspace" }, filters })
    const values = (count: number) => Array.from({ length: count }, (_, index) => `value-${index}`)
    const full = { owners: values(100), tags: values(maxValuesOfView - 100) }
    assert.isTrue(isValid(full))
    assert.isFalse(isValid({ ...full, teams: ["ENG"] }))
  })

  it.effect("does not exist for callers who cannot see its team or project", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const { admin, closed, hidden, insider, member, viewer } = yield* makeTeams
      const elsewhere = yield* makeTeams
      const foreign = yield* create(elsewhere.member)
      const [ofTeam, ofProject, ofWorkspace] = [
        yield* create(insider, { scope: { kind: "team", key: closed.key } }),
        yield* create(insider, { scope: { kind: "project", key: hidden.slug } }),
        yield* create(insider)
      ]
      for (const caller of [insider, admin]) {
        assert.deepStrictEqual(yield* names(caller, { team: closed.key }), [ofTeam.name])
        assert.lengthOf(yield* names(caller, { project: hidden.slug }), 5)
        const visible = JSON.stringify(yield* newestEvents.pipe(as(caller)))
        assert.include(visible, ofTeam.id)
        assert.include(visible, ofProject.id)
      }
      for (const caller of [member, viewer]) {
        assert.strictEqual(yield* missing(views.list({ team: closed.key }).pipe(as(caller))), "team")
        assert.strictEqual(yield* missing(views.list({ project: hidden.slug }).pipe(as(caller))), "project")
        const visible = JSON.stringify(yield* newestEvents.pipe(as(caller)))
        assert.notInclude(visible, ofTeam.id)
        assert.notInclude(visible, ofProject.id)
        assert.include(visible, ofWorkspace.id)
      }
      for (const scope of [
        { kind: "team", key: closed.key },
        { kind: "team", key: elsewhere.open.key },
        { kind: "project", key: hidden.slug },
        { kind: "project", key: "none" },
        { kind: "project", key: hidden.id }
      ] as const) {
        assert.strictEqual(yield* missing(create(member, { scope })), "scope.key")
      }
      for (const id of [ofTeam.id, ofProject.id, foreign.id, newId<string>(), "", "none"]) {
        for (const call of [
          views.update(id, { name: "Mine" }),
          views.delete(id),
          views.reorder(id, { after: null }),
          views.reorder(id, { after: id })
        ]) {
          assert.strictEqual(yield* missing(call.pipe(as(member))), noView)
        }
        assert.strictEqual(yield* missing(views.reorder(ofWorkspace.id, { before: id }).pipe(as(member))), "before")
      }
    })
  )

  it.effect("filters by what the caller sees, each value once", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const { admin, closed, hidden, insider, member, open, outsider, shared, viewer, workspace } = yield* makeTeams
      const elsewhere = yield* makeTeams
      const inactive = yield* addMember(workspace, "member", { active: false })
      for (const { id } of [shared, hidden]) yield* addMilestone({ id, workspaceId: workspace.id })
      yield* addMilestone({ id: elsewhere.shared.id, workspaceId: elsewhere.workspace.id })
      const filters: ViewFiltersInput = {
        categories: ["started", "backlog", "started"],
        statuses: ["In review", "in REVIEW", "Next"],
        owners: ["none", viewer.principal.id, "me", "me", inactive.principal.id],
        teams: [open.key, open.key],
        projects: [shared.slug],
        milestones: [`${shared.slug}/1`, `${shared.slug}/1`]
      }
      const expected = {
        categories: ["started", "backlog"],
        statuses: ["In review", "Next"],
        owners: ["none", viewer.principal.id, "me", inactive.principal.id],
        tags: [],
        teams: [open.key],
        projects: [shared.slug],
        milestones: [`${shared.slug}/1`]
      }
      const made = yield* create(member, { filters })
      assert.deepStrictEqual<unknown>(made.filters, expected)
      assert.deepStrictEqual(yield* views.list({}).pipe(as(admin)), [made])
      for (const [field, refs] of [
        ["owners", [outsider.principal.id, elsewhere.member.principal.id, newId<string>(), "ME", "", "you"]],
        ["tags", [newId<string>(), "bug", ""]],
        ["teams", [closed.key, elsewhere.open.key, "NONE", "", open.id]],
        ["projects", [hidden.slug, elsewhere.shared.slug, "none", "", shared.id]],
        ["milestones", [`${hidden.slug}/1`, `${elsewhere.shared.slug}/1`, `${shared.slug}/2`, shared.slug, "1", ""]]
      ] as const) {
        for (const ref of refs) {
          const wrong = { [field]: [...expected[field], ref] }
          assert.strictEqual(yield* missing(create(member, { filters: wrong })), `filters.${field}`)
          const call = views.update(made.id, { filters: wrong }).pipe(as(member))
          assert.strictEqual(yield* missing(call), `filters.${field}`)
        }
      }
      const milestones = [`${hidden.slug}/1`, `${shared.slug}/1`]
      const seen = { teams: [closed.key, open.key], projects: [hidden.slug, shared.slug], milestones }
      const mixed = yield* create(insider, { filters: seen })
      assert.deepInclude(mixed.filters, seen)
      const [, shown] = yield* views.list({}).pipe(as(member))
      assert.deepInclude(shown?.filters, {
        teams: [open.key],
        projects: [shared.slug],
        milestones: [`${shared.slug}/1`]
      })
      // That there is more is told, and not what.
      assert.deepStrictEqual([mixed.hiddenFilters, shown?.hiddenFilters], [[], ["teams", "projects", "milestones"]])
      // Filters follow a new slug.
      const slug = unique("moved")
      yield* (yield* Projects).update(shared.slug, { slug }).pipe(as(member))
      const moved = yield* views.list({}).pipe(as(insider))
      assert.deepStrictEqual(
        moved.map((view) => view.filters.projects),
        [[slug], [hidden.slug, slug]]
      )
      assert.deepStrictEqual(
        moved.map((view) => view.filters.milestones),
        [[`${slug}/1`], [`${hidden.slug}/1`, `${slug}/1`]]
      )
      // And lose a milestone that is deleted.
      yield* (yield* Milestones).delete(slug, 1).pipe(as(member))
      assert.deepStrictEqual(
        (yield* views.list({}).pipe(as(insider))).map((view) => view.filters.milestones),
        [[], [`${hidden.slug}/1`]]
      )
    })
  )

  it.effect("changes the fields that are sent, and replaces filters but for values that the caller cannot see", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const { closed, hidden, insider, member, open, shared, workspace } = yield* makeTeams
      const filters = {
        owners: ["me"],
        teams: [open.key, closed.key],
        projects: [hidden.slug, shared.slug],
        milestones: [`${hidden.slug}/1`, `${shared.slug}/1`]
      }
      for (const { id } of [shared, hidden]) yield* addMilestone({ id, workspaceId: workspace.id })
      const made = yield* create(insider, { filters })
      yield* TestClock.adjust(10)
      const renamed = yield* views.update(made.id, { name: "New name" }).pipe(as(insider))
      assert.deepStrictEqual(renamed, { ...made, name: "New name", updatedAt: yield* now })
      yield* TestClock.adjust(10)
      const laid = yield* views.update(made.id, { layout: "board" }).pipe(as(insider))
      assert.deepStrictEqual(laid, { ...renamed, layout: "board", updatedAt: yield* now })
      assert.deepStrictEqual(yield* views.update(made.id, {}).pipe(as(insider)), laid)
      yield* TestClock.adjust(10)
      const sorted = yield* views.update(made.id, { group: "milestone", sort: "created" }).pipe(as(insider))
      assert.deepStrictEqual(sorted, { ...laid, group: "milestone", sort: "created", updatedAt: yield* now })
      yield* TestClock.adjust(10)
      const grouped = yield* views.update(made.id, { sort: null }).pipe(as(insider))
      assert.deepStrictEqual(grouped, { ...sorted, sort: null, updatedAt: yield* now })
      const same = { name: laid.name, layout: laid.layout, group: grouped.group, sort: null, filters }
      yield* TestClock.adjust(10)
      assert.deepStrictEqual(yield* views.update(made.id, same).pipe(as(insider)), grouped)
      const replaced = yield* views
        .update(made.id, { filters: { categories: ["completed"], projects: [] } })
        .pipe(as(member))
      assert.deepStrictEqual(replaced.filters, { ...unfiltered, categories: ["completed"] })
      const [stored] = yield* views.list({}).pipe(as(insider))
      assert.deepStrictEqual(stored?.filters, {
        ...unfiltered,
        categories: ["completed"],
        teams: [closed.key],
        projects: [hidden.slug],
        milestones: [`${hidden.slug}/1`]
      })
      const events = (yield* eventsOf(workspace)).slice(3)
      assert.deepStrictEqual(
        events.map(({ changes, kind }) => [kind, ...changes]),
        [
          ["view_updated", { field: "name", from: made.name, to: "New name" }],
          ["view_updated", { field: "layout", from: "list", to: "board" }],
          [
            "view_updated",
            { field: "group", from: "status", to: "milestone" },
            { field: "sort", from: null, to: "created" }
          ],
          ["view_updated", { field: "sort", from: "created", to: null }],
          ["view_updated"]
        ]
      )
      const cleared = yield* views.update(made.id, { filters: {} }).pipe(as(insider))
      assert.deepStrictEqual(cleared.filters, unfiltered)
      const mixed = yield* views
        .update(made.id, { filters: { milestones: [`${shared.slug}/1`, "none"] } })
        .pipe(as(insider))
      assert.deepStrictEqual(mixed.filters.milestones, ["none", `${shared.slug}/1`])
      const left = yield* views.update(made.id, { filters: { milestones: ["none"] } }).pipe(as(member))
      assert.deepStrictEqual(left, yield* views.get(made.id).pipe(as(insider)))
      assert.deepStrictEqual(left.filters, { ...unfiltered, milestones: ["none"] })
    })
  )

  it.effect("deletes views, but not the first ones of a project", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const { member, shared, workspace } = yield* makeTeams
      const made = yield* create(member, { scope: { kind: "project", key: shared.slug } })
      const all = yield* views.list({ project: shared.slug }).pipe(as(member))
      for (const { id, isDefault } of all) {
        const outcome = yield* answer(views.delete(id).pipe(as(member)))
        assert.strictEqual(outcome, isDefault ? "Conflict is_default" : "ok")
      }
      assert.deepStrictEqual(yield* names(member, { project: shared.slug }), ["All", "Active", "Backlog", "Done"])
      assert.strictEqual(yield* missing(views.delete(made.id).pipe(as(member))), noView)
      assert.strictEqual((yield* kindsOf(workspace)).at(-1), "view_deleted")
      // They change and move as others do.
      const first = all[0]!
      yield* views.update(first.id, { name: "Everything", filters: { categories: ["started"] } }).pipe(as(member))
      yield* views.reorder(first.id, { after: all[3]!.id }).pipe(as(member))
      assert.deepStrictEqual(yield* names(member, { project: shared.slug }), [
        "Active",
        "Backlog",
        "Done",
        "Everything"
      ])
      assert.strictEqual(yield* answer(views.delete(first.id).pipe(as(member))), "Conflict is_default")
    })
  )

  it.effect("refuses changes while its team or project is archived", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const { admin, member, open, shared } = yield* makeTeams
      const scopes = [
        { kind: "team", key: open.key },
        { kind: "project", key: shared.slug }
      ] as const
      const made = []
      for (const scope of scopes)
        made.push([scope, yield* create(member, { scope }), yield* create(member, { scope })] as const)
      yield* (yield* Teams).archive(open.key).pipe(as(admin))
      yield* (yield* Projects).archive(shared.slug).pipe(as(member))
      for (const [scope, one, two] of made) {
        for (const call of [
          create(member, { scope }),
          views.update(one.id, { name: "New" }).pipe(as(member)),
          views.delete(one.id).pipe(as(member)),
          views.reorder(one.id, { after: two.id }).pipe(as(member))
        ]) {
          assert.strictEqual(yield* refusal(call), "Conflict archived")
        }
      }
      assert.lengthOf(yield* names(member, { team: open.key }), 2)
      assert.lengthOf(yield* names(member, { project: shared.slug }), 6)
      yield* (yield* Projects).restore(shared.slug).pipe(as(member))
      yield* views.update(made[1]![1].id, { name: "New" }).pipe(as(member))
    })
  )

  it.effect("moves like an array within its scope", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const { member, open, shared } = yield* makeTeams
      const context = yield* Effect.context<Views>()
      const ids: Array<string> = []
      for (let i = 0; i < 5; i++) ids.push((yield* create(member, { scope: { kind: "team", key: open.key } })).id)
      const others = [yield* create(member), (yield* views.list({ project: shared.slug }).pipe(as(member)))[0]!]
      for (const { id } of others) {
        const call = views.reorder(ids[0]!, { before: id }).pipe(as(member))
        assert.strictEqual(yield* refusal(call), "Conflict other_scope")
      }
      let model = [...ids]
      const step = fc.record({
        moved: fc.nat(4),
        beside: fc.option(fc.nat(4), { nil: null, freq: 6 }),
        isBefore: fc.boolean()
      })
      const run = Effect.fnUntraced(function* (
        steps: ReadonlyArray<{ moved: number; beside: number | null; isBefore: boolean }>
      ) {
        for (const { beside, isBefore, moved } of steps) {
          const id = ids[moved]!
          const other = beside === null ? null : ids[beside]!
          const place: ReorderView = isBefore && other !== null ? { before: other } : { after: other }
          if (other === id) {
            assert.strictEqual(yield* answer(views.reorder(id, place)), "InvalidInput")
            continue
          }
          const rest = model.filter((each) => each !== id)
          model = rest.toSpliced(other === null ? 0 : rest.indexOf(other) + (isBefore ? 0 : 1), 0, id)
          const view = yield* views.reorder(id, place)
          assert.strictEqual(view.position, model.indexOf(id))
        }
        const listed = yield* views.list({ team: open.key })
        assert.deepStrictEqual<ReadonlyArray<string>>(
          listed.map(({ id }) => id),
          model
        )
      }, as(member))
      const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), (steps) =>
        Effect.runPromiseWith(context)(run(steps))
      )
      yield* Effect.promise(() =>
        fc.assert(property, { numRuns: storageName === "the embedded database" ? 5 : 15, endOnFailure: true })
      )
    })
  )

  it.effect("keeps ranks short when all moves go into one gap, and loses no view when many move concurrently", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const repo = yield* ViewsRepo
      const { member, workspace } = yield* makeTeams
      const ids: Array<string> = []
      for (let i = 0; i < 6; i++) ids.push((yield* create(member)).id)
      let longest = 0
      let isSpread = false
      let before = 0
      // Until no rank fits into the gap any more, and all get new ones.
      for (let i = 0; i < 500 && !isSpread; i++) {
        const moved = ids[1 + (i % 2)]!
        yield* views.reorder(moved, { after: ids[0]! }).pipe(as(member))
        const { length } = (yield* repo.find(seesAll(workspace.id), moved))!.rank
        longest = Math.max(longest, length)
        isSpread = length < before
        before = length
      }
      assert.isTrue(isSpread)
      assert.isAbove(longest, 20)
      assert.isAtMost(longest, 63)
      const moves = Array.from({ length: 50 }, (_, i) => {
        const [moved, beside] = [ids[i % 6]!, ids[(i * 5 + 1) % 6]!]
        return answer(views.reorder(moved, i % 2 === 0 ? { after: beside } : { before: beside }).pipe(as(member)))
      })
      const creates = Array.from({ length: 5 }, () => create(member))
      yield* Effect.all([...moves, ...creates], { concurrency: "unbounded" })
      const listed = yield* views.list({}).pipe(as(member))
      assert.lengthOf(listed, 11)
      assert.includeMembers(
        listed.map(({ id }) => id as string),
        ids
      )
      const ranks = yield* Effect.all(listed.map(({ id }) => repo.find(seesAll(workspace.id), id)))
      assert.lengthOf(new Set(ranks.map((view) => view!.rank)), 11)
    })
  )

  it.effect("lists the tickets of its scope that match its filters and that the caller sees", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const tickets = yield* Tickets
      const tags = yield* Tags
      const projects = yield* Projects
      const { admin, closed, hidden, insider, member, memberKey, open, shared, viewer, workspace } = yield* makeTeams
      yield* projects.update(shared.slug, { teams: [open.key, closed.key] }).pipe(as(insider))
      const [bug, late] = [
        yield* tags.create({ name: unique("bug"), color: "#ff0000" }).pipe(as(admin)),
        yield* tags.create({ name: unique("late"), color: "#00ff00", team: closed.key }).pipe(as(insider))
      ]
      const statusOf = (team: TeamRow, name: string) =>
        Effect.map(statusesOf(team), (statuses) => statuses.find((status) => status.name === name)!.id)
      const add = Effect.fnUntraced(function* (team: TeamRow, status: string, fields: Partial<CreateTicket> = {}) {
        const made = { team: team.key, title: unique("Ticket"), status: yield* statusOf(team, status), ...fields }
        return (yield* tickets.create(made).pipe(as(insider))).identifier
      })
      const agent = yield* addAgent(insider)
      const mine = insider.principal.id
      const [a, b, c, d, e, f] = [
        yield* add(open, "Todo", { owner: mine, project: shared.slug }),
        yield* add(open, "Done", { owner: agent.principal.id, tags: [bug.id] }),
        yield* add(open, "Todo", { tags: [bug.id] }),
        yield* add(closed, "Todo", { owner: mine, project: hidden.slug, tags: [late.id, bug.id] }),
        yield* add(closed, "In progress", { project: shared.slug }),
        yield* add(open, "Backlog", { owner: member.principal.id, project: shared.slug })
      ]
      const shown = Effect.fnUntraced(function* (
        filters: ViewFiltersInput,
        scope: CreateView["scope"] = { kind: "workspace" },
        caller: CallerOf = insider
      ) {
        const view = yield* create(insider, { scope, filters })
        const found = yield* views.listTickets(view.id).pipe(as(caller))
        // In the order of the list of tickets, and as it shows them.
        const all = yield* tickets.list({}).pipe(as(caller))
        const ids = new Set(found.map(({ id }) => id))
        assert.deepStrictEqual(
          found,
          all.filter(({ id }) => ids.has(id))
        )
        return found.map(({ identifier }) => identifier).toSorted()
      })
      const expect = Effect.fnUntraced(function* (expected: ReadonlyArray<string>, ...given: Parameters<typeof shown>) {
        assert.deepStrictEqual(yield* shown(...given), expected.toSorted(), JSON.stringify(given.slice(0, 2)))
      })
      yield* expect([a, b, c, d, e, f], {})
      yield* expect([a, b, c, f], {}, { kind: "workspace" }, member)
      yield* expect([a, c, d, e], { categories: ["unstarted", "started"] })
      yield* expect([a, c, d, f], { statuses: ["TODO", "Backlog"] })
      yield* expect([], { statuses: ["Nowhere"] })
      yield* expect([a, d], { owners: ["me"] })
      yield* expect([f], { owners: ["me"] }, { kind: "workspace" }, member)
      yield* expect([], { owners: ["me"] }, { kind: "workspace" }, memberKey)
      yield* expect([a, b, d], { owners: ["me"] }, { kind: "workspace" }, agent)
      yield* expect([c, e], { owners: ["none"] })
      yield* expect([b, c, e], { owners: ["none", agent.principal.id] })
      yield* expect([b, c, d], { tags: [bug.id] })
      yield* expect([d], { tags: [late.id] })
      yield* expect([d, e], { teams: [closed.key] })
      yield* expect([a, b, c, d, e, f], { teams: [closed.key, open.key] })
      yield* expect([a, e, f], { projects: [shared.slug] })
      yield* expect([a, d, e, f], { projects: [shared.slug, hidden.slug] })
      yield* addMilestone({ id: shared.id, workspaceId: workspace.id })
      const milestones = [`${shared.slug}/1`]
      yield* tickets.update(a, { milestone: 1 }).pipe(as(member), Effect.orDie)
      yield* expect([a], { milestones })
      yield* expect([], { milestones, projects: [hidden.slug] })
      yield* expect([b, c, d, e, f], { milestones: ["none"] })
      yield* expect([a, e, f], { milestones: [...milestones, "none"], projects: [shared.slug] })
      yield* expect([d], { projects: [hidden.slug, shared.slug], statuses: ["Todo"], tags: [bug.id] })
      const ofTeam = { kind: "team", key: open.key } as const
      yield* expect([a, b, c, f], {}, ofTeam)
      yield* expect([a, b, c, f], { teams: [open.key, closed.key] }, ofTeam)
      yield* expect([], { teams: [closed.key] }, ofTeam)
      const ofProject = { kind: "project", key: shared.slug } as const
      yield* expect([a, e, f], {}, ofProject)
      yield* expect([a, f], {}, ofProject, viewer)
      yield* expect([], { projects: [hidden.slug] }, ofProject)
      yield* expect([e], { teams: [closed.key] }, ofProject)
      // What the caller does not see restricts all the same.
      for (const filters of [{ teams: [closed.key] }, { projects: [hidden.slug] }, { tags: [late.id] }]) {
        yield* expect([], filters, { kind: "workspace" }, member)
      }
      const byName = Object.fromEntries(
        (yield* views.list({ project: shared.slug }).pipe(as(insider))).map(({ id, name }) => [name, id])
      )
      for (const [name, expected] of [
        ["All", [a, e, f]],
        ["Active", [a, e]],
        ["Backlog", [f]],
        ["Done", []]
      ] as const) {
        const found = yield* views.listTickets(byName[name]!).pipe(as(admin))
        assert.deepStrictEqual(found.map(({ identifier }) => identifier).toSorted(), [...expected].toSorted())
      }
      // A deleted tag is removed from filters.
      const tagged = yield* create(insider, { filters: { tags: [bug.id, late.id] } })
      const only = yield* create(insider, { filters: { tags: [bug.id] } })
      yield* tags.delete(bug.id).pipe(as(admin))
      const left = (yield* views.list({}).pipe(as(insider))).slice(-2).map((view) => view.filters.tags)
      assert.deepStrictEqual<unknown>(left, [[late.id], []])
      const found = Effect.fnUntraced(function* (id: string) {
        const listed = yield* views.listTickets(id).pipe(as(insider))
        return listed.map(({ identifier }) => identifier).toSorted()
      })
      assert.deepStrictEqual(yield* found(tagged.id), [d])
      assert.deepStrictEqual(yield* found(only.id), [a, b, c, d, e, f].toSorted())
      for (const id of [newId<string>(), "", "none"]) {
        assert.strictEqual(yield* missing(views.listTickets(id).pipe(as(insider))), noView)
      }
    })
  )

  it.effect("follows a renamed or deleted status, and keeps the name if another team has it", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const statuses = yield* TicketStatuses
      const projects = yield* Projects
      const { admin, closed, insider, member, open, shared } = yield* makeTeams
      const elsewhere = yield* makeTeams
      const both = yield* projects
        .create({ slug: unique("both"), name: unique("Both"), teams: [open.key, closed.key] })
        .pipe(as(insider))
      const filters = { statuses: ["Done", "todo", "Later"] }
      const made = {
        workspace: yield* create(member, { filters }),
        filtered: yield* create(member, { filters: { ...filters, teams: [open.key] } }),
        others: yield* create(insider, { filters: { ...filters, teams: [closed.key] } }),
        team: yield* create(member, { filters, scope: { kind: "team", key: open.key } }),
        otherTeam: yield* create(insider, { filters, scope: { kind: "team", key: closed.key } }),
        project: yield* create(member, { filters, scope: { kind: "project", key: shared.slug } }),
        bothTeams: yield* create(member, { filters, scope: { kind: "project", key: both.slug } }),
        without: yield* create(member, { filters: { statuses: ["Done"] } })
      }
      const far = yield* create(elsewhere.member, { filters })
      const queries = [{}, { team: open.key }, { team: closed.key }, { project: shared.slug }, { project: both.slug }]
      const now = Effect.gen(function* () {
        const all = (yield* Effect.all(queries.map((query) => views.list(query).pipe(as(admin))))).flat()
        const names = Object.entries(made).map(([name, { id }]) => [
          name,
          all.find((view) => view.id === id)!.filters.statuses
        ])
        return Object.fromEntries(names) as Record<keyof typeof made, ReadonlyArray<string>>
      })
      const [todo, extra] = [
        (yield* statusesOf(open)).find(({ name }) => name === "Todo")!,
        yield* statuses.create({ team: open.key, name: "Later", category: "unstarted" }).pipe(as(admin))
      ]
      const template = yield* statuses.create({ name: "Todo", category: "unstarted" }).pipe(as(admin))
      yield* statuses.update(template.id, { name: "Planned" }).pipe(as(admin))
      yield* TestClock.adjust(10)
      const renamed = { workspace: made.workspace.updatedAt, otherTeam: made.otherTeam.updatedAt }
      yield* statuses.update(todo.id, { name: "Next" }).pipe(as(admin))
      const kept = ["Done", "todo", "Later"]
      assert.deepStrictEqual(yield* now, {
        workspace: ["Done", "todo", "Next", "Later"],
        filtered: ["Done", "Next", "Later"],
        others: kept,
        team: ["Done", "Next", "Later"],
        otherTeam: kept,
        project: ["Done", "Next", "Later"],
        bothTeams: ["Done", "todo", "Next", "Later"],
        without: ["Done"]
      })
      const [changed] = yield* views.list({}).pipe(as(admin))
      assert.isAbove(Date.parse(changed!.updatedAt), Date.parse(renamed.workspace))
      const [unchanged] = yield* views.list({ team: closed.key }).pipe(as(admin))
      assert.strictEqual(unchanged?.updatedAt, renamed.otherTeam)
      yield* statuses.delete(extra.id).pipe(as(admin))
      assert.deepStrictEqual(yield* now, {
        workspace: ["Done", "todo", "Next"],
        filtered: ["Done", "Next"],
        others: kept,
        team: ["Done", "Next"],
        otherTeam: kept,
        project: ["Done", "Next"],
        bothTeams: ["Done", "todo", "Next"],
        without: ["Done"]
      })
      // Another case is another name; one that the filter has already stands in it once.
      yield* statuses.update(todo.id, { name: "NEXT" }).pipe(as(admin))
      assert.deepStrictEqual((yield* now).team, ["Done", "NEXT"])
      const closedTodo = (yield* statusesOf(closed)).find(({ name }) => name === "Todo")!
      yield* statuses.update(closedTodo.id, { name: "next" }).pipe(as(admin))
      assert.deepStrictEqual((yield* now).workspace, ["Done", "NEXT"])
      const [foreign] = yield* views.list({}).pipe(as(elsewhere.admin))
      assert.deepStrictEqual(foreign, far)
    })
  )

  it.effect("follows a private team's statuses only for those who see the team", () =>
    Effect.gen(function* () {
      const views = yield* Views
      const statuses = yield* TicketStatuses
      const tickets = yield* Tickets
      const { admin, closed, insider, member, open, projectOf, viewer } = yield* makeTeams
      const { slug } = yield* projectOf(open.key)
      yield* (yield* Projects).update(slug, { teams: [open.key, closed.key] }).pipe(as(insider))
      const statusOf = (team: TeamRow, name: string) =>
        Effect.map(statusesOf(team), (all) => all.find((status) => status.name === name)!.id)
      const rename = Effect.fnUntraced(function* (team: TeamRow, from: string, to: string) {
        yield* TestClock.adjust(10)
        yield* statuses.update(yield* statusOf(team, from), { name: to }).pipe(as(admin))
      })
      yield* statuses.create({ team: closed.key, name: "Later", category: "unstarted" }).pipe(as(admin))
      const add = Effect.fnUntraced(function* (team: TeamRow, status: string) {
        const made = { team: team.key, title: "Ticket", project: slug, status: yield* statusOf(team, status) }
        return (yield* tickets.create(made).pipe(as(insider))).identifier
      })
      const [ours, theirs, theirBacklog] = [
        yield* add(open, "Todo"),
        yield* add(closed, "Todo"),
        yield* add(closed, "Backlog")
      ]
      const filters = { statuses: ["Backlog", "Todo", "Later"] }
      const made = [
        yield* create(member, { filters }),
        yield* create(member, { filters, scope: { kind: "project", key: slug } })
      ]
      const read = Effect.fnUntraced(function* (caller: CallerOf) {
        const all = [
          ...(yield* views.list({}).pipe(as(caller))),
          ...(yield* views.list({ project: slug }).pipe(as(caller)))
        ]
        return yield* Effect.forEach(made, ({ id }) =>
          Effect.map(views.listTickets(id).pipe(as(caller)), (found) => ({
            ...all.find((view) => view.id === id)!,
            tickets: found.map(({ identifier }) => identifier).toSorted()
          }))
        )
      })
      const expect = Effect.fnUntraced(function* (
        caller: CallerOf,
        names: ReadonlyArray<string>,
        shown: ReadonlyArray<string>
      ) {
        for (const view of yield* read(caller)) {
          assert.deepStrictEqual([view.filters.statuses, view.tickets], [names, shown.toSorted()])
        }
      })
      const before = yield* Effect.forEach([member, viewer], read)
      yield* expect(member, filters.statuses, [ours])

      yield* rename(closed, "Todo", "Covert")
      yield* statuses.delete(yield* statusOf(closed, "Later")).pipe(as(admin))
      assert.deepStrictEqual(yield* Effect.forEach([member, viewer], read), before)
      for (const caller of [insider, admin]) {
        yield* expect(caller, ["Backlog", "Todo", "Covert"], [ours, theirs, theirBacklog])
        const updates = (yield* read(caller)).map(({ updatedAt }) => updatedAt)
        assert.deepStrictEqual(
          updates,
          made.map(({ updatedAt }) => updatedAt)
        )
      }

      // The private team has a status of the name still that the open one leaves.
      yield* rename(open, "Backlog", "Ideas")
      yield* expect(viewer, ["Ideas", "Todo", "Later"], [ours])
      yield* expect(insider, ["Backlog", "Ideas", "Todo", "Covert"], [ours, theirs, theirBacklog])
      for (const [i, { updatedAt }] of (yield* read(viewer)).entries()) {
        assert.isAbove(Date.parse(updatedAt), Date.parse(made[i]!.updatedAt))
      }

      // Who sends what they are shown changes nothing; who sends other names keeps those that they do not see.
      const send = Effect.fnUntraced(function* (caller: CallerOf, names: ReadonlyArray<string>) {
        yield* TestClock.adjust(10)
        return yield* Effect.forEach(made, ({ id }) =>
          views.update(id, { filters: { statuses: names } }).pipe(as(caller))
        )
      })
      for (const caller of [member, insider]) {
        const all = yield* Effect.forEach([member, insider], read)
        yield* send(caller, (yield* read(caller))[0]!.filters.statuses)
        assert.deepStrictEqual(yield* Effect.forEach([member, insider], read), all)
      }
      for (const answered of yield* send(member, ["Done", "Ideas"])) {
        assert.deepStrictEqual(answered.filters.statuses, ["Done", "Ideas"])
      }
      yield* expect(viewer, ["Done", "Ideas"], [])
      yield* expect(insider, ["Done", "Ideas", "Covert", "Backlog"], [theirs, theirBacklog])
      yield* send(insider, ["Covert", "Todo", "Ideas"])
      yield* expect(viewer, ["Todo", "Ideas"], [ours])
      yield* expect(insider, ["Todo", "Ideas", "Covert"], [ours, theirs])
      const changed = yield* read(viewer)

      // Nothing is lost where it is changed meanwhile.
      yield* Effect.all(
        [
          rename(closed, "Covert", "Hidden"),
          ...made.map(({ id }) => views.update(id, { layout: "board" }).pipe(as(member)))
        ],
        { concurrency: "unbounded" }
      )
      yield* expect(insider, ["Todo", "Ideas", "Hidden"], [ours, theirs])
      assert.deepStrictEqual(
        (yield* read(viewer)).map((view) => view.filters),
        changed.map((view) => view.filters)
      )
      yield* rename(closed, "Hidden", "Todo")
      yield* expect(insider, ["Todo", "Ideas"], [ours, theirs])

      // All who see a view of the team see it change.
      const own = yield* create(insider, { filters, scope: { kind: "team", key: closed.key } })
      yield* rename(closed, "Todo", "Next")
      const [after] = yield* views.list({ team: closed.key }).pipe(as(insider))
      assert.deepStrictEqual(after?.filters.statuses, ["Backlog", "Next", "Later"])
      assert.isAbove(Date.parse(after!.updatedAt), Date.parse(own.updatedAt))
      const resent = views.update(own.id, { filters: { statuses: ["Next", "Done"] } }).pipe(as(insider))
      assert.deepStrictEqual((yield* resent).filters.statuses, ["Next", "Done"])
    })
  )

  // Memory keeps nothing that an older server stored.
  if (storageName !== "memory") {
    it.effect("reads and follows filters that an earlier version stored", () =>
      Effect.gen(function* () {
        const views = yield* Views
        const { admin, closed, insider, member, workspace } = yield* makeTeams
        const { id } = yield* create(member)
        const repo = yield* ViewsRepo
        const view = (yield* repo.find(seesAll(workspace.id), id))!
        yield* repo.update({ ...view, filters: { ...view.filters, statuses: ["Todo"], followed: undefined as never } })
        const shown = (caller: CallerOf) =>
          Effect.map(views.list({}).pipe(as(caller)), (all) => all.map((view) => view.filters.statuses))
        assert.deepStrictEqual(yield* shown(member), [["Todo"]])
        const todo = (yield* statusesOf(closed)).find(({ name }) => name === "Todo")!
        yield* (yield* TicketStatuses).update(todo.id, { name: "Next" }).pipe(as(admin))
        assert.deepStrictEqual(yield* shown(member), [["Todo"]])
        assert.deepStrictEqual(yield* shown(insider), [["Todo", "Next"]])
      })
    )
  }

  it.effect("drops deleted objects from its filters", () =>
    Effect.gen(function* () {
      const repo = yield* ViewsRepo
      const { member, workspace } = yield* makeTeams
      const { id } = yield* create(member)
      const viewer = seesAll(workspace.id)
      const view = (yield* repo.find(viewer, id))!
      yield* repo.update({ ...view, filters: { ...view.filters, tags: [newId<TagId>()] } })
      const [shown] = yield* (yield* Views).list({}).pipe(as(member))
      assert.deepStrictEqual(shown?.filters.tags, [])
    })
  )
})
