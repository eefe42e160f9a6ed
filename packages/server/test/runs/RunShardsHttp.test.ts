import type { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import type { StartedTestRun, TestRun, TestRunPage, TestRunSummary } from "@delivery/domain/runs/TestRun"
import { assert } from "vitest"
import {
  attempt,
  type ErrorBody,
  finishOf,
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
import { take } from "./LeasesScene.ts"

/** Shards of one build over HTTP (docs/contract.md, Shards). */

const shardOf = (index: number, total = 2) => ({ build: "98765-1", shard: { index, total } })
const finish = <A = TestRunSummary>(http: Http, run: number, index: number, fields: Partial<FinishTestRun> = {}) =>
  http.send<A>("POST", `test-runs/${run}/finish`, {
    json: finishOf({ tests: [report(`t${index}`)], shard: { index, total: 2 }, ...fields })
  })
const start = <A = StartedTestRun>(http: Http, json: object) => http.send<A>("POST", "test-runs", { json })

onEachServer("shards", (test) => {
  test("start one run, which the last finishes, and each has a token until it finishes", async (owner) => {
    const workspace = await newDeployment(owner)
    const publisher = await join(workspace, "member")
    const first = await startRun(publisher, shardOf(1))
    const second = await start(publisher, runOf(shardOf(2)))
    assert.strictEqual(second.status, 201)
    assert.deepStrictEqual([second.body.number, second.body.url], [first.number, first.url])
    const held = await take(workspace.as(first.semaphores.token), "sandbox")
    assert.deepStrictEqual([held.status, held.body.run], [201, 1])

    const once = await finish(publisher, 1, 1)
    assert.deepStrictEqual(
      [once.status, once.body.state, once.body.shards],
      [200, "running", { total: 2, started: 2, finished: 1 }]
    )
    assert.strictEqual((await take(workspace.as(first.semaphores.token), "sandbox")).status, 401)
    // The lease is that of the run, which goes on.
    const waiting = await take<ErrorBody>(workspace.as(second.body.semaphores.token), "sandbox")
    assert.strictEqual(refusal(waiting), "409 full")
    assert.deepStrictEqual((await finish(publisher, 1, 1)).body, once.body)

    const last = await finish(publisher, 1, 2, { tests: [report("b", { attempt: attempt("failed") })] })
    assert.deepInclude(last.body, {
      state: "finished",
      result: "failed",
      shards: { total: 2, started: 2, finished: 2 }
    })
    assert.deepStrictEqual((await finish(publisher, 1, 1)).body, last.body)
    const run = await getRun(workspace, 1)
    assert.deepStrictEqual(
      run.tests.map(({ caseId }) => caseId),
      ["b", "t1"]
    )
    const { runs } = await workspace.get<TestRunPage>("test-runs")
    assert.deepStrictEqual(runs, [last.body])
  })

  test("are refused with a reason", async (owner) => {
    const workspace = await newDeployment(owner)
    const publisher = await join(workspace, "member")
    const refused = async (json: object) => refusal(await start<ErrorBody>(publisher, runOf(json)))
    assert.strictEqual(await refused({ build: "5" }), "400 shard")
    assert.strictEqual(await refused({ shard: { index: 1, total: 2 } }), "400 build")
    await startRun(publisher, shardOf(1))
    assert.strictEqual(await refused(shardOf(1, 3)), "409 total_mismatch")
    const { git } = runOf({})
    assert.strictEqual(await refused({ ...shardOf(2), git: { ...git, sha: "b".repeat(40) } }), "409 other_commit")
    const other = await join(workspace, "admin")
    assert.strictEqual(refusal(await finish<ErrorBody>(other, 1, 1)), "403 not_publisher")
    assert.strictEqual(refusal(await finish<ErrorBody>(publisher, 1, 2)), "409 not_started")
    assert.strictEqual(refusal(await finish<ErrorBody>(publisher, 1, 1, { shard: null })), "400 shard")
    await startRun(publisher, shardOf(2))
    await finish(publisher, 1, 1)
    assert.strictEqual(refusal(await finish<ErrorBody>(publisher, 1, 1, { durationMs: 7 })), "409 not_running")
    assert.strictEqual(await refused(shardOf(1)), "409 finished")
    await finish(publisher, 1, 2)
    assert.strictEqual(await refused(shardOf(2)), "409 finished")
    assert.strictEqual((await startRun(publisher)).number, 2)
    assert.strictEqual((await finish(publisher, 2, 1)).body.state, "finished")
    const { shards } = await workspace.get<TestRun>("test-runs/2")
    assert.strictEqual(shards, null)
  })

  test("report large bodies, also the same again after the end of the run", async (owner) => {
    const workspace = await newDeployment(owner)
    const publisher = await join(workspace, "member")
    await startRun(publisher, shardOf(1))
    await startRun(publisher, shardOf(2))
    const large = {
      tests: Array.from({ length: 30 }, (_, index) =>
        report(`large ${index}`, { attempt: attempt("failed", { errorStack: "x".repeat(100_000) }) })
      )
    }
    await finish(publisher, 1, 2)
    const ended = await finish(publisher, 1, 1, large)
    assert.deepInclude(ended.body, {
      state: "finished",
      counts: { total: 31, passed: 1, flaky: 0, failed: 30, skipped: 0 }
    })
    const again = await finish(publisher, 1, 1, large)
    assert.deepStrictEqual([again.status, again.body], [200, ended.body])
  })
})
