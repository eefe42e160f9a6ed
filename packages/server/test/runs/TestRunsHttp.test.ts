import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { Event } from "@delivery/domain/events/Event"
import type { Member } from "@delivery/domain/identity/Member"
import type { Workspace } from "@delivery/domain/identity/Workspace"
import type { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import type { TestRun, TestRunPage, TestRunSummary } from "@delivery/domain/runs/TestRun"
import { createLocalJWKSet, createRemoteJWKSet, jwtVerify } from "jose"
import { assert } from "vitest"
import {
  accountKey,
  assertId,
  assertTimestamp,
  attempt,
  type ErrorBody,
  eventually,
  finishOf,
  finishRun,
  getRun,
  type Http,
  join,
  newDeployment,
  newWorkspace,
  onEachServer,
  refusal,
  report,
  runOf,
  startRun,
  withClockOnEachServer
} from "../support/Http.ts"

/** Test runs (docs/contract.md, Test runs). */

const hour = 3_600_000
const list = (http: Http, query = "") => http.get<TestRunPage>(`test-runs${query}`)
const numbers = (page: TestRunPage) => page.runs.map(({ number }) => number)
const summaryOf = ({ mutes: _, retries: __, tests: ___, ...summary }: TestRun): TestRunSummary => summary
const fixtureUrl = "https://fixtures.example/api"

/** A finish with a test that passed and one that failed. */
const finishOfBoth = (fields: Partial<FinishTestRun> = {}) =>
  finishOf({ tests: [report("a"), report("b", { attempt: attempt("failed") })], ...fields })
const finish = <A>(http: Http, run: number, json: FinishTestRun) =>
  http.send<A>("POST", `test-runs/${run}/finish`, { json })

onEachServer("test runs", (test) => {
  test("a started run answers its number, page and semaphore access, and stands as running", async (owner) => {
    const workspace = await newDeployment(owner, { version: "9fceb02" })
    const viewer = await join(workspace, "viewer")
    const publisher = await join(workspace, "member")
    const before = Date.now()
    const started = await startRun(publisher, { selection: { coverage: "critical", folders: ["a"], caseIds: ["b"] } })
    const base = `${owner.baseUrl}/v1/workspaces/${workspace.workspace}`
    assert.deepStrictEqual(started, {
      number: 1,
      url: `${owner.baseUrl}/w/${workspace.workspace}/test-runs/1`,
      fixture: null,
      semaphores: {
        url: `${base}/semaphores`,
        token: started.semaphores.token,
        expiresAt: started.semaphores.expiresAt
      },
      muted: []
    })
    assert.match(started.semaphores.token, /^stk_[0-9A-Za-z]{42}$/)
    const run = await getRun(viewer, 1)
    const { members } = await workspace.get<{ members: ReadonlyArray<Member> }>("members")
    const { email } = members.find(({ id }) => id === publisher.id)!
    assert.deepStrictEqual(run, {
      id: run.id,
      number: 1,
      url: started.url,
      state: "running",
      result: null,
      gateResult: null,
      counts: { total: 0, passed: 0, flaky: 0, failed: 0, skipped: 0 },
      passRate: null,
      firstAttemptPassRate: null,
      error: null,
      product: { slug: "shop", name: "Shop" },
      environment: { slug: "staging", name: "Staging", class: "non-production" },
      baseUrl: "https://staging.shop.example",
      deploymentBaseUrl: "https://staging.shop.example",
      deploymentVersion: "9fceb02",
      release: 1,
      deploymentChanged: false,
      partOfTests: true,
      locked: false,
      git: runOf().git,
      machine: runOf().machine,
      ciUrl: null,
      shards: null,
      coverage: "critical",
      cleanup: null,
      publishedBy: { kind: "user", id: publisher.id, name: "Sam", email },
      startedAt: run.startedAt,
      finishedAt: null,
      durationMs: 0,
      mutes: [],
      retries: [],
      tests: []
    })
    assertId(run.id)
    assertTimestamp(run.startedAt, started.semaphores.expiresAt)
    assert.isAtLeast(Date.parse(run.startedAt), before)
    assert.strictEqual(Date.parse(started.semaphores.expiresAt), Date.parse(run.startedAt) + 6 * hour)
    assert.deepStrictEqual(await list(viewer), { runs: [summaryOf(run)], nextCursor: null })
  })

  test("a run keeps what the deployment was when it started, and has no coverage where none was selected", async (owner) => {
    const workspace = await newDeployment(owner, { version: "v1" })
    await startRun(workspace)
    await workspace.patch("deployments/shop/staging", { baseUrl: "https://new.example", version: null })
    await startRun(workspace)
    await workspace.delete("deployments/shop/staging")
    await workspace.patch("products/shop", { name: "Web shop", slug: "web-shop" })
    const [first, second] = [await getRun(workspace, 1), await getRun(workspace, 2)]
    assert.deepStrictEqual([first.deploymentBaseUrl, first.deploymentVersion], ["https://staging.shop.example", "v1"])
    assert.deepStrictEqual([second.deploymentBaseUrl, second.deploymentVersion], ["https://new.example", null])
    assert.deepStrictEqual(first.product, { slug: "web-shop", name: "Web shop" })
    assert.isNull(first.coverage)
  })

  test("runs count up without gaps, however many start at once and fail to", async (owner) => {
    const [workspace, other] = [await newDeployment(owner), await newDeployment(owner)]
    const publishers = [workspace, await join(workspace, "member"), await accountKey(workspace, "member")]
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        if (i % 4 === 3) {
          await workspace.refuse("404 product:", "POST", "test-runs", runOf({ product: "none" }))
          return undefined
        }
        return startRun(publishers[i % 3]!)
      })
    )
    const given = answers.flatMap((run) => (run === undefined ? [] : [run.number])).toSorted((a, b) => a - b)
    assert.deepStrictEqual(
      given,
      Array.from({ length: 30 }, (_, i) => i + 1)
    )
    assert.strictEqual((await startRun(other)).number, 1)
  })

  test("a start names product and environment by slug or id, and both must be there", async (owner) => {
    const [workspace, other] = [await newDeployment(owner), await newDeployment(owner)]
    const { environment, product } = await workspace.get<Deployment>("deployments/shop/staging")
    const foreign = await other.get<Deployment>("deployments/shop/staging")
    await startRun(workspace, { product: product.id, environment: environment.id })
    await startRun(workspace.in((await workspace.get<Workspace>("")).id), { product: product.id })
    assert.deepStrictEqual((await getRun(workspace, 2)).environment.slug, "staging")
    for (const ref of ["none", foreign.product.id]) {
      await workspace.refuse("404 product:", "POST", "test-runs", runOf({ product: ref }))
    }
    for (const ref of ["none", foreign.environment.id]) {
      await workspace.refuse("404 environment:", "POST", "test-runs", runOf({ environment: ref }))
    }
  })

  test("a start needs a deployment of what is not archived", async (owner) => {
    const workspace = await newDeployment(owner)
    await workspace.post("products", { slug: "app", name: "App", type: "app" })
    await workspace.refuse("409 not_deployed", "POST", "test-runs", runOf({ product: "app" }))
    for (const path of ["products/shop", "environments/staging"]) {
      await workspace.post(`${path}/archive`, undefined, 200)
      await workspace.refuse("409 archived", "POST", "test-runs", runOf())
      await workspace.post(`${path}/restore`, undefined, 200)
    }
    await workspace.delete("deployments/shop/staging")
    await workspace.refuse("409 not_deployed", "POST", "test-runs", runOf())
  })

  test("a start without one of its parts, or with a wrong one, is refused where it is wrong", async (owner) => {
    const workspace = await newDeployment(owner)
    for (const field of ["product", "environment", "baseUrl", "git", "machine", "selection"]) {
      await workspace.refuse(`400 ${field}`, "POST", "test-runs", { ...runOf(), [field]: undefined })
      await workspace.refuse(`400 ${field}`, "POST", "test-runs", { ...runOf(), [field]: null })
    }
    const { git, machine, selection } = runOf()
    const wrong: ReadonlyArray<readonly [string, object]> = [
      ["baseUrl", { baseUrl: "shop.example" }],
      ["fixtureUrl", { fixtureUrl: "ftp://shop.example" }],
      ["git.sha", { git: { ...git, sha: "" } }],
      ["git.dirty", { git: { ...git, dirty: "no" } }],
      ["git.branch", { git: { ...git, branch: undefined } }],
      ["git.subject", { git: { ...git, subject: null } }],
      ["machine.hostname", { machine: { ...machine, hostname: 1 } }],
      ["machine.platform", { machine: { hostname: "ci" } }],
      ["selection.coverage", { selection: { ...selection, coverage: "all" } }],
      ["selection.folders", { selection: { ...selection, folders: "a" } }],
      ["selection.caseIds.0", { selection: { ...selection, caseIds: [1] } }]
    ]
    for (const [field, fields] of wrong) {
      await workspace.refuse(`400 ${field}`, "POST", "test-runs", { ...runOf(), ...fields })
    }
    assert.deepStrictEqual(await list(workspace), { runs: [], nextCursor: null })
  })

  test("members and up publish, and account keys; viewers do not", async (owner) => {
    const workspace = await newDeployment(owner)
    await (await join(workspace, "viewer")).refuse("403 role_too_low", "POST", "test-runs", runOf())
    await (await accountKey(workspace, "viewer")).refuse("403 role_too_low", "POST", "test-runs", runOf())
    const key = await accountKey(workspace, "member", "nightly")
    const { number } = await startRun(key)
    assert.deepStrictEqual((await getRun(workspace, number)).publishedBy, {
      kind: "apiKey",
      id: key.id,
      name: "nightly"
    })
    await finishRun(key, number)
    await workspace.post(`account-api-keys/${key.id}/revoke`, undefined, 200)
    assert.deepStrictEqual((await getRun(workspace, number)).publishedBy, {
      kind: "apiKey",
      id: key.id,
      name: "nightly"
    })
  })

  test("a deployment's Fixture API gives the run a scope and a token that verifies offline", async (owner) => {
    const workspace = await newDeployment(owner, { fixtureUrl })
    const started = await startRun(workspace)
    const fixture = started.fixture!
    const run = await getRun(workspace, started.number)
    assert.deepStrictEqual(fixture, {
      scope: fixture.scope,
      token: fixture.token,
      url: fixtureUrl,
      expiresAt: new Date(Date.parse(run.startedAt) + 6 * hour).toISOString()
    })
    assert.strictEqual(started.semaphores.expiresAt, fixture.expiresAt)
    assert.deepStrictEqual(run.cleanup, {
      scope: fixture.scope,
      expiresAt: fixture.expiresAt,
      status: "pending",
      deleted: null,
      remaining: null
    })

    const keys = createRemoteJWKSet(new URL(`${owner.baseUrl}/.well-known/jwks.json`))
    const verified = await jwtVerify(fixture.token, keys, {
      algorithms: ["EdDSA"],
      issuer: owner.baseUrl,
      audience: fixtureUrl
    })
    const { id } = await workspace.get<Workspace>("")
    const { iat, ...claims } = verified.payload
    assert.isAtLeast(iat!, Math.floor(Date.parse(run.startedAt) / 1000))
    assert.deepStrictEqual(claims, {
      iss: owner.baseUrl,
      aud: fixtureUrl,
      sub: `${id}/${started.number}`,
      scope: fixture.scope,
      exp: Math.floor(Date.parse(fixture.expiresAt) / 1000)
    })
    const { keys: published } = await owner.get<{ keys: ReadonlyArray<object> }>("/.well-known/jwks.json")
    for (const key of published) assert.hasAllKeys(key, ["kty", "crv", "x", "kid", "alg", "use"])

    const elsewhere = await jwtVerify(fixture.token, keys, { audience: "https://other.example" }).then(
      () => "verified",
      (error: { readonly code: string }) => error.code
    )
    assert.strictEqual(elsewhere, "ERR_JWT_CLAIM_VALIDATION_FAILED")
    assert.notStrictEqual((await startRun(workspace)).fixture!.scope, fixture.scope)
  })

  test("a start's own fixtureUrl goes before the deployment's; null is as none", async (owner) => {
    const [without, with_] = [await newDeployment(owner), await newDeployment(owner, { fixtureUrl })]
    const own = "https://own.example"
    assert.strictEqual((await startRun(without, { fixtureUrl: own })).fixture!.url, own)
    assert.strictEqual((await startRun(with_, { fixtureUrl: own })).fixture!.url, own)
    assert.strictEqual((await startRun(with_, { fixtureUrl: null })).fixture!.url, fixtureUrl)
    assert.isNull((await startRun(without, { fixtureUrl: null })).fixture)
    assert.isNull((await getRun(without, 2)).cleanup)
  })

  test("a finish counts the tests and keeps each with its attempt, failed first, then by title", async (owner) => {
    const workspace = await newDeployment(owner)
    const { number } = await startRun(workspace)
    const failed = attempt("failed", {
      durationMs: 3120.25,
      startedAt: "2026-11-21T10:30:10.5+01:00",
      errorMessage: "Expected 200, got 500",
      errorStack: "Error: Expected 200, got 500\n    at shop.spec.ts:12:9",
      files: ["b/stdout.txt"]
    })
    const tests = [
      report("skipped", { title: "Skipped", attempt: null }),
      report("passed-10", { title: "passes 10" }),
      report("failed", {
        title: "Zoo",
        file: "zoo.spec.ts",
        coverage: "regression",
        testKind: "journey",
        priority: "P1",
        files: ["trace.zip", "video.webm"],
        attempt: failed
      }),
      report("also-skipped", { title: "also", priority: null, attempt: { status: "skipped" } }),
      report("passed-9", { title: "Passes 9", coverage: "exhaustive", files: [] })
    ]
    const before = Date.now()
    const finished = await finishRun(workspace, number, { durationMs: 64_210.5, error: null, tests })
    const run = await getRun(workspace, number)
    assert.deepStrictEqual(finished, summaryOf(run))
    assert.deepStrictEqual(finished, {
      ...finished,
      state: "finished",
      result: "failed",
      counts: { total: 5, passed: 2, flaky: 0, failed: 1, skipped: 2 },
      passRate: 2 / 3,
      firstAttemptPassRate: 2 / 3,
      error: null,
      durationMs: 64_210.5
    })
    assert.isAtLeast(Date.parse(finished.finishedAt!), before)
    assertTimestamp(finished.finishedAt)
    const passed = {
      number: 1,
      retry: null,
      status: "passed",
      durationMs: 12.5,
      startedAt: "2026-11-21T09:30:10.000Z",
      errorMessage: null,
      errorStack: null,
      files: []
    }
    const entry = (caseId: string, fields: object) => ({
      caseId,
      file: `${caseId}.spec.ts`,
      coverage: "acceptance",
      testKind: "behavior",
      priority: null,
      errorMessage: null,
      files: [],
      ...fields
    })
    assert.deepStrictEqual<unknown>(run.tests, [
      {
        caseId: "failed",
        title: "Zoo",
        file: "zoo.spec.ts",
        coverage: "regression",
        testKind: "journey",
        priority: "P1",
        status: "failed",
        durationMs: 3120.25,
        errorMessage: "Expected 200, got 500",
        files: ["trace.zip", "video.webm"],
        attempts: [{ number: 1, retry: null, ...failed, startedAt: "2026-11-21T09:30:10.500Z" }]
      },
      entry("passed-9", {
        title: "Passes 9",
        coverage: "exhaustive",
        status: "passed",
        durationMs: 12.5,
        attempts: [passed]
      }),
      entry("passed-10", { title: "passes 10", status: "passed", durationMs: 12.5, attempts: [passed] }),
      entry("also-skipped", { title: "also", status: "skipped", durationMs: 0, attempts: [] }),
      entry("skipped", { title: "Skipped", status: "skipped", durationMs: 0, attempts: [] })
    ])
  })

  test("a run's result, rates and error follow from what is reported", async (owner) => {
    const workspace = await newDeployment(owner)
    const failing = report("f", { attempt: attempt("failed") })
    const skipped = report("s", { attempt: null })
    const cases: ReadonlyArray<readonly [Partial<FinishTestRun>, Partial<TestRunSummary>]> = [
      [{ tests: [report("a"), skipped] }, { state: "finished", result: "passed", passRate: 1, error: null }],
      [{ tests: [failing] }, { result: "failed", passRate: 0, firstAttemptPassRate: 0, error: null }],
      [{ tests: [skipped] }, { result: "passed", passRate: null, firstAttemptPassRate: null, error: null }],
      [{ tests: [] }, { state: "finished", result: "failed", passRate: null, error: "No tests ran." }],
      [
        { tests: [], error: "The web server did not start." },
        { result: "failed", error: "The web server did not start." }
      ],
      [
        { tests: [report("a")], error: "Teardown failed." },
        { result: "failed", passRate: 1, error: "Teardown failed." }
      ],
      [
        { tests: [report("a")], error: null },
        { result: "passed", error: null }
      ],
      [
        { interrupted: true, error: "ignored", tests: [report("a"), failing, skipped] },
        {
          state: "interrupted",
          result: null,
          error: null,
          counts: { total: 3, passed: 1, flaky: 0, failed: 1, skipped: 1 },
          passRate: 0.5,
          firstAttemptPassRate: 0.5
        }
      ],
      [
        { interrupted: true, tests: [] },
        { state: "interrupted", result: null, error: null, passRate: null }
      ]
    ]
    for (const [fields, expected] of cases) {
      const { number } = await startRun(workspace)
      assert.deepInclude(await finishRun(workspace, number, fields), expected, JSON.stringify(fields))
      const run = await getRun(workspace, number)
      assert.deepInclude(summaryOf(run), expected)
      assert.lengthOf(run.tests, fields.tests!.length)
    }
  })

  test("a finish of a run with a scope reports its cleanup, or the cleanup is incomplete", async (owner) => {
    const workspace = await newDeployment(owner, { fixtureUrl })
    const cases = [
      [
        { status: "complete", deleted: 14, remaining: 0, error: null },
        { status: "complete", deleted: 14, remaining: 0 }
      ],
      [
        { status: "incomplete", deleted: 3, remaining: 2 },
        { status: "incomplete", deleted: 3, remaining: 2 }
      ],
      [
        { status: "failed", deleted: 0, remaining: 9, error: "500" },
        { status: "failed", deleted: 0, remaining: 9 }
      ],
      [null, { status: "incomplete", deleted: null, remaining: null }],
      [undefined, { status: "incomplete", deleted: null, remaining: null }]
    ] as const
    for (const [cleanup, expected] of cases) {
      const { fixture, number } = await startRun(workspace)
      const finished = await workspace.post<TestRunSummary>(
        `test-runs/${number}/finish`,
        { ...finishOf(), cleanup },
        200
      )
      assert.deepStrictEqual<unknown>(finished.cleanup, {
        scope: fixture!.scope,
        expiresAt: fixture!.expiresAt,
        ...expected
      })
    }
    const { number } = await startRun(workspace)
    for (const cleanup of [
      { status: "pending", deleted: 0, remaining: 0 },
      { status: "none", deleted: 0, remaining: 0 }
    ]) {
      await workspace.refuse("400 cleanup.status", "POST", `test-runs/${number}/finish`, { ...finishOf(), cleanup })
    }
    const negative = { ...finishOf(), cleanup: { status: "complete", deleted: -1, remaining: 0 } }
    await workspace.refuse("400 cleanup.deleted", "POST", `test-runs/${number}/finish`, negative)
    const unscoped = await newDeployment(owner)
    await startRun(unscoped)
    const report = { status: "complete", deleted: 1, remaining: 0 } as const
    assert.isNull((await finishRun(unscoped, 1, { cleanup: report })).cleanup)
  })

  test("a finish that is wrong anywhere is refused there and stores nothing", async (owner) => {
    const workspace = await newDeployment(owner)
    const { number } = await startRun(workspace)
    const one = report("a")
    const wrong: ReadonlyArray<readonly [string, object]> = [
      ["interrupted", { interrupted: undefined }],
      ["interrupted", { interrupted: "no" }],
      ["durationMs", { durationMs: undefined }],
      ["durationMs", { durationMs: -1 }],
      ["durationMs", { durationMs: "1" }],
      ["error", { error: 1 }],
      ["tests", { tests: undefined }],
      ["tests", { tests: [one, report("b"), { ...one, title: "again" }] }],
      ["tests.1.coverage", { tests: [report("b"), { ...one, coverage: "some" }] }],
      ["tests.0.coverage", { tests: [{ ...one, coverage: null }] }],
      ["tests.0.testKind", { tests: [{ ...one, testKind: "x".repeat(41) }] }],
      ["tests.0.testKind", { tests: [{ ...one, testKind: undefined }] }],
      ["tests.0.priority", { tests: [{ ...one, priority: 1 }] }],
      ["tests.0.caseId", { tests: [{ ...one, caseId: "" }] }],
      ["tests.0.attempt", { tests: [{ ...one, attempt: undefined }] }],
      ["tests.0.attempt.status", { tests: [{ ...one, attempt: { ...attempt("passed"), status: "flaky" } }] }],
      ["tests.0.attempt.durationMs", { tests: [{ ...one, attempt: attempt("passed", { durationMs: -1 }) }] }],
      ["tests.0.attempt.startedAt", { tests: [{ ...one, attempt: attempt("passed", { startedAt: "yesterday" }) }] }],
      [
        "tests.0.attempt.startedAt",
        { tests: [{ ...one, attempt: attempt("passed", { startedAt: "2026-02-30T00:00:00.000Z" }) }] }
      ],
      ["tests.0.files.0", { tests: [{ ...one, files: [1] }] }]
    ]
    for (const [field, fields] of wrong) {
      await workspace.refuse(`400 ${field}`, "POST", `test-runs/${number}/finish`, { ...finishOf(), ...fields })
    }
    assert.deepInclude(await getRun(workspace, number), { state: "running", tests: [] })
    const kind = report("a", { testKind: "x".repeat(40), priority: "in their own words" })
    const finished = { ...finishOf({ tests: [kind] }), unknown: { a: 1 } }
    await workspace.post(`test-runs/${number}/finish`, finished, 200)
    assert.deepInclude((await getRun(workspace, number)).tests[0], {
      testKind: kind.testKind,
      priority: kind.priority!
    })
  })

  test("what storage cannot hold of a result is replaced, not refused", async (owner) => {
    const workspace = await newDeployment(owner)
    const { number } = await startRun(workspace)
    const failed = attempt("failed", { errorMessage: "a\u0000b \ud800", errorStack: "𐀀", files: ["a\u0000"] })
    await finishRun(workspace, number, {
      error: "x\u0000",
      tests: [report("a", { title: "\ud800!", attempt: failed })]
    })
    const { error, tests } = await getRun(workspace, number)
    assert.strictEqual(error, "x\uFFFD")
    assert.deepInclude(tests[0], { title: "\uFFFD!", errorMessage: "a\uFFFDb \uFFFD" })
    assert.deepInclude(tests[0]!.attempts[0], { errorStack: "𐀀", files: ["a\uFFFD"] })
  })

  test("only the publisher finishes a run, which is checked before the state of the run", async (owner) => {
    const workspace = await newDeployment(owner)
    const publisher = await join(workspace, "member")
    const others = [
      workspace,
      await join(workspace, "admin"),
      await join(workspace, "member"),
      await accountKey(workspace, "admin")
    ]
    const viewer = await join(workspace, "viewer")
    const { number } = await startRun(publisher)
    const path = `test-runs/${number}/finish`
    const refuseOthers = async () => {
      for (const other of others) await other.refuse("403 not_publisher", "POST", path, finishOf())
      await viewer.refuse("403 role_too_low", "POST", path, finishOf())
    }
    await refuseOthers()
    await finishRun(publisher, number)
    await refuseOthers()
    await publisher.refuse("409 not_running", "POST", path, finishOf())
    await publisher.refuse("400 tests", "POST", path, { ...finishOf(), tests: null })
    const key = await publisher.post<{ secret: string }>("/v1/api-keys", { name: "second" }, 200)
    const second = await startRun(publisher)
    await finishRun(publisher.as(key.secret), second.number)
  })

  test("a run is finished once, however many ask at the same time; the others can read it", async (owner) => {
    const workspace = await newDeployment(owner)
    const { number } = await startRun(workspace)
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        workspace.send<TestRunSummary>("POST", `test-runs/${number}/finish`, { json: finishOf({ durationMs: i }) })
      )
    )
    assert.deepStrictEqual(answers.map(refusal).toSorted(), ["200", ...Array<string>(7).fill("409 not_running")])
    const won = answers.find(({ status }) => status === 200)!.body
    assert.deepStrictEqual(summaryOf(await getRun(workspace, number)), won)
    const { events } = await workspace.get<{ events: ReadonlyArray<Event> }>("events")
    assert.lengthOf(
      events.filter(({ kind }) => kind === "run_finished"),
      1
    )
  })

  test("a number that no run has is not found", async (owner) => {
    const workspace = await newDeployment(owner)
    await startRun(workspace)
    for (const run of ["0", "2", "-1", "1.0", "01", "1e0", "0x1", "abc", "%201", "2147483648", "9".repeat(30)]) {
      await workspace.refuse("404 test run", "GET", `test-runs/${run}`)
      await workspace.refuse("404 test run", "POST", `test-runs/${run}/finish`, finishOf())
    }
    await (await newWorkspace(owner)).refuse("404 test run", "GET", "test-runs/1")
  })

  test("runs are listed newest first, 50 a page, each run once, by every filter and all of them together", async (owner) => {
    const workspace = await newDeployment(owner)
    const { product } = await workspace.get<Deployment>("deployments/shop/staging")
    await workspace.post("products", { slug: "app", name: "App", type: "app" })
    const qa = await workspace.post<{ id: string }>("environments", { slug: "qa", name: "QA", class: "production" })
    await workspace.post("deployments", { product: "app", environment: "staging" })
    await workspace.post("deployments", { product: "shop", environment: "qa", baseUrl: "https://qa.example" })
    const publishers = {
      owner: workspace,
      sam: await join(workspace, "member"),
      key: await accountKey(workspace, "member")
    }

    const models = Array.from({ length: 130 }, (_, i) => ({
      number: i + 1,
      product: i % 3 === 0 ? "app" : "shop",
      environment: i % 3 === 2 ? "qa" : "staging",
      by: (["owner", "sam", "key"] as const)[i % 7 < 4 ? 0 : i % 2 === 0 ? 1 : 2],
      outcome: (["passed", "failed", "running", "passed", "interrupted"] as const)[i % 5],
      branch: i % 4 === 0 ? "feature/Basket_1" : "main",
      subject: i % 6 === 0 ? "Fix the basket%" : "Grow",
      sha: `${i % 2 === 0 ? "abc" : "DEF"}${String(i % 10).padStart(37, "0")}`
    }))
    type Model = (typeof models)[number]
    for (const model of models) {
      const { by, environment, outcome, product } = model
      const git = { branch: model.branch, sha: model.sha, dirty: false, subject: model.subject }
      await startRun(publishers[by!], { product, environment, git })
      if (outcome === "running") continue
      const tests = [report("a", { attempt: attempt(outcome === "failed" ? "failed" : "passed") })]
      await finishRun(publishers[by!], model.number, { interrupted: outcome === "interrupted", tests })
    }

    const pages = async (http: Http, query: string) => {
      const found: Array<number> = []
      for (let cursor: number | null = null; ;) {
        const page: TestRunPage = await list(http, `?${query}${cursor === null ? "" : `&cursor=${cursor}`}`)
        found.push(...numbers(page))
        if (page.nextCursor === null) return found
        assert.lengthOf(page.runs, 50)
        assert.strictEqual(page.nextCursor, page.runs.at(-1)!.number)
        cursor = page.nextCursor
      }
    }
    const expected = (keep: (model: Model) => boolean) =>
      models
        .filter(keep)
        .map(({ number }) => number)
        .toReversed()
    const basket = ({ branch, subject }: Model) => /basket/i.test(branch) || /basket/i.test(subject)
    const filters: ReadonlyArray<readonly [query: string, keep: (model: Model) => boolean]> = [
      ["", () => true],
      ["product=shop", (run) => run.product === "shop"],
      [`product=${product.id}`, (run) => run.product === "shop"],
      ["environment=qa", (run) => run.environment === "qa"],
      [`environment=${qa.id}`, (run) => run.environment === "qa"],
      ["result=passed", (run) => run.outcome === "passed"],
      ["result=failed", (run) => run.outcome === "failed"],
      ["result=flaky", () => false],
      ["mine=true", (run) => run.by === "owner"],
      ["mine=false", () => true],
      ["q=BASKET", basket],
      ["q=ket_1", (run) => run.branch !== "main"],
      ["q=basket%25", (run) => run.subject !== "Grow"],
      ["q=%25", (run) => run.subject !== "Grow"],
      ["q=_", (run) => run.branch !== "main"],
      ["q=%5C", () => false],
      ["q=aBc0000", (run) => run.sha.startsWith("abc")],
      ["q=def", (run) => run.sha.startsWith("DEF")],
      ["q=0000", () => false],
      [`commit=${models[3]!.sha}`, (run) => run.sha === models[3]!.sha],
      [`commit=${models[3]!.sha.slice(0, 39)}`, () => false],
      ["product=shop&environment=staging", (run) => run.product === "shop" && run.environment === "staging"],
      [
        "mine=true&result=failed&q=main",
        (run) => run.by === "owner" && run.outcome === "failed" && run.branch === "main"
      ],
      [
        `product=shop&environment=qa&result=passed&q=ma&commit=${models[5]!.sha}&mine=true`,
        (run) =>
          run.product === "shop" &&
          run.environment === "qa" &&
          run.outcome === "passed" &&
          run.branch === "main" &&
          run.sha === models[5]!.sha &&
          run.by === "owner"
      ]
    ]
    for (const [query, keep] of filters) {
      assert.deepStrictEqual(await pages(workspace, query), expected(keep), query)
    }
    assert.isNotEmpty(expected(filters.at(-1)![1]))
    assert.deepStrictEqual(
      await pages(publishers.sam, "mine=true"),
      expected((run) => run.by === "sam")
    )
    assert.deepStrictEqual(
      await pages(publishers.key, "mine=true"),
      expected((run) => run.by === "key")
    )
    assert.deepStrictEqual(await pages(await join(workspace, "viewer"), "mine=true"), [])

    assert.deepInclude(await list(workspace, "?cursor=51"), { nextCursor: null })
    assert.strictEqual((await list(workspace, "?cursor=52")).nextCursor, 2)
    assert.deepStrictEqual(numbers(await list(workspace, "?cursor=3")), [2, 1])
    assert.deepStrictEqual(await list(workspace, "?cursor=1"), { runs: [], nextCursor: null })
    assert.strictEqual((await list(workspace, "?cursor=2147483647")).runs[0]!.number, 130)
  })

  test("a list's wrong parameters are refused, and what they refer to must exist", async (owner) => {
    const [workspace, other] = [await newDeployment(owner), await newDeployment(owner)]
    const { product } = await other.get<Deployment>("deployments/shop/staging")
    const wrong = {
      cursor: ["", "0", "-1", "1.5", "abc", "NaN", "1&cursor=2"],
      result: ["", "skipped", "PASSED"],
      mine: ["", "1", "yes"],
      q: ["", "x".repeat(501), "%00"],
      commit: [""],
      product: [""],
      environment: [""]
    }
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) await workspace.refuse(`400 ${field}`, "GET", `test-runs?${field}=${value}`)
    }
    await workspace.refuse("404 product:", "GET", "test-runs?product=none")
    await workspace.refuse("404 product:", "GET", `test-runs?product=${product.id}&environment=none`)
    await workspace.refuse("404 environment:", "GET", "test-runs?product=shop&environment=none")
    await owner.in("none").refuse("400 cursor", "GET", "test-runs?cursor=0")
    await owner.in("none").refuse("404 workspace", "GET", "test-runs?cursor=1")
  })

  test("are started, read, listed and finished", async (owner) => {
    const http = await newDeployment(owner, { fixtureUrl })
    const { baseUrl, workspace } = http
    const { fixture, number, url } = await startRun(http)
    assert.strictEqual(url, `${baseUrl}/w/${workspace}/test-runs/${number}`)

    const jwks = await fetch(`${baseUrl}/.well-known/jwks.json`).then((response) => response.json())
    const verified = await jwtVerify(fixture!.token, createLocalJWKSet(jwks as never), {
      issuer: baseUrl,
      audience: fixture!.url
    })
    assert.strictEqual(verified.payload["scope"], fixture!.scope)
    assert.strictEqual(verified.payload.exp, Math.floor(Date.parse(fixture!.expiresAt) / 1000))

    const running = await getRun(http, number)
    assert.deepInclude(running, { number, url, state: "running", tests: [], retries: [] })
    const finished = await finish<TestRun>(http, number, finishOfBoth())
    assert.strictEqual(finished.status, 200)
    assert.deepInclude(finished.body, { state: "finished", result: "failed" })
    assert.notProperty(finished.body, "tests")
    const again = await finish<ErrorBody>(http, number, finishOfBoth())
    assert.deepStrictEqual([again.status, again.body.reason], [409, "not_running"])
    const read = await getRun(http, number)
    assert.deepStrictEqual(
      read.tests.map((test) => test.caseId),
      ["b", "a"]
    )
    const listed = await list(http, "?product=shop&mine=true&result=failed")
    assert.deepStrictEqual(listed, { runs: [finished.body as never], nextCursor: null })
  })

  test("answer what is wrong with a request", async (owner) => {
    const http = await newDeployment(owner)
    const status = async (path: string) => (await http.send("GET", path)).status
    for (const path of ["0", "x", "1.5", "-1", "99999999999", "2147483647", "2147483648", "%20"]) {
      assert.strictEqual(await status(`test-runs/${path}`), 404, path)
    }
    for (const query of ["cursor=0", "cursor=x", "cursor=", "cursor=1.5", "result=", "mine=yes", "q=", "product="]) {
      assert.strictEqual(await status(`test-runs?${query}`), 400, query)
    }
    assert.strictEqual(await status("test-runs?mine=false&cursor=2147483647"), 200)
    assert.strictEqual(await status("test-runs?product=none"), 404)
  })
})

