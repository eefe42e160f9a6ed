import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import {
  addMember,
  addPerson,
  addWorkspace,
  adminsAndUp,
  as,
  assertChain,
  everyRole,
  eventsOf,
  makeScene,
  now,
  refusal,
  unique,
  whoMay
} from "./Scene.ts"

withServicesOnEachStorage("Workspaces", (it) => {
  it.effect("makes the creator of a workspace its owner", () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const { outsider } = yield* makeScene
      const slug = unique("acme")
      const made = yield* workspaces.create({ slug, name: "Acme" }).pipe(as(outsider))
      const at = yield* now
      assert.deepStrictEqual(made, {
        id: made.id,
        slug,
        name: "Acme",
        role: "owner",
        runDays: null,
        fileDays: null,
        createdAt: at,
        updatedAt: at
      })
      const { id, slug: memberSlug, name, role } = made
      const member = { ...outsider, membership: { id, slug: memberSlug, name, role } }
      assert.deepStrictEqual(yield* workspaces.get.pipe(as(member)), made)
      const [owner, ...others] = yield* (yield* MembersRepo).list(id)
      assert.deepStrictEqual(owner, {
        id: outsider.principal.id as never,
        name: outsider.principal.name,
        email: `${outsider.principal.name}@example.com`,
        emailVerifiedAt: null,
        role: "owner",
        active: true,
        joinedAt: at
      })
      assert.deepStrictEqual(others, [])
      const [event, ...more] = yield* eventsOf(made)
      assert.strictEqual(event?.kind, "workspace_created")
      assert.deepStrictEqual(event?.actor, outsider.principal)
      assert.deepStrictEqual([event?.subjectType, event?.subjectId, event?.subjectLabel], ["workspace", id, "Acme"])
      assert.deepStrictEqual(more, [])
    })
  )

  it.effect("rejects a slug in use and creates nothing", () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const { owner, outsider, workspace } = yield* makeScene
      const before = yield* workspaces.list.pipe(as(owner))
      const create = workspaces.create({ slug: workspace.slug, name: "Second" })
      assert.strictEqual(yield* refusal(create.pipe(as(owner))), "Conflict slug_in_use")
      assert.strictEqual(yield* refusal(create.pipe(as(outsider))), "Conflict slug_in_use")
      assert.deepStrictEqual(yield* workspaces.list.pipe(as(owner)), before)
      assert.deepStrictEqual(yield* workspaces.list.pipe(as(outsider)), [])
      assert.deepStrictEqual(yield* eventsOf(workspace), [])
    })
  )

  it.effect("creates one workspace of many concurrent requests for a slug", () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const slug = unique("wanted")
      const create = Effect.gen(function* () {
        const { outsider } = yield* makeScene
        return yield* workspaces.create({ slug, name: slug }).pipe(as(outsider), Effect.result)
      })
      const results = yield* Effect.all([create, create, create, create], { concurrency: "unbounded" })
      assert.lengthOf(
        results.filter((result) => result._tag === "Success"),
        1
      )
      for (const result of results) {
        if (result._tag === "Failure") assert.strictEqual(result.failure._tag, "Conflict")
      }
    })
  )

  it.effect("lets no account key create a workspace", () =>
    Effect.gen(function* () {
      const { adminKey } = yield* makeScene
      const create = (yield* Workspaces).create({ slug: unique("acme"), name: "Acme" })
      assert.strictEqual(yield* refusal(create.pipe(as(adminKey))), "Forbidden account_key")
    })
  )

  it.effect("lists the workspaces in which a person is active, by name", () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const person = yield* addPerson()
      const named = Effect.fnUntraced(function* (name: string, role: "viewer" | "owner", active = true) {
        const workspace = yield* addWorkspace({ name })
        return { workspace, caller: yield* addMember(workspace, role, { person, active }) }
      })
      const ten = yield* named("Team 10", "owner")
      const two = yield* named("team 2", "viewer")
      const umlaut = yield* named("Ärger", "owner")
      yield* named("Left", "owner", false)
      yield* named("Zebra", "viewer")
      const { caller } = ten
      const listed = yield* workspaces.list.pipe(as(caller))
      assert.deepStrictEqual(
        listed.map(({ name }) => name),
        ["Ärger", "team 2", "Team 10", "Zebra"]
      )
      assert.deepStrictEqual(listed[0], { ...umlaut.workspace, role: "owner" })
      assert.deepStrictEqual(listed[1], { ...two.workspace, role: "viewer" })
      const { workspaces: memberships, ...me } = yield* workspaces.me.pipe(as({ ...caller, membership: undefined }))
      const { email, id, name } = person
      assert.deepStrictEqual(me, { kind: "user", id, name, email, emailVerifiedAt: null })
      assert.deepStrictEqual(
        memberships.map(({ id, role }) => ({ id, role })),
        listed.map(({ id, role }) => ({ id, role }))
      )
    })
  )

  it.effect("shows an account key its one workspace", () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const { memberKey, workspace } = yield* makeScene
      assert.deepStrictEqual(yield* workspaces.list.pipe(as(memberKey)), [{ ...workspace, role: "member" }])
      const { workspaces: memberships, ...me } = yield* workspaces.me.pipe(as(memberKey))
      assert.deepStrictEqual(me, memberKey.principal as never)
      assert.deepStrictEqual(
        memberships.map(({ id, role }) => ({ id, role })),
        [{ id: workspace.id, role: "member" }]
      )
    })
  )

  it.effect("checks roles before anything else", () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const scene = yield* makeScene
      assert.deepStrictEqual(yield* whoMay(scene, workspaces.get), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, workspaces.update({ name: "New name" })), adminsAndUp)
    })
  )

  it.effect("shows a workspace with the caller's role", () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const {
        callers: { outsider: _, ...members },
        workspace
      } = yield* makeScene
      for (const caller of Object.values(members)) {
        const shown = yield* workspaces.get.pipe(as(caller))
        assert.deepStrictEqual(shown, { ...workspace, role: caller.membership!.role })
      }
    })
  )

  it.effect("changes the fields that are sent and records an event with them", () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const { admin, owner, workspace } = yield* makeScene
      yield* TestClock.adjust("1 minute")
      const first = yield* now
      const named = yield* workspaces.update({ name: "Renamed" }).pipe(as(admin))
      assert.deepStrictEqual(named, { ...workspace, name: "Renamed", updatedAt: first, role: "admin" })
      yield* TestClock.adjust("1 minute")
      const slug = unique("moved")
      const moved = yield* workspaces.update({ slug, name: "Renamed" }).pipe(as(owner))
      assert.deepStrictEqual(moved, { ...named, slug, updatedAt: yield* now, role: "owner" })
      assert.deepStrictEqual(yield* workspaces.get.pipe(as(owner)), moved)
      const events = yield* eventsOf(workspace)
      assert.deepStrictEqual(
        events.map(({ actor, changes, kind, subjectLabel }) => ({ kind, actor, changes, subjectLabel })),
        [
          {
            kind: "workspace_updated",
            actor: admin.principal,
            changes: [{ field: "name", from: workspace.name, to: "Renamed" }],
            subjectLabel: "Renamed"
          },
          {
            kind: "workspace_updated",
            actor: owner.principal,
            changes: [{ field: "slug", from: workspace.slug, to: slug }],
            subjectLabel: "Renamed"
          }
        ]
      )
    })
  )

  it.effect("changes nothing and records no event if nothing differs", () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const { owner, workspace } = yield* makeScene
      yield* TestClock.adjust("1 minute")
      for (const input of [{}, { name: workspace.name }, { slug: workspace.slug, name: workspace.name }]) {
        assert.deepStrictEqual(yield* workspaces.update(input).pipe(as(owner)), { ...workspace, role: "owner" })
      }
      assert.deepStrictEqual(yield* eventsOf(workspace), [])
    })
  )

  it.effect("rejects the slug of another workspace and leaves no trace", () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const { owner, workspace } = yield* makeScene
      const taken = yield* addWorkspace()
      const update = workspaces.update({ slug: taken.slug, name: "Renamed" }).pipe(as(owner))
      assert.strictEqual(yield* refusal(update), "Conflict slug_in_use")
      assert.deepStrictEqual(yield* workspaces.get.pipe(as(owner)), { ...workspace, role: "owner" })
      assert.deepStrictEqual(yield* eventsOf(workspace), [])
    })
  )

  it.effect("loses no concurrent change", () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const { owner, workspace } = yield* makeScene
      const inputs = Array.from({ length: 20 }, (_, n) =>
        n % 2 === 0 ? { slug: unique("moved") } : { name: `Name ${n}` }
      )
      yield* Effect.all(
        inputs.map((input) => workspaces.update(input).pipe(as(owner))),
        { concurrency: "unbounded" }
      )
      const events = yield* eventsOf(workspace)
      assert.lengthOf(events, 20)
      assertChain(events, { ...workspace }, { ...(yield* workspaces.get.pipe(as(owner))) })
    })
  )

  it.effect("moves updatedAt on every change, also within one millisecond", () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const { owner, workspace } = yield* makeScene
      const moments = [workspace.updatedAt]
      for (const name of ["One", "Two", "Three"]) {
        moments.push((yield* workspaces.update({ name }).pipe(as(owner))).updatedAt)
      }
      assert.lengthOf(new Set(moments), 4)
      assert.deepStrictEqual(moments.toSorted(), moments)
    })
  )
})
