import { assert } from "@effect/vitest"
import type { Archived } from "@delivery/domain/Archived"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Environments } from "../../src/catalog/Environments.ts"
import {
  adminsAndUp,
  answer,
  as,
  assertChain,
  everyRole,
  eventsOf,
  kindsOf,
  makeScene,
  newId,
  now,
  refusal,
  type Scene,
  unique,
  whoMay
} from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"

withServicesOnEachStorage("Environments", (it) => {
  const create = Effect.fnUntraced(function* ({ admin }: Scene, fields: { name?: string; slug?: string } = {}) {
    const environments = yield* Environments
    const input = { slug: unique("staging"), name: "Staging", class: "non-production", ...fields } as const
    return yield* environments.create(input).pipe(as(admin))
  })

  it.effect("checks the role before it finds the environment", () =>
    Effect.gen(function* () {
      const environments = yield* Environments
      const scene = yield* makeScene
      const unknown = unique("unknown")
      const make = Effect.suspend(() =>
        environments.create({ slug: unique("staging"), name: "Staging", class: "production" })
      )
      assert.deepStrictEqual(yield* whoMay(scene, environments.list()), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, environments.get(unknown)), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, make), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, environments.update(unknown, { name: "New" })), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, environments.archive(unknown)), adminsAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, environments.restore(unknown)), adminsAndUp)
    })
  )

  it.effect("creates an environment, finds it by slug and id, and records an event", () =>
    Effect.gen(function* () {
      const environments = yield* Environments
      const { admin, viewer, workspace } = yield* makeScene
      const slug = unique("live")
      const input = { slug, name: "Live", class: "production", emoji: "🚀" } as const
      const made = yield* environments.create(input).pipe(as(admin))
      const at = yield* now
      const expected = {
        ...input,
        id: made.id,
        approvals: false,
        archived: false,
        archivedAt: null,
        createdAt: at,
        updatedAt: at
      }
      assert.deepStrictEqual(made, expected)
      assert.deepStrictEqual(yield* environments.get(slug).pipe(as(viewer)), expected)
      assert.deepStrictEqual(yield* environments.get(made.id).pipe(as(viewer)), expected)
      const [event, ...more] = yield* eventsOf(workspace)
      assert.strictEqual(event?.kind, "environment_created")
      assert.deepStrictEqual(event?.actor, admin.principal)
      assert.deepStrictEqual(
        [event?.subjectType, event?.subjectId, event?.subjectLabel, event?.subjectPath],
        ["environment", made.id, "Live", `environments/${slug}`]
      )
      assert.deepStrictEqual(more, [])
    })
  )

  it.effect("creates an environment without an emoji, or with null", () =>
    Effect.gen(function* () {
      const environments = yield* Environments
      const { adminKey } = yield* makeScene
      for (const emoji of [{}, { emoji: null }]) {
        const input = { slug: unique("staging"), name: "Staging", class: "non-production", ...emoji } as const
        assert.isNull((yield* environments.create(input).pipe(as(adminKey))).emoji)
      }
    })
  )

  it.effect("finds no environments of other workspaces", () =>
    Effect.gen(function* () {
      const environments = yield* Environments
      const { owner } = yield* makeScene
      const foreign = yield* create(yield* makeScene)
      for (const ref of [foreign.slug, foreign.id, newId(), "", "No Slug"]) {
        for (const call of [
          environments.get(ref),
          environments.update(ref, { name: "Mine" }),
          environments.archive(ref),
          environments.restore(ref)
        ]) {
          const error = yield* Effect.flip(call.pipe(as(owner)))
          assert.deepStrictEqual(
            [error._tag, error.message],
            ["NotFound", `There is no environment "${ref}" that you can see.`]
          )
        }
      }
      assert.deepStrictEqual(yield* environments.list("include").pipe(as(owner)), [])
    })
  )

  it.effect("lists environments by name, with the archived filter", () =>
    Effect.gen(function* () {
      const environments = yield* Environments
      const scene = yield* makeScene
      for (const name of ["Staging", "preview 10", "Preview 9"]) yield* create(scene, { name })
      yield* environments.archive((yield* create(scene, { name: "Old" })).id).pipe(as(scene.admin))
      const names = (archived?: Archived) =>
        Effect.map(environments.list(archived).pipe(as(scene.viewer)), (listed) => listed.map(({ name }) => name))
      assert.deepStrictEqual(yield* names(), ["Preview 9", "preview 10", "Staging"])
      assert.deepStrictEqual(yield* names("exclude"), ["Preview 9", "preview 10", "Staging"])
      assert.deepStrictEqual(yield* names("only"), ["Old"])
      assert.deepStrictEqual(yield* names("include"), ["Old", "Preview 9", "preview 10", "Staging"])
    })
  )

  it.effect("changes the fields that are sent, and records the changes", () =>
    Effect.gen(function* () {
      const environments = yield* Environments
      const scene = yield* makeScene
      const made = yield* create(scene)
      const slug = unique("moved")
      for (const [input, change] of [
        [{ name: "Renamed" }, { field: "name", from: "Staging", to: "Renamed" }],
        [{ class: "production" }, { field: "class", from: "non-production", to: "production" }],
        [{ class: "non-production" }, { field: "class", from: "production", to: "non-production" }],
        [{ emoji: "🧪" }, { field: "emoji", from: null, to: "🧪" }],
        [
          { emoji: null, name: "Renamed" },
          { field: "emoji", from: "🧪", to: null }
        ],
        [{ slug }, { field: "slug", from: made.slug, to: slug }]
      ] as const) {
        const before = yield* environments.get(made.id).pipe(as(scene.viewer))
        yield* TestClock.adjust("1 minute")
        const changed = yield* environments.update(made.id, input).pipe(as(scene.owner))
        assert.deepStrictEqual(changed, { ...before, ...input, updatedAt: yield* now })
        assert.deepStrictEqual(yield* environments.get(made.id).pipe(as(scene.viewer)), changed)
        const event = (yield* eventsOf(scene.workspace)).at(-1)
        assert.strictEqual(event?.kind, "environment_updated")
        assert.deepStrictEqual(event?.actor, scene.owner.principal)
        assert.deepStrictEqual(event?.changes, [change])
        assert.deepStrictEqual(
          [event?.subjectId, event?.subjectLabel, event?.subjectPath],
          [made.id, changed.name, `environments/${changed.slug}`]
        )
      }
      assert.strictEqual(yield* refusal(environments.get(made.slug).pipe(as(scene.viewer))), "NotFound")
    })
  )

  it.effect("changes and records nothing if nothing differs", () =>
    Effect.gen(function* () {
      const environments = yield* Environments
      const scene = yield* makeScene
      const made = yield* create(scene)
      yield* TestClock.adjust("1 minute")
      for (const input of [{}, { slug: made.slug, name: made.name, class: made.class, emoji: null }]) {
        assert.deepStrictEqual(yield* environments.update(made.slug, input).pipe(as(scene.admin)), made)
      }
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), ["environment_created"])
    })
  )

  it.effect("refuses a slug in use, also by an archived environment, and changes nothing", () =>
    Effect.gen(function* () {
      const environments = yield* Environments
      const scene = yield* makeScene
      const [one, archived] = [yield* create(scene), yield* create(scene)]
      yield* environments.archive(archived.id).pipe(as(scene.admin))
      const before = yield* eventsOf(scene.workspace)
      for (const { slug } of [one, archived]) {
        assert.strictEqual(yield* refusal(create(scene, { slug })), "Conflict slug_in_use")
      }
      const move = environments.update(one.id, { slug: archived.slug, name: "Moved" })
      assert.strictEqual(yield* refusal(move.pipe(as(scene.admin))), "Conflict slug_in_use")
      assert.deepStrictEqual(yield* environments.get(one.id).pipe(as(scene.viewer)), one)
      assert.lengthOf(yield* environments.list("include").pipe(as(scene.viewer)), 2)
      assert.deepStrictEqual(yield* eventsOf(scene.workspace), before)
      yield* create(yield* makeScene, { slug: one.slug })
    })
  )

  it.effect("gives a slug to one of many concurrent requests", () =>
    Effect.gen(function* () {
      const scene = yield* makeScene
      const slug = unique("wanted")
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, () => answer(create(scene, { slug }))),
        {
          concurrency: "unbounded"
        }
      )
      assert.deepStrictEqual(answers.toSorted(), [...Array.from({ length: 7 }, () => "Conflict slug_in_use"), "ok"])
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), ["environment_created"])
    })
  )

  it.effect("archives and restores once each, and records an event", () =>
    Effect.gen(function* () {
      const environments = yield* Environments
      const scene = yield* makeScene
      const made = yield* create(scene)
      assert.deepStrictEqual(yield* environments.restore(made.id).pipe(as(scene.admin)), made)
      yield* TestClock.adjust("1 minute")
      const archivedAt = yield* now
      const archived = yield* environments.archive(made.id).pipe(as(scene.admin))
      assert.deepStrictEqual(archived, { ...made, archived: true, archivedAt, updatedAt: archivedAt })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* environments.archive(made.slug).pipe(as(scene.admin)), archived)
      const renamed = yield* environments.update(made.id, { name: "Renamed" }).pipe(as(scene.admin))
      assert.deepStrictEqual(renamed, { ...archived, name: "Renamed", updatedAt: yield* now })
      yield* TestClock.adjust("1 minute")
      const restored = yield* environments.restore(made.slug).pipe(as(scene.admin))
      assert.deepStrictEqual(restored, { ...made, name: "Renamed", updatedAt: yield* now })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* environments.restore(made.id).pipe(as(scene.admin)), restored)
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), [
        "environment_created",
        "environment_archived",
        "environment_updated",
        "environment_restored"
      ])
    })
  )

  it.effect("moves updatedAt on every change, also within one millisecond", () =>
    Effect.gen(function* () {
      const environments = yield* Environments
      const scene = yield* makeScene
      const { id, updatedAt } = yield* create(scene)
      const moments = [updatedAt]
      for (const change of [
        environments.update(id, { name: "One" }),
        environments.archive(id),
        environments.restore(id)
      ]) {
        moments.push((yield* change.pipe(as(scene.admin))).updatedAt)
      }
      assert.lengthOf(new Set(moments), 4)
      assert.deepStrictEqual(moments.toSorted(), moments)
    })
  )

  it.effect("loses no concurrent change", () =>
    Effect.gen(function* () {
      const environments = yield* Environments
      const scene = yield* makeScene
      const made = yield* create(scene)
      const inputs = Array.from(
        { length: 20 },
        (_, n) => [{ slug: unique("moved") }, { name: `Stage ${n}` }, { emoji: `${n}` }][n % 3]!
      )
      yield* Effect.all(
        inputs.map((input) => environments.update(made.id, input).pipe(as(scene.admin))),
        {
          concurrency: "unbounded"
        }
      )
      const events = (yield* eventsOf(scene.workspace)).filter((event) => event.kind === "environment_updated")
      assert.lengthOf(events, 20)
      assertChain(events, { ...made }, { ...(yield* environments.get(made.id).pipe(as(scene.viewer))) })
    })
  )
})
