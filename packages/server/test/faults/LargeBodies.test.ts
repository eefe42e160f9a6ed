import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { finishOf, finishRun, http, newDeployment, report, runOf, startRun } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** How much memory one large body takes of a real server, whatever it holds (docs/contract.md, Conventions). */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const mebibyte = 1024 * 1024
const full = 32 * mebibyte
const allowed = 300

/** MiB that the process had resident at most since it was told to forget (Linux alone says). */
const peakOf = ({ pid }: ServerProcess): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024
const residentOf = ({ pid }: ServerProcess): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024
const forgetPeak = ({ pid }: ServerProcess) => writeFileSync(`/proc/${pid}/clear_refs`, "5")

const filled = (start: string, item: (index: number) => string, end: string, size = full): Buffer => {
  const buffer = Buffer.alloc(size, " ")
  let at = buffer.write(start)
  for (let index = 0; ; index++) {
    const next = `${index === 0 ? "" : ","}${item(index)}`
    if (at + Buffer.byteLength(next) + end.length > size) break
    at += buffer.write(next, at)
  }
  buffer.write(end, at)
  return buffer
}

const name = (index: number) => index.toString(36).padStart(5, "x")
const failed = { status: "failed", durationMs: 1, startedAt: "2026-11-21T09:30:10.000Z" } as const
const attempt = '"status":"failed","durationMs":1,"startedAt":"2026-11-21T09:30:10.000Z"'
const test = (index: number, stack: string) => {
  const { attempt: _, ...fields } = report(`case-${index}`)
  return `${JSON.stringify(fields).slice(0, -1)},"attempt":{${attempt},"errorStack":"${stack}"}}`
}
const start = `${JSON.stringify({ ...finishOf(), tests: undefined }).slice(0, -1)},"tests":[`

const bodies: Readonly<Record<string, readonly [status: number, body: () => Buffer]>> = {
  "5,000 tests with long stacks": [
    200,
    () => filled(start, (i) => test(i, "at checkout.spec.ts:12:9 ".repeat(260)), "]}")
  ],
  "stacks in other scripts": [200, () => filled(start, (i) => test(i, "в корзине 購物車 🚀 ".repeat(200)), "]}")],
  "one stack": [200, () => filled(start, (i) => (i > 0 ? " ".repeat(full) : test(0, "x".repeat(full - 1_000))), "]}")],
  "empty objects": [400, () => filled('{"tests":[', () => "{}", "]}")],
  "empty arrays": [400, () => filled('{"tests":[', () => "[]", "]}")],
  "arrays in arrays": [400, () => Buffer.from("[".repeat(full / 2) + "]".repeat(full / 2))],
  "names that are never the same": [400, () => filled('{"tests":[', (i) => `{"${name(i)}":0}`, "]}")],
  "one object of many names": [400, () => filled('{"tests":[{', (i) => `"${name(i)}":0`, "}]}")],
  "texts that are never the same": [400, () => filled('{"tests":[{"files":[', (i) => `"${name(i)}"`, "]}]}")],
  "as many values as are parsed": [400, () => Buffer.from(`{"tests":[${"{},".repeat(749_000)}${" ".repeat(1_000)}{}]}`)]
}

describe("A large body", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "delivery-bodies-"))
  let drop = async () => {}
  let server: ServerProcess | undefined
  afterEach(async () => {
    await server?.end()
    rmSync(dataDir, { recursive: true, force: true })
    await drop()
  })

  it(`takes at most ${allowed} MiB, whatever it holds`, async () => {
    const database = await openDatabase()
    drop = database.drop
    const running = await startServer({
      DATABASE_URL: database.url,
      VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
      BOOTSTRAP_API_KEY: apiKey,
      DATA_DIR: dataDir,
      LOG_LEVEL: "warn"
    })
    server = running
    const workspace = await newDeployment(http(running.baseUrl, apiKey, "main"))
    const send = async (body: Buffer) => {
      const { number } = await startRun(workspace)
      return workspace.send("POST", `test-runs/${number}/finish`, {
        body,
        headers: { "content-type": "application/json" }
      })
    }
    // What the first calls compile is not the body's: these read, parse and store a body as a full one is.
    for (let i = 0; i < 50; i++) await startRun(workspace)
    const short = filled(start, (i) => test(i, "at checkout.spec.ts:12:9 ".repeat(260)), "]}", 9 * mebibyte)
    for (let i = 0; i < 3; i++) await send(short)
    const resting = residentOf(running)
    const found: Record<string, { readonly added: number; readonly status: number }> = {}
    // On a busy machine, what a body before it has left may not be collected yet: then it is measured again.
    const measure = async (title: string, ask: () => Promise<{ readonly status: number }>) => {
      for (let tries = 0; tries < 3 && (found[title]?.added ?? Infinity) > allowed; tries++) {
        forgetPeak(running)
        const { status } = await ask()
        found[title] = { status, added: Math.round(peakOf(running) - resting) }
      }
    }
    for (const [title, [, body]] of Object.entries(bodies)) await measure(title, () => send(body()))
    const { number } = await startRun(workspace)
    const cases = Array.from({ length: 5_000 }, (_, i) => `case-${i}`)
    await finishRun(workspace, number, { tests: cases.map((caseId) => report(caseId, { attempt: failed })) })
    const { baseUrl: _, fixtureUrl: __, ...started } = { ...runOf(), passes: 5 }
    await workspace.post(`test-runs/${number}/retries`, { ...started, baseUrl: null })
    const attempts = Array.from({ length: 20 }, () => ({
      ...failed,
      errorMessage: "m".repeat(90),
      files: ["stdout.txt"]
    }))
    const retried = JSON.stringify({
      interrupted: false,
      cleanup: null,
      tests: cases.map((caseId) => ({ caseId, attempts }))
    })
    forgetPeak(running)
    const { status } = await workspace.send("POST", `test-runs/${number}/retries/1/finish`, {
      body: retried,
      headers: { "content-type": "application/json" }
    })
    found["a retry of 20 attempts of each of 5,000 tests"] = { status, added: Math.round(peakOf(running) - resting) }
    const all = JSON.stringify(found)
    for (const [title, { added, status }] of Object.entries(found)) {
      assert.strictEqual(status, bodies[title]?.[0] ?? 200, `${title}: ${all}`)
      assert.isAtMost(added, allowed, `${title}: ${all}`)
    }
  }, 300_000)
})
