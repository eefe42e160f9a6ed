import type { Lease } from "@delivery/domain/runs/Semaphore"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { PgClient } from "@effect/sql-pg"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, assert, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { type DatabaseProxy, startDatabaseProxy } from "../support/DatabaseProxy.ts"
import {
  type Answer,
  answerOf,
  assertRunNumbers,
  eventually,
  type Http,
  http,
  newDeployment,
  registerAgent,
  runOf,
  startRun,
  teamKey
} from "../support/Http.ts"
import { startServer } from "../support/ServerProcess.ts"
import { scrape } from "../telemetry/Scrape.ts"

/** Requests that take longer than `REQUEST_LIMIT_MS`, while each statement takes less than it may. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const limit = 1_000

describe("a request as a whole", () => {
  const cleanups: Array<() => Promise<unknown> | void> = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  })

  const prepare = async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "delivery-times-"))
    cleanups.push(() => rmSync(dataDir, { recursive: true, force: true }))
    const database = await openDatabase()
    cleanups.push(database.drop)
    const proxy: DatabaseProxy = await startDatabaseProxy(database.url)
    cleanups.push(proxy.stop)
    const server = await startServer({
      DATABASE_URL: proxy.url,
      DATA_DIR: dataDir,
      VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
      BOOTSTRAP_API_KEY: apiKey,
      LOG_LEVEL: "info",
      METRICS: "true",
      REQUEST_LIMIT_MS: String(limit)
    })
    cleanups.push(() => server.end())
    const runtime = ManagedRuntime.make(PgClient.layer({ url: Redacted.make(database.url), maxConnections: 2 }))
    cleanups.push(() => runtime.dispose())
    const sql = await runtime.runPromise(PgClient.PgClient)
    /** Holds a table alone while `work` runs. */
    const locking = (table: string, work: () => Promise<void>) =>
      Effect.runPromise(
        sql.withTransaction(
          Effect.andThen(
            sql.unsafe(`lock table ${table} in access exclusive mode`),
            Effect.promise(() => work())
          )
        )
      )
    /** The server's sessions that are in a transaction, or wait for a lock. */
    const busy = () =>
      Effect.runPromise(
        sql<{ readonly state: string; readonly query: string }>`select state, query from pg_stat_activity
          where datname = current_database() and application_name = 'delivery'
            and (state <> 'idle' or wait_event_type = 'Lock')`
      )
    const workspace = await newDeployment(http(server.baseUrl, apiKey, "main"))
    const overdue = async () => (await scrape(server.baseUrl)).value("delivery_http_requests_overdue_total")
    return { busy, locking, overdue, proxy, server, workspace }
  }

  const assertOverdue = ({ body, headers, status, text }: Answer) => {
    assert.strictEqual(status, 500, text)
    assert.deepStrictEqual(body, {
      _tag: "Internal",
      message: "The request took too long.",
      requestId: headers["x-request-id"]
    })
  }

  it("is ended: reads, transactions and statements that others share answer Internal, and connections are free", async () => {
    const { busy, locking, overdue, server, workspace } = await prepare()
    const team = teamKey()
    await workspace.post("teams", { key: team, name: "Team" })
    assert.strictEqual(await overdue(), 0)
    await locking("tickets", async () => {
      // More than the pool has connections.
      const creates = Array.from({ length: 15 }, (_, index) =>
        workspace.send("POST", "tickets", { json: { team, title: `Ticket ${index}` } })
      )
      for (const answer of await Promise.all([...creates, workspace.send("GET", `tickets?team=${team}`)])) {
        assertOverdue(answer)
        assert.include(server.output(), `"requestId":"${answer.headers["x-request-id"]}"`)
      }
      // Rolled back, though what they waited for is still held. What shares its connection goes on until then.
      await eventually(busy, (sessions) => sessions.every(({ query }) => !/insert|update/.test(query)))
      assert.strictEqual((await workspace.send("GET", "products")).status, 200)
    })
    assert.strictEqual(await overdue(), 16)
    const metrics = await scrape(server.baseUrl)
    const of = (endpoint: string) => metrics.value("delivery_http_requests_total", { endpoint, status: "500" })
    assert.deepStrictEqual([of("tickets.create"), of("tickets.list")], [15, 1])
    await eventually(busy, ({ length }) => length === 0)
    const { tickets } = await workspace.get<{ tickets: ReadonlyArray<Ticket> }>(`tickets?team=${team}`)
    assert.deepStrictEqual(tickets, [])
    // Nothing of them is left, not a number either.
    const made = await workspace.post<Ticket>("tickets", { team, title: "Later" })
    assert.strictEqual(made.identifier, `${team}-1`)

    await locking("test_runs", async () => assertOverdue(await workspace.send("POST", "test-runs", { json: runOf() })))
    // Runs of one moment are started together, by whoever waits: an Internal does not say whether it happened.
    await eventually(busy, ({ length }) => length === 0)
    await startRun(workspace)
    await assertRunNumbers(workspace)
  }, 240_000)

  it("is ended, whatever its URL says of files", async () => {
    const { locking, overdue, workspace } = await prepare()
    const agent = workspace.as((await registerAgent(workspace)).access_token)
    const path = "/agent/v1/sessions/s?/v1/workspaces/main/test-runs/1/files/a"
    await locking("sessions", async () => assertOverdue(await agent.send("PUT", path, { json: {} })))
    assert.strictEqual(await overdue(), 1)
    assert.strictEqual((await agent.send("PUT", path, { json: {} })).status, 200)
  }, 240_000)

  it("is ended in MCP too, with an error result", async () => {
    const { busy, locking, server, workspace } = await prepare()
    const team = teamKey()
    await workspace.post("teams", { key: team, name: "Team" })
    const { access_token } = await registerAgent(workspace)
    const client = new Client({ name: "test", version: "1.0.0" })
    cleanups.push(() => client.close())
    await client.connect(
      new StreamableHTTPClientTransport(new URL("/agent/mcp", server.baseUrl), {
        requestInit: { headers: { authorization: `Bearer ${access_token}` } }
      })
    )
    const create = () => client.callTool({ name: "create_ticket", arguments: { team, title: "Pay by card" } })
    await locking("tickets", async () => {
      const { content, isError } = await create()
      assert.isTrue(isError)
      assert.include(JSON.stringify(content), "Internal: The call took too long.")
      await eventually(busy, (sessions) => sessions.every(({ query }) => !/insert|update/.test(query)))
    })
    assert.notStrictEqual((await create()).isError, true)
    const { tickets } = await workspace.get<{ tickets: ReadonlyArray<Ticket> }>(`tickets?team=${team}`)
    assert.deepStrictEqual(
      tickets.map(({ identifier }) => identifier),
      [`${team}-1`]
    )
  }, 240_000)

  it("is ended in the middle of a transaction or of its commit: all of it happened or nothing", async () => {
    const { overdue, proxy, workspace } = await prepare()
    const team = teamKey()
    await workspace.post("teams", { key: team, name: "Team" })
    const acknowledged: Array<string> = []
    let failed = 0
    // From one in which all is done to one in which a few statements take longer than the limit.
    for (let delay = 0; delay <= 420; delay += 30) {
      proxy.slowDown(delay)
      const title = `Waits ${delay} ms`
      const answer = await workspace.send<Ticket>("POST", "tickets", { json: { team, title } })
      if (answer.status === 201) acknowledged.push(title)
      else {
        assertOverdue(answer)
        failed++
      }
    }
    proxy.slowDown(0)
    assert.isAbove(acknowledged.length, 0)
    assert.isAbove(failed, 0)
    assert.strictEqual(await overdue(), failed)
    const { tickets } = await workspace.get<{ tickets: ReadonlyArray<Ticket> }>(`tickets?team=${team}`)
    assert.includeMembers(
      tickets.map(({ title }) => title),
      acknowledged
    )
    assert.deepStrictEqual(
      tickets.map(({ number }) => number).toSorted((a, b) => a - b),
      tickets.map((_, index) => index + 1)
    )
    const { events } = await workspace.get<{ events: ReadonlyArray<{ kind: string; subject: { id: string } }> }>(
      "events"
    )
    assert.sameMembers(
      events.filter(({ kind }) => kind === "ticket_created").map(({ subject }) => subject.id),
      tickets.map(({ id }) => id)
    )
  }, 240_000)

  it("may wait for a lease, a message and its body for longer, and a file may be sent for longer", async () => {
    const { overdue, workspace } = await prepare()
    const run = await startRun(workspace)
    const asRun = workspace.as(run.semaphores.token)
    const take = (requestId: string) =>
      asRun.send<Lease>("POST", "semaphores/one/leases", { json: { capacity: 1, waitMs: 2 * limit, requestId } })
    assert.strictEqual((await take("first")).status, 201)
    const { access_token } = await registerAgent(workspace)

    /** Sends the body in five parts, two fifths of the limit apart. */
    const slowly = async (http: Http, method: string, path: string, type: string, body: string) => {
      const outgoing = http.open(method, path, { "content-type": type, "content-length": String(body.length) })
      const answer = answerOf(outgoing)
      for (let part = 0; part < 5; part++) {
        outgoing.write(body.slice((part * body.length) / 5, ((part + 1) * body.length) / 5))
        await sleep((2 * limit) / 5)
      }
      outgoing.end()
      return (await answer).status
    }
    const product = JSON.stringify({ slug: "slow", name: "Slow", type: "library" })
    const inbox = workspace.as(access_token)
    assert.deepStrictEqual(
      await Promise.all([
        take("second").then(({ status }) => status),
        inbox.send("GET", "/agent/v1/inbox?wait=2").then(({ status }) => status),
        slowly(workspace, "POST", "products", "application/json", product),
        slowly(workspace, "PUT", `test-runs/${run.number}/files/a.txt`, "text/plain", "x".repeat(1_000))
      ]),
      [202, 200, 201, 201]
    )
    assert.strictEqual(await overdue(), 0)
  }, 240_000)
})
