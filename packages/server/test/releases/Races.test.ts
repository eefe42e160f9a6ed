import type { ReleasePage } from "@delivery/domain/releases/Release"
import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { StartedTestRun, TestRun } from "@delivery/domain/runs/TestRun"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { finishBody, git, machine } from "../runs/Scene.ts"
import { makeDatabase } from "../support/Databases.ts"
import type { Http } from "../support/Http.ts"
import { startServerOn } from "../support/SeveralServers.ts"

/** Changes of versions, starts and finishes of locked runs, all at once over HTTP, at two servers of one PostgreSQL. */

const times = (count: number) => Array.from({ length: count }, (_, index) => index)

const run = {
  product: "shop",
  environment: "staging",
  baseUrl: "https://shop.example",
  git,
  machine,
  selection: { coverage: null, folders: [], caseIds: [] }
}
const path = "deployments/shop/staging"

const makeDeployment = async (at: Http) => {
  await at.post("products", { slug: "shop", name: "Shop", type: "library" })
  await at.post("environments", { slug: "staging", name: "Staging", class: "non-production" })
  await at.post("deployments", { product: "shop", environment: "staging", version: "first" })
}

/** Starts a run and finishes it at the other server. */
const startAndFinish = async (at: Http, other: Http, locked: boolean) => {
  const { number } = await at.post<StartedTestRun>("test-runs", { ...run, locked })
  await other.get(path)
  await other.post(`test-runs/${number}/finish`, finishBody({ tests: [] }), 200)
  return number
}

/** The versions that became the deployment's, of those that were asked for. */
const change = async (at: Http, version: string, options: object) => {
  const { body, status } = await at.send<Deployment & { reason: string; runs: ReadonlyArray<number> }>("PATCH", path, {
    json: { version, ...options, commits: [{ sha: "a".repeat(40), subject: "ENG-1" }] }
  })
  if (status === 200) return [body.version]
  assert.deepStrictEqual([status, body.reason], [409, "run_in_progress"])
  assert.isNotEmpty(body.runs)
  return []
}

/** Every release once, and each run on the release whose version it tested. Returns the numbers of the releases. */
const checkLedger = async (at: Http, changed: ReadonlyArray<string | null>, runs: ReadonlyArray<number>) => {
  const { releases } = await at.get<ReleasePage>(`${path}/history`)
  assert.isBelow(releases.length, 100)
  assert.deepStrictEqual(
    releases.map(({ number }) => number),
    times(releases.length)
      .map((index) => index + 1)
      .toReversed()
  )
  assert.sameMembers(
    releases.map(({ version }) => version),
    ["first", ...changed]
  )
  for (const [index, { previous }] of releases.entries()) {
    assert.strictEqual(previous, releases[index + 1]?.version ?? null)
  }
  assert.strictEqual((await at.get<Deployment>(path)).version, releases[0]!.version)
  const found = await Promise.all(runs.map((number) => at.get<TestRun>(`test-runs/${number}`)))
  for (const { deploymentVersion, number, release } of found) {
    assert.strictEqual(releases.find((one) => one.number === release)?.version, deploymentVersion, `run ${number}`)
  }
  return found
}

const withServers = (body: (servers: readonly [Http, Http]) => Promise<void>) =>
  Effect.gen(function* () {
    const { url } = yield* makeDatabase
    const servers = [yield* startServerOn(url), yield* startServerOn(url)] as const
    yield* Effect.promise(() => makeDeployment(servers[0]))
    yield* Effect.promise(() => body(servers))
  }).pipe(Effect.scoped)

it.live("no version changes while a locked run is under way, whichever server is asked", () =>
  withServers(async (servers) => {
    const changed: Array<string | null> = []
    const runs: Array<number> = []
    for (const round of times(3)) {
      await Promise.all(
        times(24).map(async (index) => {
          const [at, other] = index % 2 === 0 ? servers : ([servers[1], servers[0]] as const)
          if (index % 3 === 0) runs.push(await startAndFinish(at, other, true))
          else if (index % 6 === 1) runs.push(await startAndFinish(at, other, false))
          else {
            const waitMs = index % 6 === 2 ? 30_000 : 0
            changed.push(...(await change(at, `v${round}.${index}`, { waitMs })))
          }
        })
      )
    }
    // Those that waited were not in vain.
    assert.isAtLeast(changed.length, 3 * 4)
    const found = await checkLedger(servers[0], changed, runs)
    for (const { deploymentChanged, locked, number } of found) {
      if (locked) assert.isFalse(deploymentChanged, `run ${number}`)
    }
  })
)

