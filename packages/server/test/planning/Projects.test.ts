import { assert } from "@effect/vitest"
import type { CreateProject, Project, ReorderProject, UpdateProject } from "@delivery/domain/planning/Project"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { Products } from "../../src/catalog/Products.ts"
import { maxRankLength } from "../../src/planning/Ranks.ts"
import { Projects } from "../../src/planning/Projects.ts"
import { ProjectsRepo } from "../../src/planning/ProjectsRepo.ts"
import { Milestones } from "../../src/planning/Milestones.ts"
import { Teams } from "../../src/planning/Teams.ts"
import type { TeamRow } from "../../src/planning/TeamsRepo.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { Views } from "../../src/planning/Views.ts"
import { addProduct } from "../catalog/Rows.ts"
import {
  addMember,
  answer,
  as,
  assertChain,
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
import { addProject } from "./ProjectsScene.ts"
import { addTeam, addTeamMember, seesAll, statusesOf } from "./Scene.ts"
import { newestEvents } from "../events/NewestEvents.ts"

const nothing = { backlog: 0, unstarted: 0, started: 0, completed: 0, canceled: 0 }

/** The field or the noun of what does not exist, without the value that the call sent. */
const missing = <A, R>(call: Effect.Effect<A, { readonly _tag: string; readonly message: string }, R>) =>
  Effect.map(Effect.flip(call), ({ _tag, message }) => {
    assert.strictEqual(_tag, "NotFound")
    return message.replace(/: there is no .*$/s, "").replace(/ ".*" that you can see\.$/s, "")
  })
const noProject = "There is no project"

withServicesOnEachStorage("Projects", (it, storageName) => {
  /** A workspace with an open team and a private one, whose member is `insider`. */
  const makeTeams = Effect.gen(function* () {
    const scene = yield* makeScene
    const open = yield* addTeam(scene.workspace.id)
    const closed = yield* addTeam(scene.workspace.id, { visibility: "private" })
    const insider = yield* addMember(scene.workspace, "member")
    yield* addTeamMember(closed, insider)
    return { ...scene, scene, open, closed, insider }
  })

  const create = Effect.fnUntraced(function* (
    caller: CallerOf,
    fields: Partial<CreateProject> & Pick<CreateProject, "teams">
  ) {
    const slug = unique("checkout")
    return yield* (yield* Projects).create({ slug, name: `Project ${slug}`, ...fields }).pipe(as(caller))
  })

  const listed = Effect.fnUntraced(function* (
    caller: CallerOf,
    filter: Parameters<Projects["Service"]["list"]>[0] = {}
  ) {
    const projects = yield* (yield* Projects).list(filter).pipe(as(caller))
    return projects.map(({ slug }) => slug)
  })

  it.effect("checks the role before it finds the project", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { open, scene } = yield* makeTeams
      const unknown = unique("unknown")
      const make = Effect.suspend(() => {
        const slug = unique("made")
        return projects.create({ slug, name: slug, teams: [open.key] })
      })
      assert.deepStrictEqual(yield* whoMay(scene, projects.list({})), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, projects.get(unknown)), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, make), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, projects.update(unknown, { name: "New" })), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, projects.reorder(unknown, { after: null })), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, projects.archive(unknown)), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, projects.restore(unknown)), membersAndUp)
    })
  )

  it.effect("creates a project, by default planned, and records an event", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { member, open, owner, viewer, workspace } = yield* makeTeams
      const slug = unique("checkout")
      const made = yield* projects.create({ slug, name: `New ${slug}`, teams: [open.key] }).pipe(as(member))
      const at = yield* now
      const expected: Project = {
        id: made.id,
        slug,
        name: `New ${slug}`,
        summary: null,
        status: "planned",
        lead: null,
        targetDate: null,
        teams: [{ id: open.id, key: open.key, name: open.name, visibility: "open" }],
        products: [],
        milestones: [],
        progress: nothing,
        archivedAt: null,
        createdAt: at,
        updatedAt: at,
        document: null
      }
      assert.deepStrictEqual(made, expected)
      assert.deepStrictEqual(yield* projects.get(slug).pipe(as(viewer)), expected)
      const { document: _, milestones: __, ...summary } = expected
      assert.deepStrictEqual(yield* projects.list({}).pipe(as(owner)), [summary])
      const [event, ...more] = yield* eventsOf(workspace)
      assert.strictEqual(event?.kind, "project_created")
      assert.deepStrictEqual(event?.actor, member.principal)
      assert.deepStrictEqual(
        [event?.subjectType, event?.subjectId, event?.subjectLabel, event?.subjectPath],
        ["project", made.id, `New ${slug}`, `projects/${slug}`]
      )
      assert.deepStrictEqual(more, [])
    })
  )

  it.effect("takes every field, and links each team and product once, by name", () =>
    Effect.gen(function* () {
      const { admin, member, workspace } = yield* makeTeams
      const teams = []
      for (const name of ["Zebra", "team 10", "Team 9"]) teams.push(yield* addTeam(workspace.id, { name }))
      const products = []
      for (const name of ["shop 10", "Shop 2"]) products.push(yield* addProduct(workspace.id, { name }))
      const [zebra, ten, nine] = teams.map(({ key }) => key)
      const slug = unique("checkout")
      const fields = {
        slug,
        name: slug,
        summary: "x".repeat(200),
        status: "active",
        targetDate: "2027-03-31",
        document: "# Goal"
      } as const
      const made = yield* (yield* Projects)
        .create({
          ...fields,
          lead: admin.principal.id,
          teams: [zebra!, ten!, nine!, ten!],
          products: [products[0]!.slug, products[1]!.id, products[0]!.id]
        })
        .pipe(as(member))
      const { email, id, name } = admin.principal
      assert.deepInclude(made, { ...fields, lead: { id, name, email } })
      assert.deepStrictEqual(
        made.teams.map(({ name }) => name),
        ["Team 9", "team 10", "Zebra"]
      )
      assert.deepStrictEqual(
        made.products,
        products.toReversed().map(({ id, name, slug }) => ({ id, slug, name }))
      )
    })
  )

  it.effect("takes an active member as the lead, by id or email address", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { member, memberKey, open, outsider, viewer, workspace } = yield* makeTeams
      const inactive = yield* addMember(workspace, "member", { active: false })
      const elsewhere = yield* makeScene
      const { slug } = yield* create(member, { teams: [open.key] })
      const lead = (lead: string | null) =>
        Effect.map(projects.update(slug, { lead }).pipe(as(member)), (project) => project.lead?.id ?? null)
      for (const ref of [viewer.principal.id, viewer.principal.email, ` ${viewer.principal.email.toUpperCase()} `]) {
        assert.strictEqual(yield* lead(ref), viewer.principal.id)
        assert.isNull(yield* lead(null))
      }
      for (const { id, ...principal } of [
        inactive.principal,
        outsider.principal,
        elsewhere.member.principal,
        memberKey.principal
      ]) {
        for (const ref of [id, ...("email" in principal ? [principal.email] : [])]) {
          assert.strictEqual(yield* missing(projects.update(slug, { lead: ref }).pipe(as(member))), "lead")
          assert.strictEqual(yield* missing(create(member, { teams: [open.key], lead: ref })), "lead")
        }
      }
      for (const ref of [newId<string>(), "", "me", "nobody@example.com"]) {
        assert.strictEqual(yield* missing(projects.update(slug, { lead: ref }).pipe(as(member))), "lead")
      }
    })
  )

  it.effect("links teams that the caller sees, and products, that are not archived", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { admin, closed, insider, member, open, workspace } = yield* makeTeams
      const elsewhere = yield* makeTeams
      const foreign = yield* addProduct(elsewhere.workspace.id)
      const [product, old] = [yield* addProduct(workspace.id), yield* addProduct(workspace.id)]
      const gone = yield* addTeam(workspace.id)
      const linked = yield* create(member, { teams: [open.key, gone.key], products: [old.slug] })
      yield* (yield* Teams).archive(gone.key).pipe(as(admin))
      yield* (yield* Products).archive(old.slug).pipe(as(admin))
      const { slug } = yield* create(member, { teams: [open.key] })
      const both = (fields: Pick<CreateProject, "teams" | "products">, caller = member) => [
        create(caller, fields),
        projects.update(slug, fields).pipe(as(caller))
      ]
      for (const key of [closed.key, elsewhere.open.key, "NONE", "", open.id, open.key.toLowerCase()]) {
        for (const call of both({ teams: [open.key, key] })) assert.strictEqual(yield* missing(call), "teams")
      }
      for (const ref of [foreign.slug, foreign.id, "none", "", newId<string>()]) {
        for (const call of both({ teams: [open.key], products: [product.slug, ref] })) {
          assert.strictEqual(yield* missing(call), "products")
        }
      }
      for (const fields of [{ teams: [gone.key] }, { teams: [open.key], products: [old.id] }]) {
        for (const call of both(fields)) assert.strictEqual(yield* refusal(call), "Conflict archived")
      }
      // Existing links may stay.
      const kept = yield* projects
        .update(linked.slug, { teams: [open.key, gone.key], products: [old.slug, product.slug] })
        .pipe(as(member))
      assert.deepStrictEqual([kept.teams.length, kept.products.length], [2, 2])
      assert.lengthOf((yield* create(insider, { teams: [closed.key, open.key] })).teams, 2)
      assert.lengthOf((yield* create(admin, { teams: [closed.key] })).teams, 1)
    })
  )

  it.effect("refuses slugs and names in use, also of archived and invisible projects", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { closed, insider, member, open } = yield* makeTeams
      const hidden = yield* create(insider, { teams: [closed.key] })
      const archived = yield* create(member, { teams: [open.key] })
      yield* projects.archive(archived.slug).pipe(as(member))
      const other = yield* create(member, { teams: [open.key] })
      for (const { name, slug } of [hidden, archived]) {
        for (const [fields, expected] of [
          [{ slug }, "Conflict slug_in_use"],
          [{ name }, "Conflict name_in_use"],
          [{ slug, name }, "Conflict slug_in_use"]
        ] as const) {
          assert.strictEqual(yield* refusal(create(member, { teams: [open.key], ...fields })), expected)
          assert.strictEqual(yield* refusal(projects.update(other.slug, fields).pipe(as(member))), expected)
        }
      }
      assert.deepStrictEqual(yield* projects.get(other.slug).pipe(as(member)), other)
      const swapped = yield* projects
        .update(other.slug, { slug: unique("free"), name: unique("Free") })
        .pipe(as(member))
      yield* create(member, { teams: [open.key], slug: other.slug, name: other.name })
      assert.notStrictEqual(swapped.slug, other.slug)
    })
  )

  it.effect("hides projects and their teams from callers who cannot see them", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { admin, closed, insider, member, memberKey, open, viewer } = yield* makeTeams
      const mixed = yield* create(insider, { teams: [open.key, closed.key] })
      const hidden = yield* create(insider, { teams: [closed.key] })
      for (const caller of [member, viewer, memberKey]) {
        assert.deepStrictEqual(yield* listed(caller), [mixed.slug])
        const found = yield* projects.get(mixed.slug).pipe(as(caller))
        assert.deepStrictEqual(
          found.teams.map(({ id }) => id),
          [open.id]
        )
        assert.strictEqual(yield* missing(projects.get(hidden.slug).pipe(as(caller))), noProject)
        const unseen = yield* Effect.flip(projects.get(hidden.slug).pipe(as(caller)))
        assert.strictEqual(unseen.message, `There is no project "${hidden.slug}" that you can see.`)
        assert.strictEqual(yield* missing(projects.list({ team: closed.key }).pipe(as(caller))), "team")
        const visible = yield* newestEvents.pipe(as(caller))
        assert.notInclude(JSON.stringify(visible), hidden.slug)
        assert.notInclude(JSON.stringify(visible), `"${closed.key}"`)
      }
      for (const caller of [insider, admin]) {
        assert.deepStrictEqual(yield* listed(caller), [mixed.slug, hidden.slug])
        assert.include(JSON.stringify(yield* newestEvents.pipe(as(caller))), hidden.slug)
      }
      for (const call of [
        projects.update(hidden.slug, { name: "Mine" }),
        projects.reorder(hidden.slug, { after: null }),
        projects.reorder(hidden.slug, { after: hidden.slug }),
        projects.archive(hidden.slug),
        projects.restore(hidden.slug)
      ]) {
        assert.strictEqual(yield* missing(call.pipe(as(member))), noProject)
      }
      for (const [place, field] of [
        [{ before: hidden.slug }, "before"],
        [{ after: hidden.slug }, "after"],
        [{ after: "none" }, "after"]
      ] as const) {
        assert.strictEqual(yield* missing(projects.reorder(mixed.slug, place).pipe(as(member))), field)
      }
      const elsewhere = yield* makeScene
      for (const slug of [mixed.slug, mixed.id, "", "No Slug"]) {
        assert.strictEqual(yield* missing(projects.get(slug).pipe(as(elsewhere.owner))), noProject)
      }
      assert.strictEqual(yield* missing(projects.get(mixed.id).pipe(as(member))), noProject)
    })
  )

  it.effect("lists by priority, filtered by team and product", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { admin, member, open, viewer, workspace } = yield* makeTeams
      const other = yield* addTeam(workspace.id)
      const product = yield* addProduct(workspace.id)
      const [a, b, c, d] = [
        (yield* create(member, { teams: [open.key], products: [product.slug] })).slug,
        (yield* create(member, { teams: [open.key, other.key] })).slug,
        (yield* create(member, { teams: [other.key], products: [product.slug] })).slug,
        (yield* create(member, { teams: [open.key] })).slug
      ]
      assert.deepStrictEqual(yield* listed(viewer), [a, b, c, d])
      assert.deepStrictEqual(yield* listed(viewer, { team: other.key }), [b, c])
      assert.deepStrictEqual(yield* listed(viewer, { product: product.slug }), [a, c])
      assert.deepStrictEqual(yield* listed(viewer, { product: product.id, team: open.key }), [a])
      yield* projects.archive(b).pipe(as(member))
      assert.deepStrictEqual(yield* listed(viewer), [a, c, d])
      assert.deepStrictEqual(yield* listed(viewer, { archived: "only" }), [b])
      assert.deepStrictEqual(yield* listed(viewer, { archived: "include" }), [a, b, c, d])
      assert.deepStrictEqual(yield* listed(viewer, { archived: "only", team: open.key }), [b])
      // Archived teams and products are filters still.
      yield* (yield* Teams).archive(other.key).pipe(as(admin))
      assert.deepStrictEqual(yield* listed(viewer, { team: other.key }), [c])
      const elsewhere = yield* makeTeams
      const foreign = yield* addProduct(elsewhere.workspace.id)
      for (const [filter, field] of [
        [{ team: elsewhere.open.key }, "team"],
        [{ team: "NONE" }, "team"],
        [{ product: foreign.slug }, "product"],
        [{ product: foreign.id }, "product"]
      ] as const) {
        assert.strictEqual(yield* missing(projects.list(filter).pipe(as(viewer))), field)
      }
    })
  )

  it.effect("changes the fields that are sent, clears with null, and records the changes", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { admin, member, open, workspace } = yield* makeTeams
      const product = yield* addProduct(workspace.id)
      let project = yield* create(member, { teams: [open.key] })
      const initial = { ...project, lead: null, products: null }
      const change = Effect.fnUntraced(function* (input: UpdateProject) {
        yield* TestClock.adjust(10)
        const changed = yield* projects.update(project.slug, input).pipe(as(admin))
        const at = yield* now
        const { updatedAt, ...rest } = changed
        assert.strictEqual(updatedAt, at)
        assert.deepStrictEqual(yield* projects.get(changed.slug).pipe(as(member)), changed)
        const expected = { ...project, ...input, lead: rest.lead, products: rest.products }
        const { updatedAt: _, ...before } = expected
        assert.deepStrictEqual(rest, before as typeof rest)
        project = changed
      })
      const { email, id, name } = admin.principal
      yield* change({ name: unique("Renamed") })
      yield* change({ slug: unique("moved") })
      yield* change({ summary: "Short" })
      yield* change({ status: "completed" })
      yield* change({ status: "planned" })
      yield* change({ lead: email })
      assert.deepStrictEqual(project.lead, { id, name, email })
      yield* change({ targetDate: "2028-02-29" })
      yield* change({ document: "x".repeat(100_000) })
      yield* change({ products: [product.slug] })
      assert.deepStrictEqual(project.products, [{ id: product.id, slug: product.slug, name: product.name }])
      const full = project
      const [, ...events] = yield* eventsOf(workspace)
      assert.deepStrictEqual([...new Set(events.map(({ kind }) => kind))], ["project_updated"])
      const long = events.find(({ changes }) => changes[0]?.field === "document")!.changes[0]!
      assert.deepStrictEqual([long.from, long.to], [null, `${"x".repeat(199)}…`])
      assertChain(events, initial, { ...full, lead: email, products: product.slug, document: long.to })
      for (const field of ["summary", "lead", "targetDate", "document"] as const) yield* change({ [field]: null })
      assert.deepInclude(project, { summary: null, lead: null, targetDate: null, document: null })
      yield* change({ products: [] })
      assert.deepStrictEqual(project.products, [])
    })
  )

  it.effect("changes nothing if the request has no changes", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { closed, insider, member, open, workspace } = yield* makeTeams
      const product = yield* addProduct(workspace.id)
      const made = yield* create(insider, {
        teams: [open.key, closed.key],
        products: [product.slug],
        lead: insider.principal.id,
        document: "# Goal"
      })
      yield* TestClock.adjust("1 minute")
      const { document, name, slug, status, summary, targetDate } = made
      const same = { name, slug, status, summary, targetDate, document }
      const links = { lead: insider.principal.email, products: [product.id] }
      for (const input of [{}, same, { ...same, ...links, teams: [closed.key, open.key] }]) {
        assert.deepStrictEqual(yield* projects.update(slug, input).pipe(as(insider)), made)
      }
      yield* projects.update(slug, { teams: [open.key] }).pipe(as(member))
      assert.deepStrictEqual(yield* projects.get(slug).pipe(as(insider)), made)
      assert.deepStrictEqual(yield* kindsOf(workspace), ["project_created"])
    })
  )

  it.effect("replaces teams, keeps links that the caller cannot see, and records an event for each team", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { closed, insider, member, open, workspace } = yield* makeTeams
      const [second, third] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id)]
      const { slug } = yield* create(insider, { teams: [open.key, closed.key] })
      const teams = (caller: CallerOf) =>
        Effect.map(projects.get(slug).pipe(as(caller)), (project) => project.teams.map(({ key }) => key).toSorted())
      const replaced = yield* projects.update(slug, { teams: [second.key, third.key] }).pipe(as(member))
      assert.deepStrictEqual(replaced.teams.map(({ key }) => key).toSorted(), [second.key, third.key].toSorted())
      assert.deepStrictEqual(yield* teams(insider), [closed.key, second.key, third.key].toSorted())
      yield* projects.update(slug, { teams: [second.key] }).pipe(as(insider))
      assert.deepStrictEqual(yield* teams(insider), [second.key])
      yield* projects.update(slug, { teams: [second.key, closed.key] }).pipe(as(insider))
      const seen = (caller: CallerOf) =>
        Effect.map(newestEvents.pipe(as(caller)), (list) =>
          list.flatMap(({ changes }) => changes.map(({ from, to }) => `${from}>${to}`)).toSorted()
        )
      assert.deepStrictEqual(
        yield* seen(insider),
        [
          `${open.key}>null`,
          `null>${second.key}`,
          `null>${third.key}`,
          `${closed.key}>null`,
          `${third.key}>null`,
          `null>${closed.key}`
        ].toSorted()
      )
      assert.deepStrictEqual(
        yield* seen(member),
        (yield* seen(insider)).filter((change) => !change.includes(closed.key))
      )
    })
  )

  it.effect("refuses changes while archived, and goes last when restored", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { member, open, workspace } = yield* makeTeams
      const [a, b, c] = [
        yield* create(member, { teams: [open.key] }),
        (yield* create(member, { teams: [open.key] })).slug,
        (yield* create(member, { teams: [open.key] })).slug
      ]
      yield* TestClock.adjust(10)
      const archived = yield* projects.archive(a.slug).pipe(as(member))
      const at = yield* now
      assert.deepStrictEqual(archived, { ...a, archivedAt: at, updatedAt: at })
      yield* TestClock.adjust(10)
      assert.deepStrictEqual(yield* projects.archive(a.slug).pipe(as(member)), archived)
      assert.deepStrictEqual(yield* projects.get(a.slug).pipe(as(member)), archived)
      for (const call of [
        projects.update(a.slug, { name: "New" }),
        projects.update(a.slug, {}),
        projects.update(a.slug, { teams: [open.key] }),
        projects.reorder(a.slug, { after: null }),
        projects.reorder(a.slug, { before: b }),
        projects.reorder(b, { before: a.slug }),
        projects.reorder(b, { after: a.slug })
      ]) {
        assert.strictEqual(yield* refusal(call.pipe(as(member))), "Conflict archived")
      }
      // A missing project is reported before other errors.
      assert.strictEqual(yield* missing(projects.update(a.slug, { lead: "none" }).pipe(as(member))), "lead")
      assert.strictEqual(yield* missing(projects.reorder(a.slug, { after: "none" }).pipe(as(member))), "after")
      assert.strictEqual(yield* refusal(projects.reorder(a.slug, { after: a.slug }).pipe(as(member))), "InvalidInput")
      const restored = yield* projects.restore(a.slug).pipe(as(member))
      assert.deepStrictEqual(restored, { ...a, updatedAt: yield* now })
      assert.deepStrictEqual(yield* listed(member), [b, c, a.slug])
      yield* TestClock.adjust(10)
      assert.deepStrictEqual(yield* projects.restore(b).pipe(as(member)), yield* projects.get(b).pipe(as(member)))
      assert.deepStrictEqual(yield* projects.restore(a.slug).pipe(as(member)), restored)
      assert.deepStrictEqual(yield* listed(member), [b, c, a.slug])
      assert.deepStrictEqual((yield* kindsOf(workspace)).slice(3), ["project_archived", "project_restored"])
    })
  )

  it.effect("moves a project beside another or to the first place", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { closed, insider, member, open, workspace } = yield* makeTeams
      const slugs = []
      for (let i = 0; i < 4; i++) slugs.push((yield* create(member, { teams: [open.key] })).slug)
      const [a, b, c, d] = slugs as [string, string, string, string]
      const move = Effect.fnUntraced(function* (slug: string, place: ReorderProject) {
        yield* TestClock.adjust(10)
        const moved = yield* projects.reorder(slug, place).pipe(as(member))
        assert.deepStrictEqual(moved, yield* projects.get(slug).pipe(as(member)))
        return { order: yield* listed(member), isChanged: moved.updatedAt === (yield* now) }
      })
      assert.deepStrictEqual(yield* move(d, { after: null }), { order: [d, a, b, c], isChanged: true })
      assert.deepStrictEqual(yield* move(d, { after: a }), { order: [a, d, b, c], isChanged: true })
      assert.deepStrictEqual(yield* move(c, { before: d }), { order: [a, c, d, b], isChanged: true })
      assert.deepStrictEqual(yield* move(a, { after: b }), { order: [c, d, b, a], isChanged: true })
      assert.deepStrictEqual(yield* move(b, { before: c }), { order: [b, c, d, a], isChanged: true })
      const reordered = (yield* kindsOf(workspace)).filter((kind) => kind === "project_reordered")
      assert.lengthOf(reordered, 5)
      // Already there.
      for (const [slug, place] of [
        [b, { after: null }],
        [b, { before: c }],
        [c, { after: b }],
        [a, { after: d }],
        [d, { before: a }]
      ] as const) {
        assert.deepStrictEqual(yield* move(slug, place), { order: [b, c, d, a], isChanged: false })
      }
      assert.lengthOf(
        (yield* kindsOf(workspace)).filter((kind) => kind === "project_reordered"),
        5
      )
      for (const place of [{ before: b }, { after: b }]) {
        const error = yield* Effect.flip(projects.reorder(b, place).pipe(as(member)))
        assert.strictEqual(error._tag, "InvalidInput")
      }
      // Those that the caller does not see keep their places.
      const hidden = (yield* create(insider, { teams: [closed.key] })).slug
      yield* projects.reorder(hidden, { after: c }).pipe(as(insider))
      assert.deepStrictEqual((yield* move(a, { after: c })).order, [b, c, a, d])
      assert.deepStrictEqual(yield* listed(insider), [b, c, a, hidden, d])
      assert.deepStrictEqual((yield* move(b, { before: d })).order, [c, a, b, d])
      assert.deepStrictEqual(yield* listed(insider), [c, a, hidden, b, d])
    })
  )

  it.effect("moves like an array, in any sequence, with archived projects", () =>
    Effect.gen(function* () {
      const { member, open } = yield* makeTeams
      const projects = yield* Projects
      const context = yield* Effect.context<Projects>()
      const slugs: Array<string> = []
      for (let i = 0; i < 6; i++) slugs.push((yield* create(member, { teams: [open.key] })).slug)
      /** In the order of the workspace. */
      let model = [...slugs]
      const archived = new Set<string>()
      const step = fc.record({
        moved: fc.nat(5),
        beside: fc.option(fc.nat(5), { nil: null, freq: 6 }),
        isBefore: fc.boolean(),
        action: fc.constantFrom("move", "move", "move", "move", "archive", "restore")
      })
      const run = Effect.fnUntraced(function* (
        steps: ReadonlyArray<typeof step extends fc.Arbitrary<infer S> ? S : never>
      ) {
        for (const { action, beside, isBefore, moved } of steps) {
          const slug = slugs[moved]!
          if (action === "archive") {
            yield* projects.archive(slug)
            archived.add(slug)
            continue
          }
          if (action === "restore") {
            yield* projects.restore(slug)
            if (archived.delete(slug)) model = [...model.filter((each) => each !== slug), slug]
            continue
          }
          const other = beside === null ? null : slugs[beside]!
          const place = isBefore && other !== null ? { before: other } : { after: other }
          const outcome = yield* answer(projects.reorder(slug, place))
          if (other === slug) assert.strictEqual(outcome, "InvalidInput")
          else if (archived.has(slug) || (other !== null && archived.has(other))) {
            assert.strictEqual(outcome, "Conflict archived")
          } else {
            assert.strictEqual(outcome, "ok")
            const others = model.filter((each) => each !== slug)
            const at = other === null ? 0 : others.indexOf(other) + (isBefore ? 0 : 1)
            model = others.toSpliced(at, 0, slug)
          }
        }
        const all = yield* projects.list({ archived: "include" })
        assert.deepStrictEqual(
          all.map(({ slug }) => slug),
          model
        )
        const present = yield* projects.list({})
        assert.deepStrictEqual(
          present.map(({ slug }) => slug),
          model.filter((slug) => !archived.has(slug))
        )
      }, as(member))
      const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) =>
        Effect.runPromiseWith(context)(run(steps))
      )
      // The projects stay from one sequence to the next, so a failure is not made smaller.
      yield* Effect.promise(() =>
        fc.assert(property, { numRuns: storageName === "the embedded database" ? 10 : 25, endOnFailure: true })
      )
    })
  )

  it.effect("keeps ranks short when all moves go into one gap", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const repo = yield* ProjectsRepo
      const { member, open, workspace } = yield* makeTeams
      const viewer = seesAll(workspace.id)
      const slugs: Array<string> = []
      for (let i = 0; i < 4; i++) slugs.push((yield* addProject(workspace.id, { teams: [open.id] })).slug)
      const [first, a, b, last] = slugs as [string, string, string, string]
      let longest = 0
      let isSpread = false
      let before = 0
      // Until no rank fits into the gap any more, and all get new ones.
      for (let i = 0; i < 500 && !isSpread; i++) {
        // Always directly after the first, so that the gap is halved.
        const moved = i % 2 === 0 ? b : a
        yield* projects.reorder(moved, { after: first }).pipe(as(member))
        const { length } = (yield* repo.findPlace(viewer, moved))!.rank
        longest = Math.max(longest, length)
        if (length < before) isSpread = true
        before = length
        if (i % 50 === 0 || length <= 3) {
          assert.deepStrictEqual(yield* listed(member), [first, moved, moved === a ? b : a, last])
        }
      }
      assert.isTrue(isSpread)
      assert.isAbove(longest, 20)
      assert.isAtMost(longest, maxRankLength)
    })
  )

  it.effect("loses no project when all move concurrently", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const repo = yield* ProjectsRepo
      const { member, open, workspace } = yield* makeTeams
      const slugs: Array<string> = []
      for (let i = 0; i < 10; i++) slugs.push((yield* addProject(workspace.id, { teams: [open.id] })).slug)
      const answers = yield* Effect.all(
        Array.from({ length: 50 }, (_, i) => {
          const [moved, beside] = [slugs[i % 10]!, slugs[(i * 7 + 3) % 10]!]
          const place = i % 5 === 0 ? { after: null } : i % 2 === 0 ? { after: beside } : { before: beside }
          return answer(projects.reorder(moved, place).pipe(as(member)))
        }),
        { concurrency: "unbounded" }
      )
      assert.sameMembers([...new Set(answers)], answers.includes("InvalidInput") ? ["ok", "InvalidInput"] : ["ok"])
      const order = yield* listed(member)
      assert.sameMembers(order, slugs)
      const ranks = yield* Effect.all(slugs.map((slug) => repo.findPlace(seesAll(workspace.id), slug)))
      assert.lengthOf(new Set(ranks.map((place) => place!.rank)), 10)
      // Ten directly after the same one, at once: all are there, and it is still the first.
      const [anchor, ...others] = order as [string, ...Array<string>]
      yield* Effect.all(
        others.map((slug) => projects.reorder(slug, { after: anchor }).pipe(as(member))),
        { concurrency: "unbounded" }
      )
      const after = yield* listed(member)
      assert.strictEqual(after[0], anchor)
      assert.sameMembers(after, slugs)
    })
  )

  it.effect("gives each project its own rank when projects are created, restored and moved concurrently", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { member, open } = yield* makeTeams
      const old = []
      for (let i = 0; i < 5; i++) old.push((yield* create(member, { teams: [open.key] })).slug)
      for (const slug of old.slice(0, 3)) yield* projects.archive(slug).pipe(as(member))
      const made = Array.from({ length: 10 }, () => unique("made"))
      yield* Effect.all(
        [
          ...made.map((slug) => create(member, { slug, teams: [open.key] })),
          ...old.slice(0, 3).map((slug) => projects.restore(slug).pipe(as(member))),
          projects.reorder(old[3]!, { after: old[4]! }).pipe(as(member)),
          projects.reorder(old[4]!, { after: null }).pipe(as(member))
        ],
        { concurrency: "unbounded" }
      )
      const order = yield* listed(member)
      assert.sameMembers(order, [...old, ...made])
      assert.strictEqual(order.length, new Set(order).size)
    })
  )

  it.effect("gives a slug and a name to one of many concurrent requests", () =>
    Effect.gen(function* () {
      const { member, open, workspace } = yield* makeTeams
      for (const field of ["slug", "name"] as const) {
        const fields = { [field]: unique("wanted") }
        const answers = yield* Effect.all(
          Array.from({ length: 10 }, () => answer(create(member, { teams: [open.key], ...fields }))),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(answers.filter((outcome) => outcome === "ok").length, 1)
        assert.deepStrictEqual([...new Set(answers)].toSorted(), [`Conflict ${field}_in_use`, "ok"])
      }
      // Failed requests changed nothing.
      assert.deepStrictEqual(yield* kindsOf(workspace), ["project_created", "project_created"])
      assert.lengthOf(yield* listed(member), 2)
    })
  )

  it.effect("loses no concurrent change", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const { member, open, workspace } = yield* makeTeams
      const made = yield* create(member, { teams: [open.key] })
      yield* Effect.all(
        Array.from({ length: 20 }, (_, i) =>
          projects
            .update(made.slug, i % 2 === 0 ? { summary: `Summary ${i}` } : { name: unique("Name") })
            .pipe(as(member))
        ),
        { concurrency: "unbounded" }
      )
      const [, ...events] = yield* eventsOf(workspace)
      assert.lengthOf(events, 20)
      assertChain(events, { ...made }, { ...(yield* projects.get(made.slug).pipe(as(member))) })
    })
  )

  it.effect("counts the tickets of teams that the caller sees, by the category of their status", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const tickets = yield* Tickets
      const { admin, closed, insider, member, memberKey, open } = yield* makeTeams
      const mixed = yield* create(insider, { teams: [open.key, closed.key] })
      const other = yield* create(insider, { teams: [open.key] })
      const add = Effect.fnUntraced(function* (team: TeamRow, category: StatusCategory, project: string | null) {
        const status = (yield* statusesOf(team)).find((status) => status.category === category)!.id
        return yield* tickets
          .create({ team: team.key, title: category, status, ...(project === null ? {} : { project }) })
          .pipe(as(insider))
      })
      const counts = { backlog: 1, unstarted: 2, started: 3, completed: 4, canceled: 5 }
      for (const [category, count] of Object.entries(counts) as ReadonlyArray<[StatusCategory, number]>) {
        for (let i = 0; i < count; i++) yield* add(open, category, mixed.slug)
      }
      const secret = yield* add(closed, "started", mixed.slug)
      yield* add(closed, "completed", mixed.slug)
      yield* add(open, "started", null)
      yield* add(open, "backlog", other.slug)
      const progressOf = Effect.fnUntraced(function* (caller: CallerOf) {
        const [first, second] = yield* projects.list({}).pipe(as(caller))
        assert.deepStrictEqual(second?.progress, { ...nothing, backlog: 1 })
        assert.deepStrictEqual((yield* projects.get(mixed.slug).pipe(as(caller))).progress, first!.progress)
        return first!.progress
      })
      for (const caller of [member, memberKey]) assert.deepStrictEqual(yield* progressOf(caller), counts)
      const all = { ...counts, started: 4, completed: 5 }
      for (const caller of [insider, admin]) assert.deepStrictEqual(yield* progressOf(caller), all)
      const [filtered] = yield* projects.list({ team: open.key }).pipe(as(admin))
      assert.deepStrictEqual(filtered?.progress, all)
      yield* tickets.update(secret.identifier, { project: other.slug }).pipe(as(admin), Effect.flip)
      yield* tickets.update(secret.identifier, { project: null }).pipe(as(admin))
      assert.deepStrictEqual(yield* progressOf(insider), { ...all, started: 3 })
    })
  )

  it.effect("keeps a team linked while the project holds its tickets", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const tickets = yield* Tickets
      const { member, open, workspace } = yield* makeTeams
      const [second, third] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id)]
      const product = yield* addProduct(workspace.id)
      const made = yield* create(member, {
        teams: [open.key, second.key, third.key],
        products: [product.slug]
      })
      const { slug } = made
      const { identifier } = yield* tickets.create({ team: open.key, title: "Held", project: slug }).pipe(as(member))
      const current = projects.get(slug).pipe(as(member))
      const before = yield* current
      for (const [teams, message] of [
        [[second.key, third.key], `The project holds tickets of the team ${open.key}.`],
        [[second.key], "The project holds tickets of one of the teams "]
      ] as const) {
        const error = yield* Effect.flip(
          projects.update(slug, { teams, products: [], name: unique("New") }).pipe(as(member))
        )
        assert.strictEqual(error._tag === "Conflict" && error.reason, "team_has_tickets")
        assert.include(error.message, message)
      }
      assert.deepStrictEqual(yield* current, before)
      const fewer = yield* projects.update(slug, { teams: [open.key, third.key] }).pipe(as(member))
      assert.lengthOf(fewer.teams, 2)
      yield* tickets.update(identifier, { project: null }).pipe(as(member))
      const unlinked = yield* projects.update(slug, { teams: [third.key] }).pipe(as(member))
      assert.deepStrictEqual(
        unlinked.teams.map(({ id }) => id),
        [third.id]
      )
    })
  )

  it.effect("never holds a ticket of an unlinked team, or takes one while archived, under concurrency", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const tickets = yield* Tickets
      const { member, open, workspace } = yield* makeTeams
      const second = yield* addTeam(workspace.id)
      for (let round = 0; round < 12; round++) {
        const { slug } = yield* create(member, { teams: [open.key, second.key] })
        const loose = yield* tickets.create({ team: open.key, title: "Loose" }).pipe(as(member))
        const isArchiving = round % 4 === 3
        const change = isArchiving ? projects.archive(slug) : projects.update(slug, { teams: [second.key] })
        const puts = [
          tickets.create({ team: open.key, title: "New", project: slug }),
          tickets.update(loose.identifier, { project: slug }),
          tickets.create({ team: open.key, title: "New", project: slug })
        ]
        const calls = puts.map((call) => Effect.asVoid(call)).toSpliced(round % 4, 0, Effect.asVoid(change))
        const answers = yield* Effect.all(
          calls.map((call) => answer(call.pipe(as(member)))),
          { concurrency: "unbounded" }
        )
        const [outcome] = answers.splice(round % 4, 1)
        const project = yield* projects.get(slug).pipe(as(member))
        const held = yield* tickets.list({ project: slug }).pipe(as(member))
        const linked = new Set(project.teams.map(({ id }) => id))
        for (const { team } of held) assert.isTrue(linked.has(team.id))
        assert.lengthOf(held, answers.filter((each) => each === "ok").length)
        const refused = isArchiving ? "Conflict archived" : "Conflict project_not_in_team"
        assert.sameMembers([...new Set(["ok", refused, ...answers])], ["ok", refused])
        if (isArchiving) assert.strictEqual(outcome, "ok")
        else assert.strictEqual(outcome, held.length === 0 ? "ok" : "Conflict team_has_tickets")
      }
    })
  )

  it.effect("is archived by a key, or takes a ticket that needs evidence and blocks: never both", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const tickets = yield* Tickets
      const { member, memberKey, open, workspace } = yield* makeTeams
      const product = yield* addProduct(workspace.id)
      for (let round = 0; round < 12; round++) {
        const { slug } = yield* create(member, { teams: [open.key], products: [product.slug] })
        const put = tickets.create({
          team: open.key,
          title: "Mend it",
          project: slug,
          blocks: true,
          cases: { product: product.slug, caseIds: ["a"] },
          completion: "evidence"
        })
        const archive = answer(projects.archive(slug).pipe(as(memberKey)))
        const puts = [answer(put.pipe(as(member))), answer(put.pipe(as(member)))]
        const answers = yield* Effect.all(puts.toSpliced(round % 3, 0, archive), { concurrency: "unbounded" })
        const [archived] = answers.splice(round % 3, 1)
        const held = yield* tickets.list({ project: slug }).pipe(as(member))
        if (archived === "ok") {
          assert.deepStrictEqual([held.length, ...answers], [0, "Conflict archived", "Conflict archived"])
        } else {
          assert.strictEqual(archived, "Forbidden persons_only")
          assert.include(answers, "ok")
          assert.isNull((yield* projects.get(slug).pipe(as(member))).archivedAt)
        }
      }
    })
  )

  it.effect("clears a deleted milestone from its tickets, also from those added concurrently", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const milestones = yield* Milestones
      const tickets = yield* Tickets
      const { closed, insider, member, open } = yield* makeTeams
      const { slug } = yield* create(insider, { teams: [open.key, closed.key] })
      for (const name of ["First", "Second"]) yield* milestones.create(slug, { name }).pipe(as(member))
      const add = (team: TeamRow, milestone: number) =>
        tickets.create({ team: team.key, title: "Due", project: slug, milestone }).pipe(as(insider))
      const [seen, unseen, other] = [yield* add(open, 1), yield* add(closed, 1), yield* add(open, 2)]
      yield* TestClock.adjust("1 minute")
      const answers = yield* Effect.all(
        [
          answer(add(open, 1)),
          answer(tickets.update(other.identifier, { title: "Changed" }).pipe(as(member))),
          answer(milestones.delete(slug, 1).pipe(as(member))),
          answer(tickets.update(seen.identifier, { title: "Changed" }).pipe(as(member))),
          answer(add(open, 1))
        ],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers.slice(1, 4), ["ok", "ok", "ok"])
      for (const outcome of [answers[0], answers[4]]) assert.include(["ok", "NotFound"], outcome)
      for (const { identifier, updatedAt } of [seen, unseen]) {
        const ticket = yield* tickets.get(identifier).pipe(as(insider))
        assert.deepInclude(ticket, { milestone: null })
        assert.strictEqual(ticket.project?.slug, slug)
        assert.isAbove(Date.parse(ticket.updatedAt), Date.parse(updatedAt))
      }
      const held = yield* tickets.list({ project: slug }).pipe(as(insider))
      assert.deepStrictEqual(
        held.flatMap(({ milestone }) => milestone ?? []),
        [{ number: 2, name: "Second" }]
      )
      const { milestones: left } = yield* projects.get(slug).pipe(as(member))
      assert.deepStrictEqual(
        left.map(({ number }) => number),
        [2]
      )
    })
  )

  it.effect("creates a project with the views All, Active, Backlog and Done", () =>
    Effect.gen(function* () {
      const { member, open, viewer } = yield* makeTeams
      const { createdAt, slug } = yield* create(member, { teams: [open.key] })
      const views = yield* (yield* Views).list({ project: slug }).pipe(as(viewer))
      const filters = { categories: [], statuses: [], owners: [], tags: [], teams: [], projects: [], milestones: [] }
      assert.deepStrictEqual<ReadonlyArray<unknown>>(
        views.map(({ id: _, ...view }) => view),
        [
          ["All", []],
          ["Active", ["unstarted", "started"]],
          ["Backlog", ["backlog"]],
          ["Done", ["completed"]]
        ].map(([name, categories], position) => ({
          name,
          scope: { kind: "project", key: slug },
          visibility: "shared",
          filters: { ...filters, categories },
          hiddenFilters: [],
          layout: "list",
          group: "status",
          sort: null,
          isDefault: true,
          position,
          createdBy: member.principal,
          createdAt,
          updatedAt: createdAt
        }))
      )
    })
  )
})