withClockOnEachServer(
  "the end of a run's time",
  (test) => {
    const kinds = async (http: Http) => {
      const { events } = await http.get<{ events: ReadonlyArray<Event> }>("events")
      return events.filter(({ subject }) => subject.type === "run").map(({ kind }) => kind)
    }

    test("an overdue run is interrupted for every call, before and after the fiber ends it", async (owner, advance) => {
      const workspace = await newDeployment(owner, { fixtureUrl })
      const key = await accountKey(workspace, "member")
      const { fixture, number, semaphores } = await startRun(key)
      const started = await getRun(workspace, number)
      assert.strictEqual(Date.parse(fixture!.expiresAt), Date.parse(started.startedAt) + 30_000)
      assert.strictEqual(semaphores.expiresAt, fixture!.expiresAt)
      advance(29_999)
      assert.strictEqual((await getRun(workspace, number)).state, "running")
      advance(1)

      const overdue: TestRun = {
        ...started,
        state: "interrupted",
        finishedAt: fixture!.expiresAt,
        cleanup: { ...started.cleanup!, status: "incomplete" }
      }
      const assertInterrupted = async () => {
        assert.deepStrictEqual(await getRun(workspace, number), overdue)
        assert.deepStrictEqual(await list(workspace), { runs: [summaryOf(overdue)], nextCursor: null })
        for (const result of ["passed", "failed"]) {
          assert.deepStrictEqual((await list(workspace, `?result=${result}`)).runs, [])
        }
        await key.refuse("409 not_running", "POST", `test-runs/${number}/finish`, finishOf())
        await workspace.refuse("403 not_publisher", "POST", `test-runs/${number}/finish`, finishOf())
        assert.strictEqual(
          refusal(await key.send("PUT", `test-runs/${number}/files/a`, { body: "x" })),
          "409 not_running"
        )
      }
      await assertInterrupted()
      assert.deepStrictEqual(await kinds(workspace), ["run_started"])

      advance(30_000)
      await eventually(
        () => kinds(workspace),
        (found) => found.length === 2
      )
      assert.deepStrictEqual(await kinds(workspace), ["run_interrupted", "run_started"])
      const { events } = await workspace.get<{ events: ReadonlyArray<Event> }>("events")
      assert.deepStrictEqual(events[0]!.actor, { kind: "apiKey", id: key.id, name: "ci" })
      assert.deepStrictEqual(
        events[0]!.changes.map(({ field, to }) => [field, to]),
        [
          ["product", "Shop"],
          ["environment", "Staging"]
        ]
      )
      assert.deepInclude(events[0]!.subject, { type: "run", id: started.id, label: "Run 1", url: started.url })
      await assertInterrupted()
      advance(60_000)
      await getRun(workspace, number)
      assert.lengthOf(await kinds(workspace), 2)
    })

    test("a run that ended in time is left as it ended", async (owner, advance) => {
      const workspace = await newDeployment(owner)
      await startRun(workspace)
      const finished = await finishRun(workspace, 1)
      const late = await startRun(workspace)
      await eventually(
        () => {
          // Again and again: a fiber that was not yet asleep has not heard of it.
          advance(60_000)
          return kinds(workspace)
        },
        (found) => found.includes("run_interrupted")
      )
      assert.deepStrictEqual(summaryOf(await getRun(workspace, 1)), finished)
      assert.strictEqual((await getRun(workspace, late.number)).state, "interrupted")
      assert.lengthOf(await kinds(workspace), 4)
    })

    test("many overdue runs all end", async (owner, advance) => {
      const workspace = await newDeployment(owner)
      for (let i = 0; i < 120; i++) await startRun(workspace)
      advance(60_000)
      await eventually(
        () => kinds(workspace),
        (found) => found.length === 50 && !found.includes("run_started")
      )
      const { nextCursor, runs } = await list(workspace)
      assert.strictEqual(nextCursor, 71)
      for (const run of runs) assert.strictEqual(run.state, "interrupted")
    })
  },
  { RUN_LIMIT_MS: "30000" }
)
