import { assert, describe, it } from "@effect/vitest"
import { eventsPageSize } from "@delivery/domain/events/Event"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Products } from "../../src/catalog/Products.ts"
import { changesBetween, Events } from "../../src/events/Events.ts"
import { Members } from "../../src/identity/Members.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"
import { as, everyRole, makeScene, now, refusal, unique, whoMay } from "../identity/Scene.ts"
import { baseUrl, withServicesOnEachStorage } from "../support/Storages.ts"
import { newestEvents } from "./NewestEvents.ts"

withServicesOnEachStorage("Events", (it) => {
  it.effect("shows an event in full to every role", () =>
    Effect.gen(function* () {
      const scene = yield* makeScene
      const { admin, viewer, workspace } = scene
      const slug = unique("shop")
      const products = yield* Products
      const { id } = yield* products.create({ slug, name: "Shop", type: "app" }).pipe(as(admin))
      yield* TestClock.adjust("1 minute")
      yield* products.update(slug, { name: "Web Shop", repository: "acme/shop" }).pipe(as(admin))
      const [newest, oldest, ...more] = yield* newestEvents.pipe(as(viewer))
      assert.deepStrictEqual(newest, {
        id: newest!.id,
        kind: "product_updated",
        actor: admin.principal,
        subject: { type: "product", id, label: "Web Shop", url: `${baseUrl}/w/${workspace.slug}/products/${slug}` },
        changes: [
          { field: "name", from: "Shop", to: "Web Shop" },
          { field: "repository", from: null, to: "acme/shop" }
        ],
        createdAt: yield* now
      })
      assert.deepStrictEqual([oldest?.kind, oldest?.subject.label, oldest?.changes], ["product_created", "Shop", []])
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual(yield* whoMay(scene, newestEvents), everyRole)
    })
  )

  it.effect("lists the 50 newest, newest first, also within one millisecond", () =>
    Effect.gen(function* () {
      const events = yield* Events
      const { owner, workspace } = yield* makeScene
      const by = { workspace, actor: { kind: "user", id: owner.principal.id } } as const
      assert.strictEqual(eventsPageSize, 50)
      for (let n = 1; n <= 55; n++) {
        yield* events.record(by, {
          kind: "run_updated",
          subject: { type: "thing", id: String(n), label: `Thing ${n}`, path: `things/${n}` }
        })
        if (n === 20) yield* TestClock.adjust("1 second")
      }
      const listed = (yield* newestEvents.pipe(as(owner))).map((event) => Number(event.subject.id))
      assert.deepStrictEqual(
        listed,
        Array.from({ length: 50 }, (_, index) => 55 - index)
      )
    })
  )

  it.effect("lists only the workspace's own events, with URLs of its current slug", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* makeScene, yield* makeScene]
      const slug = unique("moved")
      yield* (yield* Workspaces).update({ slug }).pipe(as(one.owner))
      yield* (yield* Members).update(one.viewer.principal.id, { role: "member" }).pipe(as(one.owner))
      const moved = { ...one.owner, membership: { ...one.owner.membership!, slug } }
      assert.deepStrictEqual(
        (yield* newestEvents.pipe(as(moved))).map((event) => [event.kind, event.subject.url]),
        [
          ["member_updated", `${baseUrl}/w/${slug}/settings/members`],
          ["workspace_updated", `${baseUrl}/w/${slug}/settings`]
        ]
      )
      assert.deepStrictEqual(yield* newestEvents.pipe(as(other.owner)), [])
      assert.strictEqual(yield* refusal(newestEvents.pipe(as(one.outsider))), "NotFound")
    })
  )

  it.effect("begins the kind with the type of the subject", () =>
    Effect.gen(function* () {
      const scene = yield* makeScene
      const slug = unique("shop")
      const products = yield* Products
      yield* products.create({ slug, name: "Shop", type: "app" }).pipe(as(scene.admin))
      yield* products.archive(slug).pipe(as(scene.admin))
      yield* (yield* Members).deactivate(scene.viewer.principal.id).pipe(as(scene.owner))
      for (const event of yield* newestEvents.pipe(as(scene.owner))) {
        assert.match(event.kind, new RegExp(`^${event.subject.type}_[a-z]+$`))
      }
    })
  )
})

describe("changesBetween", () => {
  it("lists the named fields that differ, in their order, as texts", () => {
    const from = { name: "Shop", active: true, repository: null as string | null, slug: "shop" }
    const to = { name: "Web Shop", active: false, repository: "acme/shop", slug: "web-shop" }
    assert.deepStrictEqual(changesBetween(from, to, "repository", "active", "name"), [
      { field: "repository", from: null, to: "acme/shop" },
      { field: "active", from: "true", to: "false" },
      { field: "name", from: "Shop", to: "Web Shop" }
    ])
    assert.deepStrictEqual(changesBetween(from, { ...from, slug: "other" }, "name", "active", "repository"), [])
    assert.deepStrictEqual(changesBetween(to, from, "repository"), [
      { field: "repository", from: "acme/shop", to: null }
    ])
  })
})
