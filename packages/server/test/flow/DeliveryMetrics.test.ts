import type { DeliveryMetrics as Measures } from "@delivery/domain/flow/DeliveryMetrics"
import type { DeploymentId, ProductId } from "@delivery/domain/Ids"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Deployments } from "../../src/catalog/Deployments.ts"
import { Environments } from "../../src/catalog/Environments.ts"
import { DeliveryMetrics, type MetricsQuery } from "../../src/flow/DeliveryMetrics.ts"
import { addEnvironment, addProduct } from "../catalog/Rows.ts"
import { as, eventsOf, everyRole, refusal, whoMay } from "../identity/Scene.ts"
import { deploymentIn, makeProduct, type ProductScene } from "../releases/Scene.ts"
import { isOneVersion, spelledVersions } from "../releases/Spellings.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"

/** The measures beside what the events tell, which knows nothing of the ledger of releases. */

interface Commit {
  readonly sha: string
  readonly at: string
  readonly subject: string
}

/** Tags of a public repository as versions, each with the commits since the tag before it; the file says whose they are. */
const { versions } = JSON.parse(readFileSync(join(import.meta.dirname, "../releases/commons-csv.json"), "utf8")) as {
  readonly versions: ReadonlyArray<{ readonly tag: string; readonly commits: ReadonlyArray<Commit> }>
}

const dayMillis = 86_400_000

const metrics = (scene: ProductScene, query: MetricsQuery) =>
  Effect.flatMap(DeliveryMetrics, (metrics) => metrics.get(query)).pipe(as(scene.viewer))

interface Exported {
  readonly kind: string
  readonly subjectId: string
  readonly createdAt: string
  readonly changes: ReadonlyArray<{ readonly field: string; readonly to: string | null }>
}

interface Deployed {
  readonly product: string
  readonly environment: string
}

/** The value in the middle, or the lower of two. */
const middle = (values: ReadonlyArray<number>) =>
  values.length === 0 ? null : values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)]!

/** When, and of one instant where. */
const placeOf = ({ at, environment, product }: Deployed & { readonly at: string }) => `${at} ${product} ${environment}`

/** The measures, from exported events and what the versions contain. */
const recomputed = (
  events: ReadonlyArray<Exported>,
  production: ReadonlyMap<string, Deployed>,
  commitsOf: (product: string, version: string) => ReadonlyArray<Commit>,
  from: string,
  to: string,
  /** All versions that a product had, wherever it is deployed. */
  known: (product: string) => ReadonlyArray<string | null>
): Measures => {
  const [begin, end] = [Date.parse(from), Date.parse(to) + dayMillis]
  const isInside = (at: string) => Date.parse(at) >= begin && Date.parse(at) < end
  const had = new Map<string, Array<{ version: string | null; at: string }>>()
  for (const { changes, createdAt, kind, subjectId } of events) {
    const change = changes.find(({ field }) => field === "version")
    if (kind !== "deployment_updated" || change === undefined || !production.has(subjectId)) continue
    had.set(subjectId, [...(had.get(subjectId) ?? []), { version: change.to, at: createdAt }])
  }
  const releases = [...had]
    .flatMap(([id, list]) => {
      const isSame = isOneVersion(known(production.get(id)!.product))
      // The same commit, written in another way, is no change.
      const isChange = (place: number) =>
        list[place]!.version !== null && !isSame(list[place]!.version, list[place - 1]?.version ?? null)
      return list.flatMap(({ at, version }, index) => {
        if (version === null || !isInside(at) || !isChange(index)) return []
        const later = list.findIndex((_, place) => place > index && isChange(place))
        const next = list[later]
        const age = (of: string | null) => list.findIndex((one) => isSame(one.version, of))
        const isBack = next !== undefined && age(next.version) < age(version)
        return [
          {
            release: {
              ...production.get(id)!,
              deployment: id as DeploymentId,
              number: index + 1,
              version,
              at
            },
            next: isBack ? { at: next.at, number: later + 1 } : undefined
          }
        ]
      })
    })
    .toSorted((a, b) => (placeOf(a.release) < placeOf(b.release) ? -1 : 1))
  const failures = releases.flatMap(({ next, release }) =>
    next === undefined
      ? []
      : [
          {
            ...release,
            restoredBy: next.number,
            restoredAt: next.at,
            ms: Date.parse(next.at) - Date.parse(release.at)
          }
        ]
  )
  const arrived = new Map<string, { sha: string; product: string; at: string; ms: number }>()
  const all = [...had].flatMap(([id, list]) => list.map((one) => ({ ...one, ...production.get(id)! })))
  for (const { at, product, version } of all.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const written = [...new Set(known(product))].filter((one) => isOneVersion(known(product))(one, version))
    for (const commit of written.flatMap((one) => commitsOf(product, one!))) {
      const made = new Date(commit.at).toISOString()
      const key = `${product} ${commit.sha}`
      const ms = isInside(at) ? Date.parse(at) - Date.parse(made) : Number.NaN
      if (!arrived.has(key)) arrived.set(key, { sha: commit.sha, product, at: made, ms })
    }
  }
  const commits = [...arrived.values()]
    .filter(({ ms }) => !Number.isNaN(ms))
    .toSorted((a, b) => (`${a.product} ${a.sha}` < `${b.product} ${b.sha}` ? -1 : 1))
  return {
    deploymentFrequency: {
      perDay: releases.length / ((end - begin) / dayMillis),
      count: releases.length,
      releases: releases.map(({ release }) => release)
    },
    leadTime: { medianMs: middle(commits.map(({ ms }) => ms)), commits },
    changeFailureRate: {
      rate: releases.length === 0 ? null : failures.length / releases.length,
      total: releases.length,
      failed: releases.flatMap(({ next, release }) => (next === undefined ? [] : [release]))
    },
    timeToRestore: { medianMs: middle(failures.map(({ ms }) => ms)), failures }
  }
}

