import type { Product } from "@delivery/domain/catalog/Product"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { eventually, http, openSocket } from "../support/Http.ts"
import { type Call, MixedLoad } from "../support/MixedLoad.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"
import { scrape, total } from "../telemetry/Scrape.ts"

/** Two servers on one PostgreSQL, stopped and killed under mixed load. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const clients = { read: 6, write: 4, run: 4, lease: 4, waitForLease: 6, inbox: 6, send: 1 }

describe("two servers under mixed load", () => {
  const cleanups: Array<() => Promise<unknown> | void> = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  })

  const prepare = async (flags: ReadonlyArray<string>) => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), "delivery-stop-"))
    cleanups.push(() => rmSync(DATA_DIR, { recursive: true, force: true }))
    const { drop, url: DATABASE_URL } = await openDatabase()
    cleanups.push(drop)
    const start = async () => {
      const server = await startServer(
        {
          DATABASE_URL,
          DATA_DIR,
          VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
          BOOTSTRAP_API_KEY: apiKey,
          DATABASE_POOL: "5",
          METRICS: "true"
        },
        flags
      )
      cleanups.push(() => server.end())
      return server
    }
    // One after the other: the first makes the workspace.
    const servers = [await start(), await start()] as const
    const targets = new Set<ServerProcess>(servers)
    const calls: Array<Call> = []
    const load = new MixedLoad({
      apiKey,
      targets: () => [...targets].map(({ baseUrl }) => baseUrl),
      clients,
      pauseMillis: 5,
      onCall: (call) => calls.push(call)
    })
    await load.prepare()
    load.start()
    cleanups.push(() => load.stop())
    return { servers, targets, calls, load, start }
  }

  /** Until each kind of call that does not wait for long has been answered a few times more. */
  const progress = (calls: ReadonlyArray<Call>) => {
    const from = calls.length
    return eventually(
      async () => calls.slice(from).filter(({ answer }) => answer !== undefined),
      (since) =>
        ["read", "write", "run", "lease", "send"].every((kind) => since.filter((call) => call.kind === kind).length > 3)
    )
  }

  /** Until calls wait for leases and messages at the server. */
  const untilWaitedFor = ({ baseUrl }: ServerProcess) =>
    eventually(
      async () => {
        const now = await scrape(baseUrl)
        return ["delivery_semaphore_waiters", "delivery_message_waiters"].map((name) => total(now, name))
      },
      (waiters) => waiters.every((count) => count > 0)
    )

  /** The ids of the requests that a server has answered, by its access log. */
  const answeredBy = (server: ServerProcess) =>
    new Set([...server.output().matchAll(/"requestId":"([^"]+)"/g)].map(([, id]) => id!))

  const waiters = Array.from({ length: clients.waitForLease }, (_, index) => `waiter-${index}`)

  for (const flags of [[], ["--workers", "2"]]) {
    it(`lose no request to SIGTERM, first of one and then of both${flags.length === 0 ? "" : ", with workers"}`, async () => {
      const { calls, load, servers, start, targets } = await prepare(flags)
      for (const server of servers) {
        await progress(calls)
        await untilWaitedFor(server)
        const before = calls.length
        assert.strictEqual(await server.end("SIGTERM"), 0)
        targets.delete(server)
        // Whoever waits for a lease or a message does so for longer than a stop has, and is answered by it.
        const since = calls.slice(before)
        for (const kind of ["waitForLease", "inbox"] as const) {
          assert.isAbove(since.filter((call) => call.kind === kind && call.answer !== undefined).length, 0, kind)
        }
      }
      await load.stop()

      const answered = servers.map(answeredBy)
      const failures = calls.filter(({ failure }) => failure !== undefined)
      for (const { failure, hasBegun, id, path } of failures) {
        assert.isFalse(hasBegun, `${path} broke off: ${failure}`)
        // Whoever was not answered had not been let in: what waits to be accepted is reset when a busy server stops listening.
        assert.oneOf(failure, ["ECONNREFUSED", "ECONNRESET"], path)
        assert.isFalse(answered.some((ids) => ids.has(id)))
      }
      assert.isAbove(failures.length, 0)
      const refused = calls.filter(({ answer }) => answer !== undefined && answer.status >= 300)
      assert.deepStrictEqual(
        refused.map(({ answer, path }) => `${path}: ${answer!.text}`),
        []
      )
      const kinds = new Map(Object.keys(clients).map((kind) => [kind, 0]))
      for (const { kind } of calls) kinds.set(kind, kinds.get(kind)! + 1)
      for (const [kind, count] of kinds) assert.isAbove(count, 3, kind)

      const again = await start()
      await load.verify(again.baseUrl)
      // What was refused has not happened.
      const owner = http(again.baseUrl, apiKey, "main")
      for (const [slug, { acknowledged }] of load.products) {
        assert.strictEqual((await owner.get<Product>(`products/${slug}`)).name, acknowledged)
      }
      // Whoever waited has kept the place.
      for (const waiter of waiters) assert.strictEqual((await load.take(again.baseUrl, waiter, 0)).status, 202)
      await load.release(again.baseUrl)
      const taken = await Promise.all(waiters.map((waiter) => load.take(again.baseUrl, waiter, 0)))
      assert.deepStrictEqual(taken.map(({ status }) => status).toSorted(), [201, ...waiters.slice(1).map(() => 202)])
    }, 240_000)
  }

  it("keep what they acknowledged through kill -9, first of one and then of both", async () => {
    const { calls, load, servers, start, targets } = await prepare([])
    for (const server of servers) {
      await progress(calls)
      await server.end()
      targets.delete(server)
    }
    const [one, other] = await Promise.all([start(), start()])
    await load.verify(one.baseUrl)
    for (const server of [one, other]) targets.add(server)
    await progress(calls)
    await load.stop()
    const answers = calls.filter(({ answer }) => answer !== undefined)
    assert.isAbove(answers.length, 100)
    assert.deepStrictEqual(
      answers.filter(({ answer }) => answer!.status >= 300).map(({ answer, path }) => `${path}: ${answer!.text}`),
      []
    )
    await load.verify(other.baseUrl)
    // Nothing is stuck: a lease that the killed servers knew of goes to who has waited longest.
    const waiting = waiters.map((waiter) => load.take(one.baseUrl, waiter, 5_000))
    await load.release(other.baseUrl)
    assert.isTrue((await Promise.all(waiting)).some(({ status }) => status === 201))
  }, 240_000)
})

describe("a server that stops", () => {
  it("keeps connections open that send a request, and none that never sent anything", async () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), "delivery-stop-"))
    const server = await startServer({ DATA_DIR, BOOTSTRAP_API_KEY: apiKey })
    const owner = http(server.baseUrl, apiKey, "main")
    const [silent, busy] = [openSocket(owner), openSocket(owner)]
    const lines = [
      "POST /v1/workspaces/main/products HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${apiKey}`,
      "Content-Type: application/json",
      "Content-Length: 100"
    ]
    busy.write([...lines, "", "{"].join("\r\n"))
    const ended = { silent: once(silent.resume(), "end"), busy: once(busy.resume(), "end") }
    const stopped = server.end("SIGTERM")
    assert.strictEqual(await Promise.race([ended.silent.then(() => "silent"), ended.busy.then(() => "busy")]), "silent")
    for (const socket of [silent, busy]) socket.destroy()
    assert.strictEqual(await stopped, 0)
    rmSync(DATA_DIR, { recursive: true, force: true })
  })
})
