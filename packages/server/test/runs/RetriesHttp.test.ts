import type { StartedRetry, StartRetry } from "@delivery/domain/runs/TestRetry"
import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import { assert } from "vitest"
import {
  accountKey,
  type Answer,
  assertTimestamp,
  attempt,
  finishRun,
  getRun,
  type Http,
  join,
  newDeployment,
  onEachServer,
  refusal,
  report,
  runOf,
  startRun
} from "../support/Http.ts"

const { git, machine } = runOf()
const startOf = (fields: Partial<StartRetry> = {}) => ({ passes: 2, baseUrl: null, git, machine, ...fields })
const finishOf = (...tests: ReadonlyArray<object>) => ({ interrupted: false, tests })

/** A finished run whose tests `a` and `b` failed. */
const failedRun = async (owner: Http, fields: Parameters<typeof newDeployment>[1] = {}): Promise<Http> => {
  const workspace = await newDeployment(owner, fields)
  await startRun(workspace)
  const failed = attempt("failed", { errorMessage: "Expected 200" })
  const tests = [report("a", { attempt: failed, files: ["a.zip"] }), report("b", { attempt: failed }), report("c")]
  await finishRun(workspace, 1, { tests })
  return workspace
}

onEachServer("Retries over HTTP", (test) => {
  test("start with 201 and finish with the run", async (owner) => {
    const workspace = await failedRun(owner, { fixtureUrl: "https://fixtures.shop.example" })
    const started = await workspace.post<StartedRetry>("test-runs/1/retries", startOf({ passes: 1 }))
    assert.sameMembers(Object.keys(started), [
      "retry",
      "requiredPasses",
      "baseUrl",
      "tests",
      "environment",
      "fixture",
      "semaphores"
    ])
    assert.deepStrictEqual(started.tests, [
      { caseId: "a", title: "a", file: "a.spec.ts", nextAttempt: 2 },
      { caseId: "b", title: "b", file: "b.spec.ts", nextAttempt: 2 }
    ])
    assert.deepStrictEqual(started.environment, { slug: "staging", class: "non-production" })
    const put = await workspace.send("PUT", "test-runs/1/files/retry/a.txt", { body: "hello" })
    assert.strictEqual(put.status, 201)
    const body = {
      ...finishOf(
        { caseId: "a", attempts: [attempt("passed", { durationMs: 7.5, files: ["retry/a.txt"] })] },
        { caseId: "b", attempts: [] }
      ),
      cleanup: { status: "complete", deleted: 1, remaining: 0 },
      unknown: true
    }
    const summary = await workspace.post<TestRunSummary>("test-runs/1/retries/1/finish", body, 200)
    const { mutes: _, retries, tests, ...rest } = await getRun(workspace, 1)
    assert.deepStrictEqual(summary, rest)
    assert.deepInclude(summary, { result: "failed", passRate: 2 / 3, firstAttemptPassRate: 1 / 3 })
    const [retry] = retries
    assertTimestamp(retry!.startedAt, retry!.finishedAt)
    assert.sameMembers(Object.keys(retry!), [
      "number",
      "state",
      "requiredPasses",
      "testCount",
      "flakyCount",
      "elsewhere",
      "baseUrl",
      "gitSha",
      "cleanup",
      "publishedBy",
      "startedAt",
      "finishedAt"
    ])
    // Its last attempt's duration, its last failed attempt's message, and the files that it was finished with.
    assert.deepStrictEqual(
      tests.map((entry) => [entry.caseId, entry.status, entry.durationMs, entry.errorMessage, entry.files]),
      [
        ["b", "failed", 12.5, "Expected 200", []],
        ["a", "flaky", 7.5, "Expected 200", ["a.zip"]],
        ["c", "passed", 12.5, null, []]
      ]
    )
    assert.deepStrictEqual(
      tests.map((entry) => entry.attempts.map(({ files, number, retry }) => [number, retry, files])),
      [
        [[1, null, []]],
        [
          [1, null, []],
          [2, 1, ["retry/a.txt"]]
        ],
        [[1, null, []]]
      ]
    )
    await workspace.refuse("409 not_running", "PUT", "test-runs/1/files/late.txt", "x")
    await workspace.refuse("409 not_running", "POST", "test-runs/1/retries/1/finish", finishOf())
  })

  test("are checked in the contract's order", async (owner) => {
    const workspace = await failedRun(owner)
    const [member, viewer] = [await join(workspace, "member"), await join(workspace, "viewer")]
    const path = "test-runs/1/retries"
    await workspace.as(undefined).refuse("401", "POST", path, {})
    for (const passes of [0, 6, 1.5, "2", null]) {
      await workspace.in("nowhere").refuse("400 passes", "POST", path, startOf({ passes: passes as number }))
    }
    for (const missing of ["passes", "baseUrl", "git", "machine"]) {
      await workspace.refuse(`400 ${missing}`, "POST", path, { ...startOf(), [missing]: undefined })
    }
    await workspace.refuse("400 fixtureUrl", "POST", path, startOf({ fixtureUrl: "ftp://x" }))
    await workspace.in("nowhere").refuse("404 workspace", "POST", path, startOf())
    await viewer.refuse("403 role_too_low", "POST", "test-runs/9/retries", startOf())
    await workspace.refuse("404 test run", "POST", "test-runs/9/retries", startOf())
    await workspace.refuse("404 test run", "POST", "test-runs/one/retries", startOf())
    await workspace.refuse("409 other_commit", "POST", path, startOf({ git: { ...git, sha: "abc" } }))
    const key = await accountKey(workspace, "member")
    await key.post(path, startOf())
    await workspace.refuse("409 retry_running", "POST", path, startOf())

    const finish = `${path}/1/finish`
    const ran = attempt("passed")
    const wrong: ReadonlyArray<readonly [string, object]> = [
      ["400 tests", finishOf({ caseId: "a", attempts: [ran] }, { caseId: "a", attempts: [ran] })],
      ["400 tests.0.attempts.0.status", finishOf({ caseId: "a", attempts: [{ ...ran, status: "skipped" }] })],
      ["400 tests.0.attempts.0", finishOf({ caseId: "a", attempts: [null] })],
      ["400 tests.0.attempts", finishOf({ caseId: "a" })],
      ["400 tests.0.attempts", finishOf({ caseId: "a", attempts: Array.from({ length: 101 }, () => ran) })],
      ["400 tests.0.caseId", finishOf({ caseId: "", attempts: [] })],
      ["400 interrupted", { tests: [] }],
      ["400 tests", { interrupted: false }],
      ["400 cleanup.status", { ...finishOf(), cleanup: { status: "pending", deleted: 0, remaining: 0 } }]
    ]
    for (const [expected, body] of wrong) await workspace.in("nowhere").refuse(expected, "POST", finish, body)
    await workspace.in("nowhere").refuse("404 workspace", "POST", finish, finishOf())
    await viewer.refuse("403 role_too_low", "POST", `${path}/9/finish`, finishOf())
    await key.refuse("404 retry", "POST", `${path}/2/finish`, finishOf())
    await key.refuse("404 retry", "POST", `${path}/x/finish`, finishOf())
    await member.refuse("403 not_publisher", "POST", finish, finishOf({ caseId: "none", attempts: [] }))
    await key.refuse("400 tests", "POST", finish, finishOf({ caseId: "none", attempts: [] }))
    await key.refuse("400 tests", "POST", finish, finishOf({ caseId: "c", attempts: [ran] }))
    await key.post(finish, finishOf(), 200)
    await key.refuse("409 not_running", "POST", finish, finishOf({ caseId: "none", attempts: [] }))
    await key.refuse("409 not_running", "POST", finish, finishOf({ caseId: "a", attempts: [ran] }))
    await workspace.refuse("403 not_publisher", "POST", finish, finishOf({ caseId: "a", attempts: [ran] }))
  })

  test("take reports of many megabytes", async (owner) => {
    const workspace = await failedRun(owner)
    const { requiredPasses } = await workspace.post<StartedRetry>("test-runs/1/retries", startOf({ passes: 5 }))
    assert.strictEqual(requiredPasses, 5)
    const attempts = Array.from({ length: 100 }, () => attempt("failed", { errorStack: "x".repeat(50_000) }))
    const answer: Answer = await workspace.send("POST", "test-runs/1/retries/1/finish", {
      json: finishOf({ caseId: "a", attempts }, { caseId: "b", attempts })
    })
    assert.strictEqual(refusal(answer), "200")
    const run = await getRun(workspace, 1)
    assert.deepStrictEqual(
      run.tests.map((entry) => entry.attempts.length),
      [101, 101, 1]
    )
  })
})
