import type { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import type { TestRun } from "@delivery/domain/runs/TestRun"
import { Readable } from "node:stream"
import { assert } from "vitest"
import {
  accountKey,
  answerOf,
  attempt,
  finishOf,
  finishRun,
  getRun,
  type Http,
  join,
  newDeployment,
  onEachServer,
  refusal,
  runOf,
  report,
  startRun
} from "../support/Http.ts"

/** The large bodies of reports (docs/contract.md, Conventions), over a real socket. */

const mebibyte = 1024 * 1024
const json = { "content-type": "application/json" }

/** The answer to a large body of which nothing is sent. */
const unsent = async (caller: Http, path: string, headers: Record<string, string>) => {
  const outgoing = caller.open("POST", path, { ...json, ...headers })
  const answer = answerOf(outgoing)
  outgoing.flushHeaders()
  return refusal(await answer)
}

const failed = (caseId: string) =>
  report(caseId, { attempt: { status: "failed", durationMs: 1, startedAt: "2026-11-21T09:30:10.000Z" } })

/** A run, and the running retry of another. */
const newScene = async (owner: Http) => {
  const workspace = await newDeployment(owner)
  const { number: retried } = await startRun(workspace)
  await finishRun(workspace, retried, { tests: [failed("a")] })
  const git = { ...runOf().git, dirty: false }
  const machine = { hostname: "ci-7", platform: "linux" }
  const { number } = await startRun(workspace)
  const start = { passes: 1, baseUrl: null, git, machine }
  await workspace.post(`test-runs/${retried}/retries`, start)
  return { workspace, number, run: `test-runs/${number}/finish`, retry: `test-runs/${retried}/retries/1/finish` }
}

onEachServer("a large body", (test) => {
  test("is refused before it is read, where the caller may not finish the run or retry", async (owner) => {
    const { retry, run, workspace } = await newScene(owner)
    const member = await accountKey(workspace, "member")
    const viewer = await join(workspace, "viewer")
    for (const headers of [{ "content-length": String(30 * mebibyte) }, { "transfer-encoding": "chunked" }]) {
      for (const path of [run, retry]) {
        assert.strictEqual(await unsent(workspace.as("ctk_none"), path, headers), "401")
        assert.strictEqual(await unsent(workspace.in("none"), path, headers), "404 workspace")
        assert.strictEqual(await unsent(viewer, path, headers), "403 role_too_low")
        assert.strictEqual(await unsent(member, path, headers), "403 not_publisher")
      }
      assert.strictEqual(await unsent(workspace, "test-runs/99/finish", headers), "404 test run")
      assert.strictEqual(await unsent(workspace, "test-runs/x/finish", headers), "404 test run")
      assert.strictEqual(await unsent(workspace, "test-runs/1/retries/9/finish", headers), "404 retry")
      assert.strictEqual(await unsent(workspace, "test-runs/1/finish", headers), "409 not_running")
    }
    for (const path of [run, retry]) {
      assert.strictEqual(await unsent(workspace, path, { "content-length": String(32 * mebibyte + 1) }), "400")
    }
  })

  test("is read however it is sent, and stored as a small one is", async (owner) => {
    const { number, run, workspace } = await newScene(owner)
    const errorStack = "é".repeat(mebibyte)
    const attempt = { status: "failed", durationMs: 1, startedAt: "2026-11-21T09:30:10.000Z", errorStack }
    const body = finishOf({ tests: [report("ü", { attempt: attempt as never, files: ['a"\\,{'] })] })
    const text = `\ufeff${JSON.stringify({ other: [{ a: [[[[[[[[1]]]]]]]] }], ...body }, undefined, 1)}`
    const chunks = Readable.from(
      [text.slice(0, mebibyte).slice(0, -1), text.slice(mebibyte - 1)].map((part) => Buffer.from(part))
    )
    const cut = await workspace.send("POST", run, { body: text.slice(0, -1), headers: json })
    assert.strictEqual(refusal(cut), "400")
    const latin = await workspace.send("POST", run, { body: Buffer.alloc(2 * mebibyte, 0xe9), headers: json })
    assert.strictEqual(latin.text.includes("The body is not UTF-8."), true)
    const answer = await workspace.send("POST", run, {
      body: chunks,
      headers: { ...json, "transfer-encoding": "chunked" }
    })
    assert.strictEqual(answer.status, 200, answer.text.slice(0, 300))
    const found = await workspace.get<{
      tests: ReadonlyArray<{ attempts: ReadonlyArray<{ errorStack: string }>; files: unknown }>
    }>(`test-runs/${number}`)
    assert.isTrue(found.tests[0]!.attempts[0]!.errorStack === errorStack)
    assert.deepStrictEqual(found.tests[0]!.files, ['a"\\,{'])
  })

  test("is refused where it is longer, deeper or has more values than any report", async (owner) => {
    const { retry, run, workspace } = await newScene(owner)
    const endless = () => Readable.from(Array.from({ length: 40 }, () => Buffer.alloc(mebibyte, " ")))
    for (const path of [run, retry]) {
      const long = await workspace.send("POST", path, {
        body: endless(),
        headers: { ...json, "transfer-encoding": "chunked" }
      })
      assert.deepStrictEqual([long.headers.connection, long.text.includes("The body is too large.")], ["close", true])
      for (const content of [`${"{},".repeat(800_000)}{}`, `${"[".repeat(2_000_000)}${"]".repeat(2_000_000)}`]) {
        const answer = await workspace.send("POST", path, { body: `{"tests":[${content}]}`, headers: json })
        assert.include(answer.text, "The body has more values than any report, or deeper ones.")
        assert.strictEqual(answer.status, 400)
      }
    }
  })

  test("of 5,000 tests in 20 MiB is taken; one more test is refused and nothing is stored", async (owner) => {
    const workspace = await newDeployment(owner)
    const { number } = await startRun(workspace)
    const errorStack = "x".repeat(4096)
    const tests = Array.from({ length: 5001 }, (_, i) =>
      report(`case ${i}`, { attempt: attempt(i % 5 === 0 ? "failed" : "passed", { errorStack }) })
    )
    await workspace.refuse("400 tests", "POST", `test-runs/${number}/finish`, finishOf({ tests }))
    assert.deepInclude(await getRun(workspace, number), { state: "running", tests: [] })
    const { counts } = await finishRun(workspace, number, { tests: tests.slice(1) })
    assert.deepStrictEqual(counts, { total: 5000, passed: 4000, flaky: 0, failed: 1000, skipped: 0 })
    const run = await getRun(workspace, number)
    assert.lengthOf(run.tests, 5000)
    assert.strictEqual(run.tests[0]!.title, "case 5")
    assert.strictEqual(run.tests[1000]!.title, "case 1")
    assert.strictEqual(run.tests[4999]!.attempts[0]!.errorStack, errorStack)
  })

  test("of more than 32 MiB is refused where its bytes pass the limit, without reading the rest", async (owner) => {
    const workspace = await newDeployment(owner)
    const { number } = await startRun(workspace)
    const limit = 32 * mebibyte
    const spaces = Buffer.alloc(mebibyte, " ")
    for (const length of [{ "content-length": String(4 * limit) }, { "transfer-encoding": "chunked" }]) {
      let sent = 0
      const body = Readable.from(
        (function* () {
          for (; sent < 4 * limit; sent += spaces.length) yield spaces
        })()
      )
      const headers = { "content-type": "application/json", ...length }
      const answer = await workspace.send("POST", `test-runs/${number}/finish`, { headers, body })
      assert.strictEqual(refusal(answer), "400")
      assert.isBelow(sent, 2 * limit)
    }
    assert.strictEqual((await getRun(workspace, number)).state, "running")
  })

  test("of 5,000 tests of the worst kind is taken, and none of more", async (owner) => {
    const http = await newDeployment(owner)
    const { number } = await startRun(http)
    const many = (count: number) => Array.from({ length: count }, (_, i) => report(`case ${i}`))
    const finish = (json: FinishTestRun) => http.send<TestRun>("POST", `test-runs/${number}/finish`, { json })
    const tooMany = await finish(finishOf({ tests: many(5_001) }))
    assert.strictEqual(tooMany.status, 400)
    const twice = await finish(finishOf({ tests: [...many(2), ...many(1)] }))
    assert.strictEqual(twice.status, 400)
    const stack = `\u{1F4A5}${"x".repeat(5_000)}`
    const worst = many(5_000).map((test) => ({
      ...test,
      attempt: { ...attempt("failed"), errorStack: stack }
    }))
    const finished = await finish(finishOf({ tests: worst as never }))
    assert.strictEqual(finished.status, 200)
    assert.strictEqual(finished.body.counts.failed, 5_000)
    const read = await getRun(http, number)
    assert.strictEqual(read.tests.length, 5_000)
    assert.strictEqual(read.tests[4_999]?.attempts[0]?.errorStack, stack)
  })
})