withServicesOnEachStorage("Delivery metrics", (it) => {
  it.effect("are told to every role", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      const service = yield* DeliveryMetrics
      assert.deepStrictEqual(yield* whoMay(scene, service.get({})), everyRole)
      assert.strictEqual(yield* refusal(as(scene.viewer)(service.get({ product: "unknown" }))), "NotFound")
    })
  )

  it.effect("are those of the events of a replayed history", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(0)
      const scene = yield* makeProduct
      const eu = yield* addEnvironment(scene.workspace.id, { slug: "eu", name: "EU", class: "production" })
      const places = [scene.staging, scene.production, eu].map((environment) => ({
        environment,
        ...deploymentIn(scene, scene.product, environment)
      }))
      const [staging, production, europe] = places as [(typeof places)[0], (typeof places)[0], (typeof places)[0]]
      for (const { create } of places) yield* create()
      const deployed = new Map<string, Deployed>()
      for (const { environment, get } of [production, europe]) {
        deployed.set((yield* get).id, { product: scene.product.slug, environment: environment.slug })
      }
      let before: string | undefined
      let now = 0
      const pass = (millis: number) => TestClock.setTime((now = Math.max(now, millis)))
      for (const [index, { commits, tag }] of versions.entries()) {
        yield* pass(Math.max(...commits.map(({ at }) => Date.parse(at))) + 3_600_000)
        yield* staging.update({ version: tag, commits })
        yield* pass(now + 7_000_000 + index * 1_234)
        yield* production.update({ version: tag })
        // Some do not last, and some of those come again.
        if (before !== undefined && index % 3 === 1) {
          yield* pass(now + 600_000 * (index + 1))
          yield* production.update({ version: index % 2 === 1 ? before : null })
          yield* pass(now + 600_000)
          yield* production.update({ version: tag })
        }
        if (index % 2 === 0) yield* europe.update({ version: tag })
        before = tag
      }
      const commitsOf = (_: string, version: string) => versions.find(({ tag }) => tag === version)!.commits
      const events = yield* eventsOf(scene.workspace)
      const years = [...new Set(events.map(({ createdAt }) => createdAt.slice(0, 4)))]
      const sums = { releases: 0, commits: 0, failures: 0 }
      for (const year of years) {
        const [from, to] = [`${year}-01-01`, `${year}-12-31`]
        const found = yield* metrics(scene, { product: scene.product.slug, from, to })
        assert.deepStrictEqual(
          found,
          recomputed(events, deployed, commitsOf, from, to, () => versions.map(({ tag }) => tag)),
          year
        )
        assert.deepStrictEqual(yield* metrics(scene, { from, to }), found)
        sums.releases += found.deploymentFrequency.count
        sums.commits += found.leadTime.commits.length
        sums.failures += found.timeToRestore.failures.length
      }
      // There was something to compare.
      assert.deepStrictEqual(sums, { releases: 35, commits: 455, failures: 3 })
    })
  )

  it.effect("count no release as failed that what it had replaced replaces again, and see past cleared versions", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      const { create, update } = deploymentIn(scene, scene.product, scene.production)
      yield* create()
      const failed = Effect.map(metrics(scene, {}), ({ changeFailureRate, timeToRestore }) => [
        changeFailureRate.failed.map(({ number, version }) => `${number} ${version}`),
        timeToRestore.failures.map(({ restoredBy }) => restoredBy)
      ])
      const then = (...versions: ReadonlyArray<string | null>) =>
        Effect.andThen(
          Effect.forEach(versions, (version) => update({ version })),
          failed
        )
      assert.deepStrictEqual(yield* then("v1", "v2", "v3", "v2"), [["3 v3"], [4]])
      // The second try is none of the version that ran between.
      assert.deepStrictEqual(yield* then("v3"), [["3 v3"], [4]])
      assert.deepStrictEqual(yield* then("v2"), [
        ["3 v3", "5 v3"],
        [4, 6]
      ])
      assert.deepStrictEqual(yield* then(null, "v2", "v4"), [
        ["3 v3", "5 v3"],
        [4, 6]
      ])
      assert.deepStrictEqual(yield* then(null, "v1"), [
        ["3 v3", "5 v3", "9 v4"],
        [4, 6, 11]
      ])
    })
  )

  it.effect("are those of random changes, in several products and environments", () =>
    Effect.gen(function* () {
      const step = fc.record({
        place: fc.nat(3),
        version: fc.nat(99),
        millis: fc.nat(40 * 3_600_000)
      })
      const histories = [["v1", "v2", "v3", null], spelledVersions].flatMap((versions) =>
        fc
          .sample(fc.array(step, { minLength: 1, maxLength: 25 }), 6)
          .map((steps) => steps.map((one) => ({ ...one, version: versions[one.version % versions.length]! })))
      )
      for (const steps of histories) {
        const scene = yield* makeProduct
        yield* TestClock.setTime(Date.parse("2026-03-01T00:00:00Z"))
        const other = yield* addProduct(scene.workspace.id, { slug: "other" })
        const eu = yield* addEnvironment(scene.workspace.id, { slug: "eu", class: "production" })
        const pairs = [
          [scene.product, scene.production],
          [scene.product, eu],
          [other, eu],
          [other, scene.staging]
        ] as const
        const places = pairs.map(([product, environment]) => deploymentIn(scene, product, environment))
        const deployed = new Map<string, Deployed>()
        for (const [index, { create, get }] of places.entries()) {
          yield* create()
          const [product, environment] = pairs[index]!
          const names = { product: product.slug, environment: environment.slug }
          if (environment.class === "production") deployed.set((yield* get).id, names)
        }
        const told = new Map<string, Array<Commit>>()
        for (const [index, { millis, place, version }] of steps.entries()) {
          yield* TestClock.adjust(millis + 1)
          const sha = (index % 7).toString(16).repeat(40)
          const commit = { sha, subject: "Change", at: "2026-02-27T00:00:00.000Z" }
          const key = `${pairs[place]![0].slug} ${version}`
          const isNew = (yield* places[place]!.get).version !== version
          yield* places[place]!.update({ version, ...(version === null ? {} : { commits: [commit] }) })
          if (version !== null && isNew && !(told.get(key) ?? []).some((one) => one.sha === sha)) {
            told.set(key, [...(told.get(key) ?? []), commit])
          }
        }
        const events = yield* eventsOf(scene.workspace)
        const commitsOf = (product: string, version: string) => told.get(`${product} ${version}`) ?? []
        const known = (product: string) =>
          steps.flatMap(({ place, version }) => (pairs[place]![0].slug === product ? [version] : []))
        const periods = [
          ["2026-03-01", "2026-03-01"],
          ["2026-03-03", "2026-03-09"],
          ["2026-02-01", "2026-06-01"]
        ] as const
        for (const [from, to] of periods) {
          const expected = recomputed(events, deployed, commitsOf, from, to, known)
          assert.deepStrictEqual(yield* metrics(scene, { from, to }), expected)
          const ids = new Map([...deployed].filter(([, { product }]) => product === "other"))
          assert.deepStrictEqual(
            yield* metrics(scene, { from, to, product: other.id as ProductId }),
            recomputed(events, ids, commitsOf, from, to, known)
          )
        }
      }
    })
  )

  it.effect("take one commit as one version, however it is written", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      const { create, history, update } = deploymentIn(scene, scene.product, scene.production)
      const [one, other] = ["abcdef1234567890abcdef1234567890abcdef12", "bcdef1234567890abcdef1234567890abcdef123"]
      yield* create()
      const told = Effect.gen(function* () {
        const { changeFailureRate, deploymentFrequency } = yield* metrics(scene, {})
        return {
          changes: deploymentFrequency.releases.map(({ number }) => number),
          failed: changeFailureRate.failed.map(({ number }) => number),
          back: (yield* history()).map(({ number, rolledBackTo }) => [number, rolledBackTo]).toReversed()
        }
      })
      const then = (...versions: ReadonlyArray<string | null>) =>
        Effect.andThen(
          Effect.forEach(versions, (version) => update({ version })),
          told
        )
      // Nothing but one commit was ever there.
      assert.deepStrictEqual(yield* then(one, one.toUpperCase(), one.slice(0, 12), one), {
        changes: [1],
        failed: [],
        back: [1, 2, 3, 4].map((number) => [number, null])
      })
      assert.deepStrictEqual(yield* then(other, one.slice(0, 9)), {
        changes: [1, 5, 6],
        failed: [5],
        back: [...[1, 2, 3, 4, 5].map((number) => [number, null]), [6, 4]]
      })
      assert.deepStrictEqual((yield* history())[0]!.version, one.slice(0, 9))
      // To write it in another way comes between, and changes neither.
      const { changes, failed } = yield* then(other.slice(0, 12), other, null, one)
      assert.deepStrictEqual(
        [changes, failed],
        [
          [1, 5, 6, 7, 10],
          [5, 7]
        ]
      )
      // What begins two that differ is neither.
      const like = `abcdef12${"0".repeat(32)}`
      assert.deepStrictEqual((yield* then(like, "abcdef1")).back.slice(-3), [
        [10, 6],
        [11, null],
        [12, null]
      ])
    })
  )

  it.effect("have the days of the query, both inclusive, by default the last 30", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      const { create, update } = deploymentIn(scene, scene.product, scene.production)
      yield* TestClock.setTime(Date.parse("2026-03-01T00:00:00Z"))
      yield* create()
      const release = (at: string, version: string) =>
        Effect.andThen(TestClock.setTime(Date.parse(at)), update({ version }))
      yield* release("2026-03-01T23:59:59.999Z", "v1")
      yield* release("2026-03-02T00:00:00.000Z", "v2")
      yield* release("2026-03-31T23:59:59.999Z", "v3")
      const count = (query: MetricsQuery) =>
        Effect.map(metrics(scene, query), ({ deploymentFrequency: { count, perDay } }) => [count, perDay])
      assert.deepStrictEqual(yield* count({}), [2, 2 / 30])
      assert.deepStrictEqual(yield* count({ to: "2026-03-30" }), [2, 2 / 30])
      assert.deepStrictEqual(yield* count({ from: "2026-03-01" }), [3, 3 / 31])
      assert.deepStrictEqual(yield* count({ from: "2026-03-01", to: "2026-03-01" }), [1, 1])
      assert.deepStrictEqual(yield* metrics(scene, { from: "2026-04-01", to: "2026-04-02" }), {
        deploymentFrequency: { perDay: 0, count: 0, releases: [] },
        leadTime: { medianMs: null, commits: [] },
        changeFailureRate: { rate: null, total: 0, failed: [] },
        timeToRestore: { medianMs: null, failures: [] }
      })
    })
  )

  it.effect("count deployments that are gone, and not environments of another class or commits without a time", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      yield* TestClock.setTime(Date.parse("2026-05-01T12:00:00Z"))
      const commits = [
        { sha: "a".repeat(40), subject: "Told", at: "2026-05-01T13:00:00Z" },
        { sha: "b".repeat(40), subject: "No time" },
        { sha: "c".repeat(40), subject: "Later than its release", at: "2026-05-01T20:00:00Z" }
      ]
      const staging = deploymentIn(scene, scene.product, scene.staging)
      const production = deploymentIn(scene, scene.product, scene.production)
      yield* staging.create()
      yield* production.create()
      yield* TestClock.adjust("2 hours")
      yield* staging.update({ version: "v1", commits })
      yield* production.update({ version: "v1" })
      const { id: gone } = yield* production.get
      yield* (yield* Deployments).delete(scene.product.slug, "production").pipe(as(scene.member))
      yield* production.create("v2")
      const { id: anew } = yield* production.get
      const found = yield* metrics(scene, {})
      assert.deepStrictEqual(
        found.deploymentFrequency.releases.map(({ deployment, number, version }) => [deployment, number, version]),
        [
          [gone, 1, "v1"],
          [anew, 2, "v2"]
        ]
      )
      assert.deepStrictEqual(
        found.leadTime.commits.map(({ ms, sha }) => [sha[0], ms]),
        [
          ["a", 3_600_000],
          ["c", 0]
        ]
      )
      yield* (yield* Environments).update("production", { class: "non-production" }).pipe(as(scene.admin))
      assert.strictEqual((yield* metrics(scene, {})).deploymentFrequency.count, 0)
    })
  )
})
