import { assert } from "@effect/vitest"
import type { InvalidInput } from "@delivery/domain/Errors"
import type { DeploymentId } from "@delivery/domain/Ids"
import type { Release } from "@delivery/domain/releases/Release"
import { Effect, Fiber, Queue } from "effect"
import { TestClock } from "effect/testing"
import { Releases } from "../../src/releases/Releases.ts"
import { type HistoryCursor, ReleasesRepo } from "../../src/releases/ReleasesRepo.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { addDeployment } from "../catalog/Rows.ts"
import { answer, as, eventsOf, everyRole, kindsOf, newId, now, refusal, unique, whoMay } from "../identity/Scene.ts"
import { report } from "../runs/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { deploymentIn, makeProduct, makeTeam, makeTicket } from "./Scene.ts"

const sha = (digit: string) => digit.repeat(40)

withServicesOnEachStorage("Releases", (it) => {
  it.effect("are shown to every role", () =>
    Effect.gen(function* () {
      const releases = yield* Releases
      const scene = yield* makeProduct
      const [product, environment] = [unique("unknown"), unique("unknown")]
      assert.deepStrictEqual(yield* whoMay(scene, releases.history(product, environment, {})), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, releases.version(product, "v1")), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, releases.trace("ENG-1")), everyRole)
    })
  )

  it.effect("are every change of the version, numbered from 1, and nothing else", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      const { member, memberKey, product, staging } = scene
      const { create, history, update } = deploymentIn(scene, product, staging)
      yield* create("v1")
      yield* update({ baseUrl: "https://shop.example", version: "v1" })
      yield* TestClock.adjust("1 hour")
      yield* update({ version: "v2" }, memberKey as never)
      const second = yield* now
      yield* TestClock.adjust("1 hour")
      yield* update({ version: null })
      yield* update({ version: null })
      yield* update({ version: "v1" })
      yield* update({ version: "v2", fixtureUrl: "https://fixtures.example" })
      const found = yield* history()
      assert.deepStrictEqual(
        found.map(({ number, previous, rolledBackTo, version }) => [number, version, previous, rolledBackTo]),
        [
          [5, "v2", "v1", 2],
          [4, "v1", null, 1],
          [3, null, "v2", null],
          [2, "v2", "v1", null],
          [1, "v1", null, null]
        ]
      )
      assert.deepStrictEqual(found.at(-2)!.at, second)
      assert.deepStrictEqual(found.at(-2)!.by, memberKey.principal as never)
      assert.deepStrictEqual(found[0]!.by, member.principal as never)
      for (const release of found)
        assert.deepStrictEqual([release.commits, release.runs], [[], { passed: 0, failed: 0 }])
      assert.deepStrictEqual(
        (yield* history(3)).map(({ number }) => number),
        [2, 1]
      )
      assert.deepStrictEqual(yield* history(1), [])
    })
  )

  it.effect("tell why they went out against the policy, where whoever recorded them says so", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      const { create, history, remove, update } = deploymentIn(scene, scene.product, scene.staging)
      yield* create("v1")
      const override = "The payment is down"
      yield* update({ version: "v2", override })
      // The version that it has is no release: another reason would be lost. The same one is sent again by CI.
      const late = yield* Effect.flip(update({ version: "v2", override: "Again" }))
      assert.deepStrictEqual(
        (late as InvalidInput).issues.map(({ path }) => path),
        [["override"]]
      )
      yield* update({ version: "v2", override })
      yield* update({ version: "v3" })
      const told = (yield* history()).map(({ override, version }) => [version, override])
      assert.deepStrictEqual(told, [
        ["v3", null],
        ["v2", override],
        ["v1", null]
      ])
      const updates = (yield* eventsOf(scene.workspace)).filter(({ kind }) => kind === "deployment_updated")
      assert.deepStrictEqual(
        updates.map(({ changes }) => changes.map(({ field, from, to }) => [field, from, to])),
        [
          [
            ["version", "v1", "v2"],
            ["override", null, override]
          ],
          [["version", "v2", "v3"]]
        ]
      )
      // One that is made anew says so, too.
      yield* remove
      yield* create("v4", { override: "Again" })
      assert.deepInclude((yield* history())[0]!, { version: "v4", override: "Again" })
      assert.deepStrictEqual((yield* eventsOf(scene.workspace)).at(-1)!.changes, [
        { field: "version", from: null, to: "v4" },
        { field: "override", from: null, to: "Again" }
      ])
    })
  )

  it.effect("go on where a deployment is deleted and made anew, and those of the deleted one stay", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      const { product, production, staging } = scene
      const { create, finish, get, history, remove, run, start, update } = deploymentIn(scene, product, staging)
      assert.strictEqual(yield* refusal(history()), "NotFound")
      yield* create()
      assert.deepStrictEqual(yield* history(), [])
      yield* update({ version: "v1" })
      yield* finish(yield* start())
      const { id: first } = yield* get
      yield* TestClock.adjust("1 hour")
      yield* remove
      const deletedAt = yield* now
      const told = ({ deployment, number, previous, rolledBackTo, runs, version }: Release) =>
        [number, version, previous, rolledBackTo, runs.passed, deployment] as const
      const ofFirst = [1, "v1", null, null, 1, { id: first, deletedAt }] as const
      assert.deepStrictEqual((yield* history()).map(told), [ofFirst])
      yield* TestClock.adjust("1 hour")
      yield* create("v1")
      const { id: second } = yield* get
      yield* finish(yield* start())
      const ofSecond = [2, "v1", null, null, 1, { id: second, deletedAt: null }] as const
      assert.deepStrictEqual((yield* history()).map(told), [ofSecond, ofFirst])
      const { environments } = yield* as(scene.viewer)((yield* Releases).version(product.slug, "v1"))
      const ends = environments.flatMap(({ releases }) => releases.map(({ number, until }) => [number, until]))
      assert.deepStrictEqual(ends, [
        [1, deletedAt],
        [2, null]
      ])

      // One that is made without a version has no release until it gets one.
      yield* TestClock.adjust("1 hour")
      yield* remove
      yield* create()
      const { id: third } = yield* get
      const before = yield* start()
      assert.deepInclude(yield* run(before), { release: null, deploymentChanged: false })
      yield* update({ version: "v2" })
      assert.deepInclude(yield* run(before), { release: null, deploymentChanged: true })
      yield* update({ version: "v1" })
      yield* update({ version: "v2" })
      const numbers = Effect.map(history(), (found) =>
        found.map(({ deployment, number, rolledBackTo }) => [number, deployment.id, rolledBackTo])
      )
      assert.deepStrictEqual(yield* numbers, [
        [5, third, 3],
        [4, third, null],
        [3, third, null],
        [2, second, null],
        [1, first, null]
      ])
      assert.deepStrictEqual(
        (yield* history(3)).map(({ number }) => number),
        [2, 1]
      )
      // Where there is a deployment already nothing is made, and no other environment has its releases.
      assert.strictEqual(yield* refusal(create("v3")), "Conflict deployment_exists")
      const other = deploymentIn(scene, product, production)
      yield* other.create("v1")
      assert.deepStrictEqual(
        (yield* other.history()).map(({ number }) => number),
        [1]
      )
      assert.strictEqual(yield* refusal(other.history(undefined, first)), "NotFound")
    })
  )

  it.effect("of deployments that servers of before counted from 1 are read page by page, by deployment", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      const { product, production, workspace } = scene
      const repo = yield* ReleasesRepo
      const place = { workspaceId: workspace.id, productId: product.id, environmentId: production.id }
      const { create, history, remove, update } = deploymentIn(scene, product, production)
      const ids: Array<DeploymentId> = []
      for (const count of [5, 2, 0, 4]) {
        if (ids.length > 0) yield* remove
        yield* TestClock.adjust("1 hour")
        const isReleased = count > 0
        const { id } = yield* addDeployment(product, production, isReleased ? { version: "v1", release: 1 } : {})
        ids.push(id)
        for (let number = 2; number <= count; number++) yield* update({ version: `v${number}` })
      }
      const [oldest, older, , live] = ids as unknown as readonly [
        DeploymentId,
        DeploymentId,
        DeploymentId,
        DeploymentId
      ]
      const of = (id: DeploymentId, numbers: ReadonlyArray<number>) => numbers.map((number) => [number, id] as const)
      const all = [...of(live, [4, 3, 2, 1]), ...of(older, [2, 1]), ...of(oldest, [5, 4, 3, 2, 1])]
      const page = (cursor: HistoryCursor, limit: number) =>
        Effect.map(repo.history(place, cursor, limit), (found) =>
          found.map(({ deployment, number }) => [number, deployment.id] as const)
        )
      assert.deepStrictEqual(yield* page({}, 100), all)
      for (const limit of [1, 2, 3, 4, 7]) {
        const found: Array<readonly [number, DeploymentId]> = []
        for (;;) {
          const last = found.at(-1)
          const cursor = last === undefined ? {} : { before: last[0], deployment: last[1] }
          const next = yield* page(cursor, limit)
          found.push(...next)
          if (next.length < limit) break
        }
        assert.deepStrictEqual(found, all, String(limit))
      }
      // Whoever sends the number alone, as before, comes to an end.
      assert.deepStrictEqual(yield* page({ before: 3 }, 100), [
        ...of(live, [2, 1]),
        ...of(older, [2, 1]),
        ...of(oldest, [2, 1])
      ])
      assert.deepStrictEqual(yield* page({ before: 1 }, 100), [])
      assert.deepStrictEqual(yield* page({ deployment: older }, 100), all.slice(4))

      assert.deepStrictEqual(
        (yield* history(2, older)).map(({ number }) => number),
        [1, 5, 4, 3, 2, 1]
      )
      for (const unknown of [newId(), "first"]) {
        assert.strictEqual(yield* refusal(history(undefined, unknown)), "NotFound")
      }
      yield* remove
      yield* create("v9")
      assert.deepStrictEqual((yield* history())[0]!.number, 6)
    })
  )

  it.effect("have the commits of their version, which one environment told", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      const { product, production, staging } = scene
      const inStaging = deploymentIn(scene, product, staging)
      const inProduction = deploymentIn(scene, product, production)
      yield* inStaging.create()
      yield* inProduction.create()
      const commits = [
        { sha: sha("A"), subject: "Add it", author: "Ana", at: "2026-11-21T10:00:00+01:00" },
        { sha: sha("b"), subject: "Mend it" },
        { sha: sha("a"), subject: "Told twice" }
      ]
      yield* inStaging.update({ version: "v1", commits })
      yield* inStaging.update({ version: "v1", commits: [{ sha: sha("c"), subject: "Ignored" }] })
      yield* inProduction.update({ version: "v1", commits: [{ sha: sha("d"), subject: "More" }, commits[1]!] })
      const told = [
        { sha: sha("a"), subject: "Add it", author: "Ana", at: "2026-11-21T09:00:00.000Z", tickets: [] },
        { sha: sha("b"), subject: "Mend it", tickets: [] },
        { sha: sha("d"), subject: "More", tickets: [] }
      ]
      for (const { history } of [inStaging, inProduction]) {
        assert.deepStrictEqual((yield* history())[0]!.commits, told)
      }
      yield* inStaging.update({ version: "v2" })
      assert.deepStrictEqual(
        (yield* inStaging.history()).map(({ commits }) => commits.length),
        [0, 3]
      )
      // So does the one that a deployment is made with.
      yield* inProduction.remove
      yield* inProduction.create("v3", { commits: [{ sha: sha("e"), subject: "First" }, ...commits] })
      const first = { sha: sha("e"), subject: "First", tickets: [] }
      assert.deepStrictEqual((yield* inProduction.history())[0]!.commits, [first, ...told.slice(0, 2)])
      yield* inStaging.update({ version: "v3", commits: [{ sha: sha("d"), subject: "More" }] })
      assert.deepStrictEqual((yield* inStaging.history())[0]!.commits, [first, ...told])
    })
  )

  it.effect("have a bounded number of commits of each version, and the beginnings of their subjects", () =>
    Effect.gen(function* () {
      const releases = yield* Releases
      const scene = yield* makeProduct
      const { product, production, staging, viewer } = scene
      yield* makeTeam(scene, "ENG")
      const ticket = yield* makeTicket(scene, "ENG")
      const inStaging = deploymentIn(scene, product, staging)
      const inProduction = deploymentIn(scene, product, production)
      yield* inStaging.create()
      yield* inProduction.create()
      const subject = `${ticket.identifier} ${"x".repeat(2_000 - ticket.identifier.length - 1)}`
      const commits = (from: number, count: number) =>
        Array.from({ length: count }, (_, index) => ({ sha: String(from + index).padStart(40, "0"), subject }))
      const shas = (from: number, count: number) => commits(from, count).map(({ sha }) => sha)
      yield* inStaging.update({ version: "v1", commits: commits(0, 500) })
      yield* inProduction.update({ version: "v1", commits: commits(500, 1) })
      yield* inStaging.update({ version: "v2", commits: commits(501, 499) })

      const [second, first] = yield* inStaging.history()
      assert.deepStrictEqual(
        first!.commits.map(({ sha }) => sha),
        shas(0, 500)
      )
      assert.strictEqual(second!.commits.length, 499)
      for (const commit of first!.commits) assert.strictEqual(commit.subject, subject.slice(0, 200))

      const version = yield* as(viewer)(releases.version(product.slug, "v1"))
      assert.deepStrictEqual(
        version.commits.map(({ sha, subject }) => [sha, subject]),
        shas(0, 501).map((sha) => [sha, subject])
      )

      const trace = yield* as(viewer)(releases.trace(ticket.identifier))
      assert.deepStrictEqual(
        trace.commits.map(({ sha, subject }) => [sha, subject]),
        shas(500, 500).map((sha) => [sha, subject.slice(0, 200)])
      )
      yield* inStaging.update({ version: "v3", commits: commits(1_000, 500) })
      const later = yield* as(viewer)(releases.trace(ticket.identifier))
      assert.deepStrictEqual([...new Set(later.commits.map(({ version }) => version))], ["v3"])
      assert.include(later.text, "In Production since")
    })
  )

  it.effect("tell where a version runs and ran, what tested it, and the tickets of its commits", () =>
    Effect.gen(function* () {
      const releases = yield* Releases
      const scene = yield* makeProduct
      const { product, production, staging, viewer } = scene
      yield* makeTeam(scene, "ENG")
      yield* makeTeam(scene, "OPS", "private")
      const seen = yield* makeTicket(scene, "ENG", "Pay by card")
      const hidden = yield* makeTicket(scene, "OPS")
      const inStaging = deploymentIn(scene, product, staging)
      const inProduction = deploymentIn(scene, product, production)
      yield* inStaging.create()
      yield* inProduction.create("v0")
      yield* TestClock.adjust("1 hour")
      const subject = `eng-1, ${hidden.identifier} and ENG-99, not xENG-1`
      yield* inStaging.update({ version: "v1/a b", commits: [{ sha: sha("a"), subject }] })
      const first = yield* now
      const [passed, failed] = [yield* inStaging.start(), yield* inStaging.start()]
      yield* inStaging.finish(passed)
      yield* inStaging.finish(failed, "failed")
      yield* TestClock.adjust("1 day")
      yield* inStaging.update({ version: "v2" })
      const second = yield* now
      yield* inProduction.update({ version: "v1/a b" })

      const history = yield* inStaging.history()
      assert.deepStrictEqual(
        history.map(({ runs }) => runs),
        [
          { passed: 0, failed: 0 },
          { passed: 1, failed: 1 }
        ]
      )
      const version = yield* as(viewer)(releases.version(product.slug, "v1/a b"))
      assert.deepStrictEqual([version.product.slug, version.version], [product.slug, "v1/a b"])
      assert.deepStrictEqual(
        version.environments.map(({ environment, releases }) => [environment.slug, releases]),
        [
          ["production", [{ number: 2, from: second, until: null }]],
          ["staging", [{ number: 1, from: first, until: second }]]
        ]
      )
      assert.deepStrictEqual(
        version.runs.map(({ number }) => number),
        [failed, passed]
      )
      const ticket = { id: seen.id, identifier: "ENG-1", title: "Pay by card" }
      assert.deepStrictEqual(version.tickets, [ticket])
      assert.deepStrictEqual(version.commits, [{ sha: sha("a"), subject, tickets: ["ENG-1"] }])
      assert.strictEqual(yield* refusal(as(viewer)(releases.version(product.slug, "v3"))), "NotFound")

      const trace = yield* as(viewer)(releases.trace("eng-1"))
      const part = { id: product.id, slug: product.slug, name: "Shop" }
      assert.deepStrictEqual(trace.ticket, ticket)
      assert.deepStrictEqual(trace.commits, [{ ...version.commits[0]!, product: part, version: "v1/a b" }])
      assert.deepStrictEqual(
        trace.releases.map(({ at, environment, number, until, version }) => [
          environment.slug,
          number,
          version,
          at,
          until
        ]),
        [
          ["staging", 1, "v1/a b", first, second],
          ["production", 2, "v1/a b", second, null]
        ]
      )
      assert.deepStrictEqual(
        trace.runs.map(({ number }) => number),
        [failed, passed]
      )
      assert.strictEqual(
        trace.text,
        `In ${production.name} since ${second.slice(0, 10)} and in ${staging.name} since ${first.slice(0, 10)}, run ${failed} failed.`
      )
      // Both see the other's commit.
      const ofHidden = yield* as(scene.owner)(releases.trace(hidden.id))
      assert.deepStrictEqual(
        ofHidden.commits.map(({ tickets }) => tickets),
        [["ENG-1", "OPS-1"]]
      )
      assert.strictEqual(yield* refusal(as(viewer)(releases.trace(hidden.id))), "NotFound")
      const other = yield* makeTicket(scene, "ENG")
      const untouched = yield* as(viewer)(releases.trace(other.id))
      assert.deepStrictEqual([untouched.commits, untouched.releases, untouched.runs], [[], [], []])
      assert.strictEqual(untouched.text, `No release contains a commit that names ${other.identifier}.`)
    })
  )

  it.effect("of one commit are one version for it and for tickets, however it is written", () =>
    Effect.gen(function* () {
      const releases = yield* Releases
      const scene = yield* makeProduct
      const { product, production, staging, viewer } = scene
      yield* makeTeam(scene, "ENG")
      const { identifier } = yield* makeTicket(scene, "ENG")
      const trace = as(viewer)(releases.trace(identifier))
      const version = (text: string) => as(viewer)(releases.version(product.slug, text))
      const inStaging = deploymentIn(scene, product, staging)
      const inProduction = deploymentIn(scene, product, production)
      const commit = `d4c3b2a${"1".repeat(33)}`
      const short = commit.slice(0, 12)
      const other = `d4c3b2a2${"1".repeat(32)}`
      yield* inStaging.create("v0")
      yield* inProduction.create("v0")
      const [mend, more] = [
        { sha: commit, subject: `${identifier} Mend it` },
        { sha: other, subject: "More" }
      ]
      yield* TestClock.adjust("1 day")
      yield* inStaging.update({ version: commit, commits: [mend] })
      const staged = yield* now
      const first = yield* inStaging.start()
      yield* inStaging.finish(first)
      assert.include((yield* trace).text, `tested by run ${first}, not in Production.`)

      yield* TestClock.adjust("1 day")
      yield* inProduction.update({ version: short, commits: [more, mend] })
      const live = yield* now
      const second = yield* inProduction.start()
      yield* inProduction.finish(second, "failed")
      const text = `In Production since ${live.slice(0, 10)} and in Staging since ${staged.slice(0, 10)}, run ${second} failed.`
      assert.strictEqual((yield* trace).text, text)
      const numbers = (found: { readonly runs: ReadonlyArray<{ readonly number: number }> }) =>
        found.runs.map(({ number }) => number)
      assert.deepStrictEqual(numbers(yield* trace), [second, first])
      // What only writes the commit anew is no later day.
      yield* TestClock.adjust("1 day")
      yield* inStaging.update({ version: short.toUpperCase() })
      assert.strictEqual((yield* trace).text, text)
      assert.deepStrictEqual(
        (yield* trace).releases.map(({ environment, version }) => [environment.slug, version]),
        [
          ["staging", commit],
          ["production", short],
          ["staging", short.toUpperCase()]
        ]
      )

      const written = [commit, commit.toUpperCase(), short, commit.slice(0, 8), commit.slice(0, 7)]
      for (const spelling of written) {
        const page = yield* version(spelling)
        assert.strictEqual(page.version, spelling)
        assert.deepStrictEqual(
          page.environments.map(({ environment, releases }) => [
            environment.slug,
            ...releases.map(({ number, until }) => [number, until])
          ]),
          [
            ["production", [2, null]],
            ["staging", [2, yield* now], [3, null]]
          ]
        )
        assert.deepStrictEqual(
          page.commits.map(({ sha }) => sha),
          [commit, other]
        )
        assert.deepStrictEqual(
          page.tickets.map((ticket) => ticket.identifier),
          [identifier]
        )
        assert.deepStrictEqual(numbers(page), [second, first])
      }
      for (const unknown of [commit.slice(0, 6), "d4c3b2b", `${commit.slice(0, 39)}2`]) {
        assert.strictEqual(yield* refusal(version(unknown)), "NotFound", unknown)
      }
      for (const { history } of [inStaging, inProduction]) {
        assert.deepStrictEqual(
          (yield* history())[0]!.commits.map(({ sha }) => sha),
          [commit, other]
        )
      }

      // What begins two commits is neither, and what was rolled back to is what came first, however it is written.
      yield* inStaging.update({ version: other })
      assert.strictEqual(yield* refusal(version(commit.slice(0, 7))), "NotFound")
      assert.deepStrictEqual(
        (yield* version(other.slice(0, 8))).environments.flatMap(({ releases }) =>
          releases.map(({ number }) => number)
        ),
        [4]
      )
      assert.strictEqual((yield* trace).text, text)
      yield* inProduction.update({ version: "V0" })
      yield* inProduction.update({ version: "v0" })
      assert.include((yield* trace).text, "no longer in Production")
      const before = `0ddba11${"2".repeat(33)}`
      const { identifier: later } = yield* makeTicket(scene, "ENG")
      yield* inProduction.update({ version: before.slice(0, 10) })
      yield* inProduction.update({ version: "v1", commits: [{ sha: sha("e"), subject: later }] })
      yield* inProduction.update({ version: before })
      assert.include((yield* as(viewer)(releases.trace(later))).text, "no longer in Production")
    })
  )

  it.effect("are noted by runs, which tell whether the version changed", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      const { create, finish, run, start, update } = deploymentIn(scene, scene.product, scene.staging)
      yield* create()
      const unreleased = yield* start()
      assert.deepInclude(yield* run(unreleased), { release: null, deploymentChanged: false, locked: false })
      yield* update({ version: "v1" })
      assert.deepInclude(yield* run(unreleased), { release: null, deploymentChanged: true })
      const [kept, changed, given] = [yield* start(), yield* start(), yield* start()]
      assert.deepInclude(yield* finish(kept), { release: 1, deploymentChanged: false })
      yield* update({ baseUrl: "https://other.example" })
      assert.deepInclude(yield* run(changed), { release: 1, deploymentChanged: false })
      yield* update({ version: "v2" })
      yield* update({ version: "v1" })
      assert.deepInclude(yield* run(changed), { release: 1, deploymentChanged: true })
      assert.deepInclude(yield* finish(changed), { release: 1, deploymentChanged: true })
      assert.deepInclude(yield* finish(given, "passed", { interrupted: true }), { deploymentChanged: true })
      assert.deepInclude(yield* run(kept), { release: 1, deploymentChanged: false })
      assert.deepInclude(yield* run(changed), { release: 1, deploymentChanged: true })
    })
  )

  it.effect("are told by the events of runs that they changed meanwhile, beside what else a result rests on", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      const { create, finish, run, start, update } = deploymentIn(scene, scene.product, scene.staging)
      yield* create("v1")
      const selectionOf = (...caseIds: ReadonlyArray<string>) => ({
        selection: { coverage: null, folders: [], caseIds }
      })
      const [whole, part] = [yield* start(selectionOf()), yield* start(selectionOf("a"))]
      yield* finish(whole)
      yield* update({ version: "v2" })
      yield* finish(part, "passed", { tests: [report("a", { attempt: null })] })
      const runs = yield* Effect.flatMap(TestRuns, (runs) => runs.list({})).pipe(as(scene.viewer))
      const partOf = ({ number, partOfTests }: { readonly number: number; readonly partOfTests: boolean }) => [
        number,
        partOfTests
      ]
      const expected = [
        [part, true],
        [whole, false]
      ]
      assert.deepStrictEqual(runs.runs.map(partOf), expected)
      assert.deepStrictEqual([yield* run(part), yield* run(whole)].map(partOf), expected)
      const finished = (yield* eventsOf(scene.workspace)).filter(({ kind }) => kind === "run_finished")
      assert.deepStrictEqual(
        finished.map(({ changes }) => changes.filter(({ to }) => to === "true").map(({ field }) => field)),
        [[], ["nothingTested", "deploymentChanged", "partOfTests"]]
      )
    })
  )

  it.effect("wait for locked runs, or are refused, unless they are forced", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      const { create, finish, history, run, start, update } = deploymentIn(scene, scene.product, scene.staging)
      yield* create("v1")
      const [first, second] = [yield* start({ locked: true }), yield* start({ locked: true })]
      yield* start()
      assert.deepInclude(yield* run(first), { release: 1, locked: true, deploymentChanged: false })
      const refused = yield* Effect.flip(update({ version: "v2", baseUrl: "https://no.example" }))
      assert.deepInclude(refused, { _tag: "Conflict", reason: "run_in_progress", runs: [first, second] })
      // What is no change of the version is free.
      yield* update({ version: "v1", baseUrl: "https://shop.example" })
      yield* finish(first)
      const waiting = yield* Effect.forkChild(update({ version: "v2", waitMs: 30_000 }))
      assert.strictEqual(yield* refusal(update({ version: "v3" })), "Conflict run_in_progress")
      assert.deepInclude(yield* finish(second), { deploymentChanged: false })
      assert.strictEqual((yield* Fiber.join(waiting)).version, "v2")

      const third = yield* start({ locked: true })
      yield* update({ version: "v3", force: true })
      assert.deepInclude(yield* run(third), { release: 2, deploymentChanged: true })
      assert.deepInclude(yield* finish(third), { release: 2, deploymentChanged: true, locked: true })
      yield* update({ version: "v4" })
      assert.deepStrictEqual(
        (yield* history()).map(({ version }) => version),
        ["v4", "v3", "v2", "v1"]
      )
      assert.isFalse((yield* kindsOf(scene.workspace)).includes("deployment_deleted"))
    })
  )

  it.effect("of one caller wait up to 64 at a time, and one more is refused at once", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      const { create, finish, history, start, update } = deploymentIn(scene, scene.product, scene.staging)
      yield* create("v0")
      const run = yield* start({ locked: true })
      const answers = yield* Queue.unbounded<string>()
      for (let index = 1; index <= 65; index++) {
        const change = answer(update({ version: `v${index}`, waitMs: 30_000 }))
        yield* Effect.forkChild(Effect.flatMap(change, (text) => Queue.offer(answers, text)))
      }
      assert.strictEqual(yield* Queue.take(answers), "Conflict run_in_progress")
      yield* finish(run)
      const others = yield* Effect.all(Array.from({ length: 64 }, () => Queue.take(answers)))
      assert.notInclude(others, "Conflict run_in_progress")
      assert.strictEqual((yield* history())[0]!.number, 65)
    })
  )

  it.effect("wait no longer than they were asked to, and not for a run whose time is up", () =>
    Effect.gen(function* () {
      const scene = yield* makeProduct
      const { create, start, update } = deploymentIn(scene, scene.product, scene.staging)
      yield* create("v1")
      yield* start({ locked: true })
      const waiting = yield* Effect.forkChild(answer(update({ version: "v2", waitMs: 3_000 })))
      while (waiting.pollUnsafe() === undefined) {
        yield* TestClock.adjust("100 millis")
        yield* Effect.yieldNow
      }
      assert.strictEqual(yield* Fiber.join(waiting), "Conflict run_in_progress")
      yield* TestClock.adjust("6 hours")
      yield* update({ version: "v2" })
    })
  )
})
