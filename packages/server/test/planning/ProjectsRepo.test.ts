import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { MilestonesRepo } from "../../src/planning/MilestonesRepo.ts"
import { ProjectsRepo } from "../../src/planning/ProjectsRepo.ts"
import type { Viewer } from "../../src/planning/Viewer.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { addProduct } from "../catalog/Rows.ts"
import { addPerson, addWorkspace, assertHolds, minute, newId, unique } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"
import { addMilestone, addProject, projectRow } from "./ProjectsScene.ts"
import { addTeam, addTeamMember, seesAll, seesOwn } from "./Scene.ts"

const nothing = { backlog: 0, unstarted: 0, started: 0, completed: 0, canceled: 0 }
const impossibleSlugs = ["", " ", "Checkout", "a b", "a--b", "-a", "a/../x", "ü", "a".repeat(61)]

onEachStorage("Projects repositories", (it) => {
  it.describe("ProjectsRepo", () => {
    it.effect("finds a project of the workspace only by slug, as it was stored", () =>
      Effect.gen(function* () {
        const repo = yield* ProjectsRepo
        const storage = yield* Storage
        const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
        const viewer = seesAll(workspace.id)
        const team = yield* addTeam(workspace.id)
        const product = yield* addProduct(workspace.id)
        const lead = yield* addPerson()
        const row = yield* addProject(
          workspace.id,
          { teams: [team.id], products: [product.id] },
          {
            name: "Ünïcode 🚀 'quoted'",
            summary: "A summary",
            status: "paused",
            leadId: lead.id,
            targetDate: "2028-02-29",
            document: '# Goal\n\n"quoted" \\ back',
            archivedAt: "2026-02-03T04:05:06.789Z",
            updatedAt: minute(2)
          }
        )
        yield* addProject(workspace.id, { teams: [team.id] })
        const [second, first] = [
          yield* addMilestone(row, { summary: "Later" }),
          yield* addMilestone(row, { name: "First" })
        ]
        const { leadId: _, rank, workspaceId: __, ...fields } = row
        const person = { id: lead.id, name: lead.name, email: lead.email }
        const teamRef = { id: team.id, key: team.key, name: team.name, visibility: team.visibility }
        const productRef = { id: product.id, slug: product.slug, name: product.name }
        assert.deepStrictEqual(yield* repo.find(viewer, row.slug), {
          ...fields,
          lead: person,
          teams: [teamRef],
          products: [productRef],
          progress: nothing,
          milestones: [second, first].map(({ id, name, number, summary }) => ({ id, number, name, summary }))
        })
        const { document: ___, ...listed } = fields
        assert.deepStrictEqual(yield* repo.list(viewer, { archived: "only" }), [
          { ...listed, lead: person, teams: [teamRef], products: [productRef], progress: nothing }
        ])
        const held = yield* storage.transaction(repo.lock(viewer, row.slug))
        assert.deepStrictEqual(held && { ...held }, {
          ...row,
          lead: person,
          teams: [{ ...teamRef, isSeen: true }],
          products: [productRef]
        })
        assert.deepStrictEqual(yield* repo.findPlace(viewer, row.slug), {
          id: row.id,
          rank,
          archivedAt: row.archivedAt
        })
        assert.deepStrictEqual(yield* repo.teamsOf(row.id), [team.id])
        const unknown = [...impossibleSlugs, row.id, unique("unknown")]
        const finds: ReadonlyArray<(viewer: Viewer, slug: string) => Effect.Effect<unknown>> = [
          repo.find,
          repo.findPlace,
          repo.lock
        ]
        for (const find of finds) {
          for (const slug of unknown) assert.isUndefined(yield* storage.transaction(find(viewer, slug)), slug)
          assert.isUndefined(yield* storage.transaction(find(seesAll(other.id), row.slug)))
        }
      })
    )

    it.effect("shows a project to viewers who see one of its teams", () =>
      Effect.gen(function* () {
        const repo = yield* ProjectsRepo
        const storage = yield* Storage
        const { id } = yield* addWorkspace()
        const [insider, outsider] = [yield* addPerson(), yield* addPerson()]
        const [open, closed] = [yield* addTeam(id), yield* addTeam(id, { visibility: "private" })]
        yield* addTeamMember(closed, insider)
        const [mixed, hidden] = [
          yield* addProject(id, { teams: [open.id, closed.id] }),
          yield* addProject(id, { teams: [closed.id] })
        ]
        for (const [viewer, teams, projects] of [
          [seesAll(id), [open.id, closed.id], [mixed.slug, hidden.slug]],
          [seesOwn(id, insider.id), [open.id, closed.id], [mixed.slug, hidden.slug]],
          [seesOwn(id, outsider.id), [open.id], [mixed.slug]],
          [seesOwn(id, null), [open.id], [mixed.slug]]
        ] as const) {
          const listed = yield* repo.list(viewer, { archived: "exclude" })
          assert.deepStrictEqual(
            listed.map(({ slug }) => slug),
            [...projects]
          )
          assert.sameMembers(
            listed[0]!.teams.map(({ id }) => id),
            [...teams]
          )
          const sees = projects.length === 2
          assert.sameMembers(
            (yield* repo.find(viewer, mixed.slug))!.teams.map(({ id }) => id),
            [...teams]
          )
          const held = (yield* storage.transaction(repo.lock(viewer, mixed.slug)))!
          assert.sameDeepMembers(
            held.teams.map(({ id, isSeen }) => [id, isSeen] as const),
            [
              [open.id, true],
              [closed.id, sees]
            ]
          )
          assert.strictEqual((yield* repo.find(viewer, hidden.slug)) !== undefined, sees)
          assert.strictEqual((yield* repo.findPlace(viewer, hidden.slug)) !== undefined, sees)
          assert.strictEqual((yield* storage.transaction(repo.lock(viewer, hidden.slug))) !== undefined, sees)
        }
        assert.sameMembers([...(yield* repo.teamsOf(mixed.id))], [open.id, closed.id])
      })
    )

    it.effect("lists in the bytewise order of ranks, filtered", () =>
      Effect.gen(function* () {
        const repo = yield* ProjectsRepo
        const { id } = yield* addWorkspace()
        const viewer = seesAll(id)
        const [one, two] = [yield* addTeam(id), yield* addTeam(id)]
        const product = yield* addProduct(id)
        const ranks = ["a0", "Zz", "a0V", "A9", "aB", "a1", "Zy"]
        for (const [i, rank] of ranks.entries()) {
          yield* addProject(
            id,
            { teams: [i % 2 === 0 ? one.id : two.id], products: i % 3 === 0 ? [product.id] : [] },
            { rank, name: rank, archivedAt: i >= 5 ? minute(i) : null }
          )
        }
        const names = (filter: Partial<Parameters<typeof repo.list>[1]>) =>
          Effect.map(repo.list(viewer, { archived: "include", ...filter }), (listed) => listed.map(({ name }) => name))
        assert.deepStrictEqual(yield* names({}), ["A9", "Zy", "Zz", "a0", "a0V", "a1", "aB"])
        assert.deepStrictEqual(yield* names({ archived: "exclude" }), ["A9", "Zz", "a0", "a0V", "aB"])
        assert.deepStrictEqual(yield* names({ archived: "only" }), ["Zy", "a1"])
        assert.deepStrictEqual(yield* names({ teamId: one.id }), ["Zy", "a0", "a0V", "aB"])
        assert.deepStrictEqual(yield* names({ productId: product.id }), ["A9", "Zy", "a0"])
        assert.deepStrictEqual(yield* names({ teamId: one.id, productId: product.id, archived: "exclude" }), ["a0"])
        assert.deepStrictEqual(yield* names({ teamId: newId() }), [])
      })
    )

    it.effect("updates only the given fields of one project", () =>
      Effect.gen(function* () {
        const repo = yield* ProjectsRepo
        const { id } = yield* addWorkspace()
        const viewer = seesAll(id)
        const team = yield* addTeam(id)
        const lead = yield* addPerson()
        const row = yield* addProject(id, { teams: [team.id] })
        const other = yield* addProject(id, { teams: [team.id] })
        const untouched = yield* repo.find(viewer, other.slug)
        const changes = {
          slug: unique("renamed"),
          name: unique("Renamed"),
          summary: "New",
          status: "canceled",
          leadId: lead.id,
          targetDate: "1970-01-01",
          document: "New",
          rank: "zz0",
          archivedAt: minute(3),
          updatedAt: minute(4)
        } as const
        yield* repo.update(row.id, changes)
        const storage = yield* Storage
        const held = yield* storage.transaction(repo.lock(viewer, changes.slug))
        assert.deepInclude(held, { ...row, ...changes })
        assert.isUndefined(yield* repo.find(viewer, row.slug))
        const cleared = { summary: null, leadId: null, targetDate: null, document: null, archivedAt: null }
        yield* repo.update(row.id, cleared)
        assert.deepInclude(yield* storage.transaction(repo.lock(viewer, changes.slug)), {
          ...row,
          ...changes,
          ...cleared,
          lead: null
        })
        assert.deepStrictEqual(yield* repo.find(viewer, other.slug), untouched)
      })
    )

    it.effect("allows a slug, a name and a rank once in a workspace, archived projects included", () =>
      Effect.gen(function* () {
        const repo = yield* ProjectsRepo
        const [workspace, elsewhere] = [yield* addWorkspace(), yield* addWorkspace()]
        const team = yield* addTeam(workspace.id)
        const taken = yield* addProject(workspace.id, { teams: [team.id] }, { archivedAt: minute(1) })
        const other = yield* addProject(workspace.id, { teams: [team.id] })
        for (const [key, constraint] of [
          ["slug", "projects_slug_key"],
          ["name", "projects_name_key"],
          ["rank", "projects_rank_key"]
        ] as const) {
          const row = projectRow(workspace.id, { rank: "z9", [key]: taken[key] })
          const links = { teams: [team.id], products: [] }
          assert.strictEqual((yield* Effect.flip(repo.insert(row, links))).constraint, constraint)
          assert.strictEqual((yield* Effect.flip(repo.update(other.id, { [key]: taken[key] }))).constraint, constraint)
        }
        const both = { slug: taken.slug, name: taken.name }
        assert.strictEqual((yield* Effect.flip(repo.update(other.id, both))).constraint, "projects_slug_key")
        yield* repo.update(taken.id, both)
        const far = yield* addTeam(elsewhere.id)
        yield* addProject(elsewhere.id, { teams: [far.id] }, { ...both, rank: taken.rank })
        // Case counts.
        yield* addProject(workspace.id, { teams: [team.id] }, { name: taken.name.toUpperCase() })
      })
    )

    it.effect("links and unlinks teams and products", () =>
      Effect.gen(function* () {
        const repo = yield* ProjectsRepo
        const { id } = yield* addWorkspace()
        const viewer = seesAll(id)
        const teams = [yield* addTeam(id), yield* addTeam(id), yield* addTeam(id)].map((team) => team.id)
        const products = [yield* addProduct(id), yield* addProduct(id)].map((product) => product.id)
        const row = yield* addProject(id, { teams: teams.slice(0, 2), products: products.slice(0, 1) })
        const other = yield* addProject(id, { teams, products })
        const linked = (slug: string) =>
          Effect.map(repo.find(viewer, slug), (project) => ({
            teams: project!.teams.map((team) => team.id).toSorted(),
            products: project!.products.map((product) => product.id).toSorted()
          }))
        yield* repo.link(row, { teams: teams.slice(2), products: products.slice(1) })
        assert.deepStrictEqual(yield* linked(row.slug), { teams: teams.toSorted(), products: products.toSorted() })
        yield* repo.unlink(row, { teams: teams.slice(0, 2), products })
        assert.deepStrictEqual(yield* linked(row.slug), { teams: teams.slice(2), products: [] })
        yield* repo.unlink(row, { teams: [], products: [] })
        yield* repo.link(row, { teams: [], products: [] })
        assert.deepStrictEqual(yield* linked(row.slug), { teams: teams.slice(2), products: [] })
        assert.deepStrictEqual(yield* linked(other.slug), { teams: teams.toSorted(), products: products.toSorted() })
      })
    )

    it.effect("locks a project, and then reads its committed state", () =>
      Effect.gen(function* () {
        const repo = yield* ProjectsRepo
        const storage = yield* Storage
        const { id } = yield* addWorkspace()
        const viewer = seesAll(id)
        const [one, two] = [yield* addTeam(id), yield* addTeam(id)]
        const row = yield* addProject(id, { teams: [one.id] })
        yield* assertHolds(repo.lock(viewer, row.slug))

        const taken = yield* Deferred.make<void>()
        const first = yield* Effect.forkChild(
          storage.transaction(
            Effect.gen(function* () {
              yield* repo.lock(viewer, row.slug)
              yield* Deferred.succeed(taken, undefined)
              yield* repo.link(row, { teams: [two.id], products: [] })
              yield* repo.unlink(row, { teams: [one.id], products: [] })
              yield* repo.update(row.id, { name: row.name.toUpperCase() })
            })
          )
        )
        yield* Deferred.await(taken)
        const held = yield* storage.transaction(repo.lock(viewer, row.slug))
        yield* Fiber.join(first)
        assert.deepStrictEqual(
          held?.teams.map(({ id }) => id),
          [two.id]
        )
        assert.strictEqual(held?.name, row.name.toUpperCase())
      })
    )

    it.effect("locks and reads the order of a workspace, archived projects included", () =>
      Effect.gen(function* () {
        const repo = yield* ProjectsRepo
        const storage = yield* Storage
        const [workspace, elsewhere] = [yield* addWorkspace(), yield* addWorkspace()]
        const [team, far] = [yield* addTeam(workspace.id), yield* addTeam(elsewhere.id)]
        yield* addProject(elsewhere.id, { teams: [far.id] }, { rank: "a1V" })
        const rows = []
        for (const rank of ["Zz", "a1", "a2"]) {
          rows.push(
            yield* addProject(
              workspace.id,
              { teams: [team.id] },
              { rank, archivedAt: rank === "a1" ? minute(1) : null }
            )
          )
        }
        const [a, b, c] = rows as [(typeof rows)[0], (typeof rows)[0], (typeof rows)[0]]
        yield* assertHolds(repo.lockOrder(workspace.id))
        yield* storage.transaction(
          Effect.gen(function* () {
            const order = yield* repo.lockOrder(workspace.id)
            assert.deepStrictEqual(yield* order.ids, [a.id, b.id, c.id])
            assert.strictEqual(yield* order.next("above", null, newId()), "Zz")
            assert.strictEqual(yield* order.next("below", null, newId()), "a2")
            assert.strictEqual(yield* order.next("above", null, a.id), "a1")
            assert.strictEqual(yield* order.next("below", null, c.id), "a1")
            assert.strictEqual(yield* order.next("above", "Zz", newId()), "a1")
            assert.strictEqual(yield* order.next("above", "Zz", b.id), "a2")
            assert.strictEqual(yield* order.next("below", "a2", b.id), "Zz")
            assert.isNull(yield* order.next("above", "a2", newId()))
            assert.isNull(yield* order.next("below", "Zz", newId()))
            // Ranks may change places within one statement.
            yield* order.setRanks([
              [a.id, "a2"],
              [b.id, "Zz"],
              [c.id, "a1"]
            ])
            assert.deepStrictEqual(yield* order.ids, [b.id, c.id, a.id])
          })
        )
        const none = yield* addWorkspace()
        const empty = yield* storage.transaction(repo.lockOrder(none.id))
        assert.isNull(yield* empty.next("above", null, newId()))
        assert.deepStrictEqual(yield* empty.ids, [])
      })
    )

    it.effect("does not find a project in another workspace, or without a team", () =>
      Effect.gen(function* () {
        const repo = yield* ProjectsRepo
        const [workspace, elsewhere] = [yield* addWorkspace(), yield* addWorkspace()]
        const team = yield* addTeam(workspace.id)
        yield* addProject(workspace.id, { teams: [team.id] })
        const orphan = yield* addProject(workspace.id, { teams: [] })
        const viewer = seesAll(elsewhere.id)
        assert.deepStrictEqual(yield* repo.list(viewer, { archived: "include" }), [])
        assert.deepStrictEqual(yield* repo.list(viewer, { archived: "include", teamId: team.id }), [])
        assert.isUndefined(yield* repo.find(seesAll(workspace.id), orphan.slug))
        assert.lengthOf(yield* repo.list(seesAll(workspace.id), { archived: "include" }), 1)
      })
    )
  })

  it.describe("MilestonesRepo", () => {
    it.effect("numbers milestones in each project, and never reuses a number", () =>
      Effect.gen(function* () {
        const repo = yield* MilestonesRepo
        const { id } = yield* addWorkspace()
        const team = yield* addTeam(id)
        const [one, two] = [yield* addProject(id, { teams: [team.id] }), yield* addProject(id, { teams: [team.id] })]
        const first = yield* addMilestone(one)
        const second = yield* addMilestone(one, { name: first.name, summary: "Same name" })
        assert.deepStrictEqual([first.number, second.number], [1, 2])
        assert.strictEqual((yield* addMilestone(two)).number, 1)
        yield* repo.delete(second, minute(1))
        assert.isUndefined(yield* repo.find(one.id, 2))
        assert.strictEqual((yield* addMilestone(one)).number, 3)
        assert.deepStrictEqual(yield* repo.find(one.id, 1), first)
        assert.isUndefined(yield* repo.find(one.id, 4))
        assert.isUndefined(yield* repo.find(two.id, 2))
        const changed = { ...first, name: "New", summary: "New", updatedAt: minute(5) }
        yield* repo.update(changed)
        assert.deepStrictEqual(yield* repo.find(one.id, 1), changed)
        const shown = (yield* (yield* ProjectsRepo).find(seesAll(id), one.slug))!.milestones
        assert.deepStrictEqual(
          shown.map(({ name, number }) => [number, name === "New"]),
          [
            [1, true],
            [3, false]
          ]
        )
      })
    )
  })
})
