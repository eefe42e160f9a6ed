import { Readable } from "node:stream"
import { assert } from "vitest"
import {
  accountKey,
  answerOf,
  finishOf,
  finishRun,
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
})
