import { assert } from "@effect/vitest"
import {
  CreateSavedFilter,
  maxPersonalFilters,
  maxSharedFilters,
  type SavedFilter,
  type SavedFilterQuery
} from "@delivery/domain/runs/SavedFilter"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Environments } from "../../src/catalog/Environments.ts"
import { Products } from "../../src/catalog/Products.ts"
import { SavedFilters } from "../../src/runs/SavedFilters.ts"
import { addEnvironment, addProduct } from "../catalog/Rows.ts"
import {
  addMember,
  as,
  assertChain,
  type CallerOf,
  eventsOf,
  everyRole,
  makeScene,
  membersAndUp,
  newId,
  now,
  refusal,
  unique,
  whoMay
} from "../identity/Scene.ts"
import { addAgent } from "../planning/TicketsScene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"

/** The message of what was refused. */
const said = <A, R>(call: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.map(Effect.flip(call), ({ message }) => message)

/** Which field was wrong, from the root of the body. */
const wrong = <A, R>(call: Effect.Effect<A, { readonly _tag: string; readonly issues?: unknown }, R>) =>
  Effect.map(Effect.flip(call), ({ _tag, issues }) => {
    assert.strictEqual(_tag, "InvalidInput")
    const [issue, ...others] = issues as ReadonlyArray<{ readonly path: ReadonlyArray<string> }>
    assert.isEmpty(others)
    return issue?.path
  })

withServicesOnEachStorage("Saved filters", (it) => {
  /** A workspace with a product and an environment. */
  const makeCatalog = Effect.gen(function* () {
    const scene = yield* makeScene
    const product = yield* addProduct(scene.workspace.id)
    const environment = yield* addEnvironment(scene.workspace.id)
    return { ...scene, scene, product, environment }
  })

  const create = Effect.fnUntraced(function* (caller: CallerOf, fields: Partial<CreateSavedFilter> = {}) {
    return yield* (yield* SavedFilters)
      .create({ screen: "runs", name: unique("Filter"), query: { result: "failed" }, ...fields })
      .pipe(as(caller))
  })

  const names = Effect.fnUntraced(function* (caller: CallerOf, screen?: "runs" | "tests") {
    return (yield* (yield* SavedFilters).list(screen).pipe(as(caller))).map(({ name }) => name)
  })

  it.effect("checks the role before it finds the filter", () =>
    Effect.gen(function* () {
      const filters = yield* SavedFilters
      const scene = yield* makeScene
      const unknown = newId<string>()
      const make = Effect.suspend(() => filters.create({ screen: "runs", name: "Mine", query: {} }))
      assert.deepStrictEqual(yield* whoMay(scene, filters.list(undefined)), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, filters.get(unknown)), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, make), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, filters.update(unknown, { name: "New" })), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, filters.delete(unknown)), membersAndUp)
    })
  )

  it.effect("saves filters of runs and of tests under names, by which they are listed, and records events", () =>
    Effect.gen(function* () {
      const filters = yield* SavedFilters
      const { environment, member, memberKey, product, viewer, workspace } = yield* makeCatalog
      const all = {
        result: "flaky",
        q: "basket & more",
        commit: "9fceb02d0ae598e95dc970b74767f19372d61af8",
        mine: "true",
        latest: "false"
      } as const
      // Products and environments are named by slug or id, and answered by slug.
      const ofRuns = yield* create(member, {
        name: "Run 10",
        query: { ...all, product: product.id, environment: environment.slug }
      })
      const at = yield* now
      assert.deepStrictEqual(ofRuns, {
        id: ofRuns.id,
        screen: "runs",
        name: "Run 10",
        visibility: "shared",
        product: null,
        query: { ...all, product: product.slug, environment: environment.slug },
        createdBy: member.principal,
        createdAt: at,
        updatedAt: at
      } satisfies SavedFilter)
      const ofTests = yield* create(memberKey, {
        screen: "tests",
        name: "run 9",
        product: product.slug,
        query: { state: "slow", environment: environment.id, q: "pays" }
      })
      assert.deepStrictEqual(ofTests, {
        id: ofTests.id,
        screen: "tests",
        name: "run 9",
        visibility: "shared",
        product: product.slug,
        query: { state: "slow", environment: environment.slug, q: "pays" },
        createdBy: memberKey.principal,
        createdAt: at,
        updatedAt: at
      } satisfies SavedFilter)
      assert.deepStrictEqual(yield* filters.list(undefined).pipe(as(viewer)), [ofTests, ofRuns])
      assert.deepStrictEqual(yield* filters.list("runs").pipe(as(viewer)), [ofRuns])
      assert.deepStrictEqual(yield* filters.list("tests").pipe(as(viewer)), [ofTests])
      assert.deepStrictEqual(yield* filters.get(ofTests.id).pipe(as(viewer)), ofTests)
      const events = yield* eventsOf(workspace)
      assert.deepStrictEqual(
        events.map(({ kind, subjectId, subjectLabel, subjectPath, subjectType }) => [
          kind,
          subjectType,
          subjectId,
          subjectLabel,
          subjectPath.split("?")[0],
          Object.fromEntries(new URLSearchParams(subjectPath.split("?")[1]))
        ]),
        [
          ["filter_created", "filter", ofRuns.id, "Run 10", "test-runs", ofRuns.query],
          ["filter_created", "filter", ofTests.id, "run 9", "tests", { product: product.slug, ...ofTests.query }]
        ]
      )
    })
  )

  it.effect("keeps only the filters that the list has, of what is there", () =>
    Effect.gen(function* () {
      const filters = yield* SavedFilters
      const { environment, member, product } = yield* makeCatalog
      const elsewhere = yield* makeCatalog
      const ofTests = { screen: "tests", product: product.slug } as const
      assert.deepStrictEqual(yield* wrong(create(member, { query: { state: "slow" } })), ["query", "state"])
      assert.deepStrictEqual(yield* wrong(create(member, { product: product.slug })), ["product"])
      assert.deepStrictEqual(yield* wrong(create(member, { screen: "tests", query: {} })), ["product"])
      assert.deepStrictEqual(yield* wrong(create(member, { screen: "tests", product: null, query: {} })), ["product"])
      for (const query of [
        { result: "failed" },
        { product: product.slug },
        { commit: "a" },
        { mine: "true" },
        { latest: "true" }
      ] as ReadonlyArray<SavedFilterQuery>) {
        const path = ["query", ...Object.keys(query)]
        assert.deepStrictEqual(yield* wrong(create(member, { ...ofTests, query })), path)
      }
      const absent = unique("absent")
      const missing = (field: string, noun: string, value: string) =>
        `${field}: there is no ${noun} "${value}" that you can see.`
      for (const value of [absent, elsewhere.product.slug, elsewhere.product.id, ""]) {
        const said1 = yield* said(create(member, { query: { product: value } }))
        assert.strictEqual(said1, missing("query.product", "product", value))
        const said2 = yield* said(create(member, { screen: "tests", product: value, query: {} }))
        assert.strictEqual(said2, missing("product", "product", value))
      }
      for (const value of [absent, elsewhere.environment.slug]) {
        for (const screen of [{}, ofTests]) {
          const one = yield* said(create(member, { ...screen, query: { environment: value } }))
          assert.strictEqual(one, missing("query.environment", "environment", value))
        }
      }
      const made = yield* create(member, { query: { environment: environment.slug } })
      const update = (input: Parameters<typeof filters.update>[1]) => filters.update(made.id, input).pipe(as(member))
      assert.deepStrictEqual(yield* wrong(update({ query: { state: "slow" } })), ["query", "state"])
      assert.deepStrictEqual(yield* wrong(update({ product: product.slug })), ["product"])
      assert.strictEqual(yield* refusal(update({ query: { environment: absent } })), "NotFound")
      assert.deepStrictEqual(yield* filters.get(made.id).pipe(as(member)), made)
    })
  )

  it("takes the values that the lists take, and no other property", () => {
    const isValid = (query: unknown, name = "Name") =>
      Schema.is(CreateSavedFilter)({ screen: "runs", name, query } as CreateSavedFilter)
    const full = {
      product: "a",
      environment: "b",
      result: "passed",
      q: "c",
      commit: "d",
      mine: "false",
      latest: "true"
    }
    assert.isTrue(isValid({ ...full, state: "muted" }))
    for (const [name, value] of Object.entries({
      ...full,
      result: "slow",
      state: "skipped",
      q: "x".repeat(501),
      commit: "",
      mine: true,
      latest: "yes",
      product: "x".repeat(201),
      environment: ""
    })) {
      if (value === full[name as keyof typeof full]) continue
      assert.isFalse(isValid({ ...full, [name]: value }), name)
    }
    assert.isFalse(isValid({ ...full, cursor: 1 }))
    assert.isFalse(isValid({ ...full, reslut: "failed" }))
    assert.isTrue(isValid({}, "x".repeat(100)))
    assert.isFalse(isValid({}, "x".repeat(101)))
  })

  it.effect("changes what is sent, and nothing where that is there already", () =>
    Effect.gen(function* () {
      const filters = yield* SavedFilters
      const { admin, environment, member, product, viewer, workspace } = yield* makeCatalog
      const other = yield* addProduct(workspace.id)
      const { createdAt, id, ...made } = yield* create(member, {
        screen: "tests",
        name: "Flaky",
        product: product.slug,
        query: { state: "flaky", environment: environment.slug }
      })
      const update = (input: Parameters<typeof filters.update>[1]) => filters.update(id, input).pipe(as(admin))
      yield* TestClock.adjust("1 second")
      const same = yield* update({ name: "Flaky", visibility: "shared", product: product.id, query: made.query })
      assert.deepStrictEqual(same, { createdAt, id, ...made })
      const renamed = yield* update({ name: "All flaky" })
      const updatedAt = yield* now
      assert.deepStrictEqual(renamed, { ...made, id, createdAt, name: "All flaky", updatedAt })
      // The query replaces all filters, and the product stays.
      const filtered = yield* update({ query: { q: "pays" } })
      assert.deepStrictEqual(filtered.query, { q: "pays" })
      assert.strictEqual(filtered.product, product.slug)
      assert.isAbove(Date.parse(filtered.updatedAt), Date.parse(updatedAt))
      const moved = yield* update({ product: other.slug })
      assert.deepStrictEqual([moved.product, moved.query], [other.slug, { q: "pays" }])
      assert.deepStrictEqual(yield* filters.get(id).pipe(as(viewer)), moved)
      const events = (yield* eventsOf(workspace)).filter(({ kind }) => kind === "filter_updated")
      assert.lengthOf(events, 3)
      const queryOf = { query: `environment=${environment.slug}&state=flaky` }
      assertChain(
        events,
        { name: "Flaky", product: product.slug, ...queryOf },
        { name: "All flaky", product: other.slug, query: "q=pays" }
      )
      yield* filters.delete(id).pipe(as(admin))
      assert.deepStrictEqual(yield* names(viewer), [])
      assert.strictEqual((yield* eventsOf(workspace)).at(-1)?.kind, "filter_deleted")
      for (const gone of [filters.get(id), filters.delete(id), update({ name: "Gone" })]) {
        assert.strictEqual(yield* said(gone.pipe(as(admin))), `There is no saved filter "${id}" that you can see.`)
      }
      assert.strictEqual(yield* refusal(filters.get("flaky").pipe(as(admin))), "NotFound")
    })
  )

  it.effect("follows products and environments that get other slugs", () =>
    Effect.gen(function* () {
      const filters = yield* SavedFilters
      const { admin, environment, member, product } = yield* makeCatalog
      const query = { product: product.slug, environment: environment.slug }
      const ofRuns = yield* create(member, { query })
      const ofTests = yield* create(member, {
        screen: "tests",
        product: product.slug,
        query: { environment: environment.slug }
      })
      const renamed = { product: unique("renamed"), environment: unique("renamed") }
      yield* (yield* Products).update(product.id, { slug: renamed.product }).pipe(as(admin))
      yield* (yield* Environments).update(environment.id, { slug: renamed.environment }).pipe(as(admin))
      assert.deepStrictEqual((yield* filters.get(ofRuns.id).pipe(as(member))).query, renamed)
      const after = yield* filters.get(ofTests.id).pipe(as(member))
      assert.deepStrictEqual([after.product, after.query], [renamed.product, { environment: renamed.environment }])
      // Another's old slug does not lead to it.
      yield* addProduct(product.workspaceId, { slug: product.slug })
      assert.deepStrictEqual((yield* filters.get(ofRuns.id).pipe(as(member))).query, renamed)
    })
  )

  it.effect("is its person's alone where it is personal, whatever the role of others", () =>
    Effect.gen(function* () {
      const filters = yield* SavedFilters
      const { admin, member, memberKey, owner, workspace } = yield* makeCatalog
      const agent = yield* addAgent(member)
      const other = yield* addMember(workspace, "member")
      const mine = yield* create(member, { name: "Mine", visibility: "personal" })
      const made = yield* create(agent, { name: "Of my agent", visibility: "personal" })
      yield* create(other, { name: "Theirs", visibility: "personal" })
      yield* create(other, { name: "Shared" })
      for (const caller of [member, agent]) {
        assert.deepStrictEqual(yield* names(caller), ["Mine", "Of my agent", "Shared"])
      }
      for (const caller of [admin, owner, memberKey]) {
        assert.deepStrictEqual(yield* names(caller), ["Shared"])
        for (const call of [
          filters.get(mine.id),
          filters.update(mine.id, { name: "Taken" }),
          filters.update(mine.id, { visibility: "shared" }),
          filters.delete(mine.id)
        ]) {
          const expected = `There is no saved filter "${mine.id}" that you can see.`
          assert.strictEqual(yield* said(call.pipe(as(caller))), expected)
        }
      }
      yield* filters.update(mine.id, { name: "Still mine" }).pipe(as(agent))
      yield* filters.delete(made.id).pipe(as(member))
      assert.deepStrictEqual(yield* names(member), ["Shared", "Still mine"])
      // Of all that, the event of the shared one alone is there.
      assert.deepStrictEqual(
        (yield* eventsOf(workspace)).map(({ subjectLabel }) => subjectLabel),
        ["Shared"]
      )
      assert.strictEqual(yield* refusal(create(memberKey, { visibility: "personal" })), "Forbidden account_key")
    })
  )

  it.effect("is shared by its person, and taken back by nobody else, which is all that others are told", () =>
    Effect.gen(function* () {
      const filters = yield* SavedFilters
      const { admin, member, memberKey, viewer, workspace } = yield* makeCatalog
      const agent = yield* addAgent(member)
      const { id } = yield* create(agent, { name: "A secret plan", visibility: "personal" })
      const told = Effect.map(eventsOf(workspace), (events) => {
        const { changes, kind, subjectId, subjectLabel } = events.at(-1)!
        return { kind, subjectId, subjectLabel, changes }
      })
      const open = yield* filters.update(id, { name: "Plan", visibility: "shared" }).pipe(as(member))
      assert.deepStrictEqual([open.visibility, open.name], ["shared", "Plan"])
      assert.deepStrictEqual(yield* names(viewer), ["Plan"])
      const about = { kind: "filter_updated", subjectId: id, subjectLabel: "Plan" }
      const shared = [{ field: "visibility", from: "personal", to: "shared" }]
      assert.deepStrictEqual(yield* told, { ...about, changes: shared })
      const take = filters.update(id, { name: "Mine alone", visibility: "personal" })
      assert.strictEqual(yield* refusal(take.pipe(as(admin))), "Forbidden not_creator")
      assert.strictEqual(yield* refusal(take.pipe(as(memberKey))), "Forbidden account_key")
      assert.strictEqual((yield* take.pipe(as(member))).visibility, "personal")
      assert.deepStrictEqual(yield* names(viewer), [])
      const taken = [{ field: "visibility", from: "shared", to: "personal" }]
      assert.deepStrictEqual(yield* told, { ...about, changes: taken })
    })
  )

  it.effect("has as many of a list, and as many of a person, as the limit says, however many are sent at once", () =>
    Effect.gen(function* () {
      const filters = yield* SavedFilters
      const { member, product, viewer, workspace } = yield* makeCatalog
      const other = yield* addMember(workspace, "member")
      const many = Effect.fnUntraced(function* (
        count: number,
        make: Effect.Effect<SavedFilter, unknown, SavedFilters>
      ) {
        const outcomes = yield* Effect.all(
          Array.from({ length: count }, () => Effect.as(make, "made").pipe(Effect.orElseSucceed(() => "refused"))),
          { concurrency: 8 }
        )
        return outcomes.filter((one) => one === "made").length
      })
      assert.strictEqual(yield* many(maxSharedFilters + 3, create(member)), maxSharedFilters)
      assert.lengthOf(yield* names(viewer), maxSharedFilters)
      assert.strictEqual(yield* refusal(create(other)), "Conflict too_many_filters")
      // Personal ones have a limit of their own, and so has the other list.
      const own = yield* create(other, { visibility: "personal" })
      const share = filters.update(own.id, { visibility: "shared" }).pipe(as(other))
      assert.strictEqual(yield* refusal(share), "Conflict too_many_filters")
      const ofTests = { screen: "tests", product: product.slug, query: {} } as const
      yield* create(member, ofTests)
      const personal = create(member, { ...ofTests, visibility: "personal" })
      assert.strictEqual(yield* many(maxPersonalFilters + 3, personal), maxPersonalFilters)
      assert.strictEqual(yield* refusal(personal), "Conflict too_many_filters")
      const open = yield* create(member, ofTests)
      const take = filters.update(open.id, { visibility: "personal" }).pipe(as(member))
      assert.strictEqual(yield* refusal(take), "Conflict too_many_filters")
      yield* create(other, { ...ofTests, visibility: "personal" })
      // What is full can still be changed.
      const [first] = yield* filters.list("runs").pipe(as(member))
      assert.strictEqual((yield* filters.update(first!.id, { name: "New" }).pipe(as(member))).name, "New")
    })
  )
})
