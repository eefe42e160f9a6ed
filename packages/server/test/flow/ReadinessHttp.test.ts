import type { NewDeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import type { Event } from "@delivery/domain/events/Event"
import type { DeliveryMetrics } from "@delivery/domain/flow/DeliveryMetrics"
import type { Drift } from "@delivery/domain/flow/Drift"
import type { Readiness } from "@delivery/domain/flow/Readiness"
import type { ReadinessPolicy } from "@delivery/domain/flow/ReadinessPolicy"
import type { TestRun } from "@delivery/domain/runs/TestRun"
import { assert } from "vitest"
import { attempt, finishRun, type Http, join, newDeployment, onEachServer, report, startRun } from "../support/Http.ts"

/** Readiness and metrics over a real socket. Their rules are in Readiness.test.ts, Drift.test.ts and DeliveryMetrics.test.ts. */

const path = "deployments/shop/production"
const canary = "canary-5f4dcc3b5aa765d6"

/** The owner of a workspace whose shop goes from staging to production. */
const newShop = async (owner: Http): Promise<Http> => {
  const workspace = await newDeployment(owner, { version: "v1" })
  await workspace.post("environments", { slug: "production", name: "Production", class: "production" })
  await workspace.post("deployments", { product: "shop", environment: "production", baseUrl: "https://shop.example" })
  return workspace
}

const put = async <A>(by: Http, json: object): Promise<A> => {
  const { body, status, text } = await by.send<A>("PUT", `${path}/readiness-policy`, { json })
  assert.strictEqual(status, 200, text)
  return body
}

const set = (by: Http, name: string, environments: ReadonlyArray<string>) =>
  by.post("vault/assignments", { products: ["shop"], environments, name, value: `${canary} of ${name}` }, 200)

/** Ends a run with a test that has just begun, as if it was the deployment's version that it ran on. */
const finish = (by: Http, run: number, status: "failed" | "passed" = "passed") =>
  finishRun(by, run, { tests: [report("a", { attempt: attempt(status, { startedAt: new Date().toISOString() }) })] })

const load = async (by: Http) => {
  const { token } = await by.post<NewDeploymentToken>(`${path}/tokens`, { name: "kubernetes" })
  return by.as(token).send<{ values: Record<string, string> }>("GET", "/deploy/v1/secrets")
}

onEachServer("Readiness", (test) => {
  test("has a policy that whoever says what is expected does not take from others", async (owner) => {
    const workspace = await newShop(owner)
    const expected = await workspace.get<ReadinessPolicy>(`${path}/readiness-policy`)
    const changes = [{ drift: "block" }, { mutes: "block" }, { tickets: "warn" }, { secrets: "block" }]
    const answers = await Promise.all(
      changes.map((change) =>
        workspace.send<{ reason?: string }>("PUT", `${path}/readiness-policy`, {
          json: { ...expected, ...change, expected }
        })
      )
    )
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409])
    assert.deepStrictEqual(new Set(answers.map(({ body }) => body.reason)), new Set([undefined, "policy_changed"]))
    const first = answers.findIndex(({ status }) => status === 200)
    const policy = await workspace.get<ReadinessPolicy>(`${path}/readiness-policy`)
    assert.deepStrictEqual(policy, { ...expected, ...changes[first] } as ReadinessPolicy)
    const freezes = [{ from: "2030-01-01T00:00:00Z", to: "2030-01-02T00:00:00Z", reason: "Holidays" }]
    const change = { ...policy, freezes, expected: policy }
    const later = await put<ReadinessPolicy>(workspace, change)
    // As whoever did not get the answer does.
    assert.deepStrictEqual(await put<ReadinessPolicy>(workspace, change), later)
    await workspace.refuse("409 policy_changed", "PUT", `${path}/readiness-policy`, {
      ...later,
      freezes: [],
      expected: policy
    })
    assert.deepStrictEqual(await put(workspace, { ...later, expected: later }), later)
  })

  test("is not decided by runs against another address than the deployment's", async (owner) => {
    const workspace = await newShop(owner)
    await put<ReadinessPolicy>(workspace, { from: "staging", requires: [{ coverage: "critical" }] })
    const start = (baseUrl: string) =>
      startRun(workspace, { selection: { coverage: "critical", folders: [], caseIds: [] }, baseUrl })
    const ready = () => workspace.get<Readiness>(`${path}/readiness`)
    const told = async (): Promise<unknown> => {
      const { notCounted, ready: isReady, reasons, runs } = await ready()
      return [isReady, runs.map(({ run }) => run), reasons.map(({ message }) => message), notCounted]
    }
    const preview = "https://pr-12.preview.shop.example"
    const elsewhere = (run: number, result = "passed") => [
      { coverage: "critical", run, environment: "staging", result, reason: "other_address", baseUrl: preview }
    ]
    const passing = await start(preview)
    assert.deepStrictEqual(await told(), [
      false,
      [],
      [
        "No run of v1 with the whole coverage critical has finished in Staging. A run is of the version that the deployment had when the run began, not of its commit: record the version first, with delivery deployments set-version."
      ],
      []
    ])
    await finish(workspace, passing.number)
    const missing = "No run of v1 with the whole coverage critical has finished in Staging"
    assert.deepStrictEqual(await told(), [
      false,
      [],
      [
        `${missing}. Run ${passing.number} passed, but does not count: it tested ${preview}, not the address that the deployment had then and has now.`
      ],
      elsewhere(passing.number)
    ])
    const failing = await start("https://staging.shop.example")
    await finish(workspace, failing.number, "failed")
    const failed = `Run ${failing.number} in Staging, the newest of v1 with the coverage critical, failed: a. Run all of critical again once it passes, or mute it with a ticket and run it again.`
    assert.deepStrictEqual(await told(), [false, [failing.number], [failed], []])
    const later = await start(preview)
    await finish(workspace, later.number)
    assert.deepStrictEqual(await told(), [false, [failing.number], [failed], elsewhere(later.number)])
    const fixed = await start("https://staging.shop.example")
    await finish(workspace, fixed.number)
    assert.deepStrictEqual(await told(), [true, [fixed.number], [], []])
    const bad = await start(preview)
    await finish(workspace, bad.number, "failed")
    assert.deepStrictEqual(await told(), [true, [fixed.number], [], elsewhere(bad.number, "failed")])
  })

  test("is not decided by a run of tests that ran before the version came", async (owner) => {
    const workspace = await newShop(owner)
    await put<ReadinessPolicy>(workspace, { from: "staging", requires: [{ coverage: "critical" }] })
    const baseUrl = "https://staging.shop.example"
    const { number } = await startRun(workspace, {
      selection: { coverage: "critical", folders: [], caseIds: [] },
      baseUrl
    })
    await finishRun(workspace, number, { tests: [report("a")] })
    const { notCounted, ready, reasons } = await workspace.get<Readiness>(`${path}/readiness`)
    assert.deepStrictEqual(
      [ready, reasons.map(({ kind, message }) => [kind, message]), notCounted],
      [
        false,
        [
          [
            "run_missing",
            `No run of v1 with the whole coverage critical has finished in Staging. Run ${number} passed, but does not count: by the times of its tests they ran before the version was set there, or before those of a run that failed.`
          ]
        ],
        [
          {
            coverage: "critical",
            run: number,
            environment: "staging",
            result: "passed",
            reason: "ran_before",
            baseUrl
          }
        ]
      ]
    )
  })

  test("is answered with its reasons and what decided", async (owner) => {
    const workspace = await newShop(owner)
    const policy = await put<ReadinessPolicy>(workspace, {
      from: "staging",
      requires: [{ coverage: "critical" }],
      secrets: "block",
      freezes: [{ from: "2999-01-01T00:00:00Z", to: "2999-01-02T00:00:00Z", reason: "Holidays" }]
    })
    assert.deepStrictEqual(policy, {
      from: "staging",
      requires: [{ coverage: "critical", severity: "block" }],
      tickets: "block",
      secrets: "block",
      drift: "warn",
      mutes: "warn",
      freezes: [{ from: "2999-01-01T00:00:00.000Z", to: "2999-01-02T00:00:00.000Z", reason: "Holidays" }]
    })
    assert.deepStrictEqual(await workspace.get(`${path}/readiness-policy`), policy)
    const { number } = await startRun(workspace, {
      selection: { coverage: "critical", folders: [], caseIds: [] },
      baseUrl: "https://staging.shop.example/",
      git: { branch: "feature/z", sha: "9".repeat(40), dirty: false, subject: "Try" }
    })
    await finish(workspace, number)
    await set(workspace, "MISSING", ["staging"])
    const blocked = await workspace.get<Readiness>(`${path}/readiness`)
    const url = `${owner.baseUrl}/w/${workspace.workspace}/products/shop/secrets/MISSING`
    const [reason, ...others] = blocked.reasons
    assert.deepStrictEqual(others, [])
    assert.deepInclude(reason, { kind: "secret_missing", severity: "block" })
    assert.deepInclude(reason!.subject, { type: "secret", label: "MISSING", url })
    assert.deepInclude(blocked, { ready: false, version: "v1" })
    const { counts, finishedAt } = await workspace.get<TestRun>(`test-runs/${number}`)
    const decided = {
      coverage: "critical",
      run: number,
      environment: "staging",
      result: "passed",
      gateResult: "passed",
      git: { branch: "feature/z", sha: "9".repeat(40), dirty: false },
      counts,
      mutedFailures: { count: 0, tests: [] },
      runningRetry: null,
      newer: null,
      finishedAt
    }
    assert.deepStrictEqual(blocked.runs as ReadonlyArray<unknown>, [decided])
    const newer = await startRun(workspace, {
      selection: { coverage: "critical", folders: [], caseIds: [] },
      baseUrl: "https://STAGING.shop.example"
    })
    assert.deepStrictEqual((await workspace.get<Readiness>(`${path}/readiness`)).runs as ReadonlyArray<unknown>, [
      { ...decided, newer: { run: newer.number, state: "running" } }
    ])
    await finish(workspace, newer.number)
    const counted = await workspace.get<Readiness>(`${path}/readiness`)
    assert.deepStrictEqual([counted.runs.map(({ run }) => run), counted.notCounted], [[newer.number], []])
    await set(workspace, "MISSING", ["production"])
    assert.deepInclude(await workspace.get<Readiness>(`${path}/readiness?version=v1`), { ready: true, reasons: [] })
    assert.isFalse((await workspace.get<Readiness>(`${path}/readiness?version=v2`)).ready)
  })

  test("is refused with the field that is wrong", async (owner) => {
    const workspace = await newShop(owner)
    const refusePut = (expected: string, json: object) =>
      workspace.refuse(expected, "PUT", `${path}/readiness-policy`, json)
    await refusePut("404 from:", { from: "nowhere" })
    await refusePut("400 from", { from: "production" })
    await refusePut("400 tickets", { tickets: "maybe" })
    await refusePut("400 requires", { requires: [{ coverage: "critical" }, { coverage: "critical" }] })
    await refusePut("400 requires.0.severity", { requires: [{ coverage: "critical", severity: "off" }] })
    const [at, later] = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]
    await refusePut("400 freezes.0.to", { freezes: [{ from: at, to: at, reason: "None" }] })
    await refusePut("400 freezes.0.from", { freezes: [{ from: "2026-02-30T00:00:00Z", to: later, reason: "None" }] })
    await refusePut("400 freezes.0.reason", { freezes: [{ from: at, to: later, reason: " " }] })
    const many = Array.from({ length: 101 }, () => ({ from: at, to: later, reason: "Many" }))
    await refusePut("400 freezes", { freezes: many })
    for (const [expected, call] of [
      ["400 version", `${path}/readiness?version=`],
      ["404 beside:", `${path}/drift?beside=nowhere`],
      ["400 beside", `${path}/drift?beside=production`],
      ["404 deployment", "deployments/shop/nowhere/drift"],
      ["404 product:", "metrics/delivery?product=nowhere"],
      ["400 from", "metrics/delivery?from=2026-02-30"],
      ["400", "metrics/delivery?from=2026-01-02&to=2026-01-01"],
      ["400", "metrics/delivery?from=2024-01-01&to=2026-01-01"]
    ] as const) {
      await workspace.refuse(expected, "GET", call)
    }
  })

  test("tells no value, to nobody", async (owner) => {
    const workspace = await newShop(owner)
    await put(workspace, { from: "staging" })
    await set(workspace, "KEPT", ["staging", "production"])
    await set(workspace, "CHANGED", ["production"])
    assert.include((await load(workspace)).text, canary)
    await set(workspace, "CHANGED", ["production"])
    await set(workspace, "ADDED", ["production"])
    await set(workspace, "MISSING", ["staging"])
    const viewer = await join(workspace, "viewer")
    for (const caller of [workspace, viewer]) {
      const drift = await caller.get<Drift>(`${path}/drift`)
      assert.deepStrictEqual(drift.changed, [
        { name: "ADDED", loaded: null, version: 1 },
        { name: "CHANGED", loaded: 1, version: 2 }
      ])
      assert.deepStrictEqual(drift.missing, [{ name: "MISSING", beside: "staging" }])
      const { reasons } = await caller.get<Readiness>(`${path}/readiness`)
      assert.deepStrictEqual(
        reasons.map(({ kind, subject }) => [kind, subject!.label]),
        [
          ["secret_missing", "MISSING"],
          ["drift", "ADDED"],
          ["drift", "CHANGED"]
        ]
      )
      const answers = ["drift", "drift?beside=staging", "readiness", "readiness-policy"].map(
        (call) => `${path}/${call}`
      )
      for (const call of [...answers, "metrics/delivery", "events"]) {
        assert.notInclude((await caller.send("GET", call)).text, canary, call)
      }
    }
  })

  test("is changed with an event, and measured by what was released", async (owner) => {
    const workspace = await newShop(owner)
    await put(workspace, { drift: "block" })
    const { events } = await workspace.get<{ events: ReadonlyArray<Event> }>("events?kinds=policy_updated")
    assert.deepStrictEqual(
      events.map(({ changes, subject }) => [subject.type, subject.label, changes]),
      [["policy", "Shop in Production", [{ field: "drift", from: "warn", to: "block" }]]]
    )
    const commits = [{ sha: "a".repeat(40), subject: "Add it", at: "2026-01-01T00:00:00Z" }]
    await workspace.patch(path, { version: "v1", commits })
    await workspace.patch(path, { version: "v2" })
    await workspace.patch(path, { version: "v1" })
    const measured = await workspace.get<DeliveryMetrics>("metrics/delivery?product=shop")
    assert.deepStrictEqual(
      measured.deploymentFrequency.releases.map(({ environment, number, version }) => [environment, number, version]),
      [
        ["production", 1, "v1"],
        ["production", 2, "v2"],
        ["production", 3, "v1"]
      ]
    )
    assert.deepStrictEqual([measured.changeFailureRate.total, measured.changeFailureRate.rate], [3, 1 / 3])
    const [failure] = measured.timeToRestore.failures
    assert.deepInclude(failure, { number: 2, restoredBy: 3, ms: measured.timeToRestore.medianMs! })
    assert.deepInclude(measured.leadTime.commits[0], { sha: "a".repeat(40), product: "shop" })
  })
})