it.live("who waits at one server goes on when the run ends at the other", () =>
  withServers(async (servers) => {
    const { number } = await servers[0].post<StartedTestRun>("test-runs", { ...run, locked: true })
    const waiting = change(servers[1], "v1", { waitMs: 30_000 })
    assert.deepStrictEqual(await change(servers[0], "v2", {}), [])
    await servers[0].post(`test-runs/${number}/finish`, finishBody({ tests: [] }), 200)
    assert.deepStrictEqual(await waiting, ["v1"])
  })
)

it.live("forced changes mark the runs that they meet", () =>
  withServers(async (servers) => {
    const changed: Array<string | null> = []
    const runs: Array<number> = []
    await Promise.all(
      times(30).map(async (index) => {
        const [at, other] = index % 2 === 0 ? servers : ([servers[1], servers[0]] as const)
        if (index % 3 === 0) runs.push(await startAndFinish(at, other, index % 2 === 0))
        else changed.push(...(await change(at, `v${index}`, { force: true })))
      })
    )
    assert.lengthOf(changed, 20)
    const { number } = await servers[0].post<StartedTestRun>("test-runs", { ...run, locked: true })
    changed.push(...(await change(servers[1], "last", { force: true })))
    await servers[0].post(`test-runs/${number}/finish`, finishBody({ tests: [] }), 200)
    const found = await checkLedger(servers[1], changed, [...runs, number])
    assert.isTrue(found.at(-1)!.deploymentChanged)
    // A run that a later release met after its end is not marked by it: one on the last release never is.
    for (const { deploymentChanged, release } of found) {
      if (deploymentChanged) assert.isBelow(release!, changed.length + 1)
    }
  })
)

it.live("every release is judged, whichever of two changes of a version comes first", () =>
  withServers(async ([first, second]) => {
    await first.send("PUT", `${path}/readiness-policy`, { json: { requires: [{ coverage: "critical" }] } })
    // Each of the second finds its version there, or gone while it is judged.
    let isOver = false
    const ones = async () => {
      for (const _ of times(12)) await change(first, "a", {})
      isOver = true
    }
    const others = async () => {
      while (!isOver) await change(second, "b", {})
    }
    await Promise.all([ones(), others()])
    const { releases } = await first.get<ReleasePage>(`${path}/history`)
    assert.isAbove(releases.length, 2)
    const judged = releases.filter(({ version }) => version !== "first")
    assert.deepStrictEqual(
      judged.filter(({ readiness }) => readiness?.ready !== false).map(({ number, version }) => [number, version]),
      []
    )
  })
)

it.live("releases are numbered once each, whoever deletes the deployment and makes it anew meanwhile", () =>
  withServers(async ([first, second]) => {
    let isOver = false
    const changes = async (at: Http) => {
      for (let index = 0; !isOver; index++) {
        const { status } = await at.send("PATCH", path, { json: { version: `${at === first}${index}` } })
        assert.include([200, 404], status)
      }
    }
    // Half of them are made without a version: the first change is their first release.
    const anew = async () => {
      for (const index of times(12)) {
        await second.send("DELETE", path)
        const json = {
          product: "shop",
          environment: "staging",
          ...(index % 2 === 0 ? {} : { version: `made${index}` })
        }
        assert.strictEqual((await first.send("POST", "deployments", { json })).status, 201)
      }
      isOver = true
    }
    await Promise.all([changes(first), changes(second), anew()])
    const found: Array<ReleasePage["releases"][number]> = []
    for (;;) {
      const { releases } = await first.get<ReleasePage>(`${path}/history?before=${found.at(-1)?.number ?? 100_000}`)
      found.push(...releases)
      if (releases.length < 100) break
    }
    assert.deepStrictEqual(
      found.map(({ number }) => number),
      times(found.length)
        .map((index) => index + 1)
        .toReversed()
    )
    assert.isAbove(new Set(found.map(({ deployment }) => deployment.id)).size, 6)
    assert.lengthOf(
      found.filter(({ version }) => version!.startsWith("made")),
      6
    )
  })
)
