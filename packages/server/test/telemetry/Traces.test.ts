import { Clock, Console, Layer, ManagedRuntime, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it, type TestContext } from "vitest"
import { DeliveryServer } from "../../src/testing/DeliveryServer.ts"
import { openDatabase, query } from "../support/Databases.ts"
import { standingClock } from "../../src/testing/StandingClock.ts"
import { eventually, http, type Http, unique } from "../support/Http.ts"
import { startServer } from "../support/ServerProcess.ts"
import { layerPostgresServer } from "../support/Servers.ts"
import { scrape } from "./Scrape.ts"
import { chainOf, type Collector, startCollector } from "./Collector.ts"

/** Servers as processes on PostgreSQL, and a collector that listens on a socket. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"

/** Each has a server, a database and a collector of its own, and waits for exports more than it works. */
describe("Traces", { concurrent: true }, () => {
  const collect = async ({ onTestFinished }: TestContext, port = 0): Promise<Collector> => {
    const collector = await startCollector(port)
    onTestFinished(collector.close)
    return collector
  }

  const start = async ({ onTestFinished }: TestContext, environment: Record<string, string> = {}) => {
    const dataDir = mkdtempSync(join(tmpdir(), "delivery-traces-"))
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
    const database = await openDatabase()
    onTestFinished(database.drop)
    const server = await startServer({
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      VAULT_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
      BOOTSTRAP_API_KEY: apiKey,
      ...environment
    })
    onTestFinished(async () => void (await server.end()))
    return { database, owner: http(server.baseUrl, apiKey, "main"), server }
  }
  const send = async (http: Http, method: string, path: string, json?: unknown, headers = {}) => {
    const id = randomUUID()
    const answer = await http.send(method, path, { json, headers: { "x-request-id": id, ...headers } })
    return { id, status: answer.status, headers: answer.headers }
  }

  for (const METRICS of ["false", "true"]) {
    it(`lead from a request to its service to its statements, with METRICS=${METRICS}`, async (context) => {
      const collector = await collect(context)
      const { owner } = await start(context, { OTLP_URL: collector.url, METRICS })
      const slug = unique("traced")
      const created = await send(owner, "POST", "products", { slug, name: "Traced", type: "library" })
      assert.strictEqual(created.status, 201)
      const spans = await collector.ofRequest(created.id)
      const request = spans.find(({ kind }) => kind === 2)
      assert.strictEqual(request!.name, "POST /v1/workspaces/:slug/products")
      assert.isUndefined(request!.parentSpanId)
      assert.deepStrictEqual(request!.attributes, {
        "http.request.method": "POST",
        "http.route": "/v1/workspaces/:slug/products",
        "http.response.status_code": 201,
        "http.response.header.x-request-id": created.id
      })
      assert.strictEqual(request!.status.code, 1)
      const statements = spans.filter((span) => span.attributes["db.query.text"] !== undefined)
      const insert = statements.find((span) => String(span.attributes["db.query.text"]).includes("into products"))!
      assert.deepStrictEqual(chainOf(spans, insert).slice(0, 2), [request!.name, "Products.create"])
      assert.strictEqual(insert.kind, 3)
      assert.match(String(insert.attributes["db.query.text"]), /\$1/)
      assert.strictEqual(insert.attributes["db.system.name"], "postgresql")
      for (const span of spans) {
        chainOf(spans, span)
        assert.isAtLeast(span.start, request!.start)
        assert.isAtMost(span.end, request!.end)
        assert.notInclude(JSON.stringify(span), slug)
      }
      assert.deepInclude(collector.resource(), { "service.name": "delivery", "service.version": "1.0.0" })
      assert.deepStrictEqual([...new Set(collector.requests().map(({ path }) => path))], ["/v1/traces"])
    })
  }

  it("continue the caller's trace, unless it is not sampled", async (context) => {
    const collector = await collect(context)
    const { owner } = await start(context, { OTLP_URL: collector.url })
    const trace = "0af7651916cd43dd8448eb211c80319c"
    const parent = "b7ad6b7169203331"
    const traced = await send(owner, "GET", "products", undefined, { traceparent: `00-${trace}-${parent}-01` })
    const spans = await collector.ofRequest(traced.id)
    const request = spans.find(({ kind }) => kind === 2)
    assert.deepStrictEqual([request!.traceId, request!.parentSpanId], [trace, parent])
    const other = "1bf7651916cd43dd8448eb211c80319c"
    await send(owner, "GET", "products", undefined, { traceparent: `00-${other}-${parent}-00` })
    const last = await send(owner, "GET", "products", undefined, { traceparent: "00-nonsense" })
    await collector.ofRequest(last.id)
    assert.deepStrictEqual(
      collector.spans().filter(({ traceId }) => traceId === other),
      []
    )
  })

  it("record how requests and services fail, without messages or input", async (context) => {
    const collector = await collect(context)
    const { owner } = await start(context, { OTLP_URL: collector.url })
    const missing = await send(owner, "GET", "products/none")
    assert.strictEqual(missing.status, 404)
    const spans = await collector.ofRequest(missing.id)
    const request = spans.find(({ kind }) => kind === 2)!
    assert.strictEqual(request.attributes["http.response.status_code"], 404)
    assert.strictEqual(request.status.code, 1)
    const service = spans.find(({ name }) => name === "Products.get")!
    assert.deepStrictEqual(service.status, { code: 2, message: "NotFound" })
    assert.deepStrictEqual(service.events[0], {
      ...service.events[0]!,
      name: "exception",
      attributes: { "exception.type": "NotFound" }
    })

    const unmatched = await send(owner, "GET", "/v1/nothing/secret-of-a-path?q=typed")
    const [alone] = await collector.ofRequest(unmatched.id)
    assert.strictEqual(alone!.name, "GET")
    assert.deepStrictEqual(Object.keys(alone!.attributes).toSorted(), [
      "http.request.method",
      "http.response.header.x-request-id",
      "http.response.status_code"
    ])
    assert.notMatch(collector.text(), /secret-of-a-path|typed|user-agent|user_agent|127\.0\.0\.1|main/)
  })

  it("omit probes, scrapes and background statements", async (context) => {
    const collector = await collect(context)
    const { database, owner, server } = await start(context, { OTLP_URL: collector.url, METRICS: "true" })
    for (const path of ["/health", "/ready", "/ready/", "/metrics", "/health?deep"]) {
      assert.strictEqual((await send(owner, "GET", path)).status, 200)
    }
    const last = await send(owner, "GET", "/v1/me")
    // The key's last use is written by a fiber.
    await eventually(
      () => query(database.url, "select 1 from api_keys where last_used_at is not null"),
      (rows) => rows.length > 0
    )
    await send(owner, "GET", "/health")
    await collector.ofRequest(last.id)
    const rounds = [
      "ApiKeys.expire",
      "Audit.erase",
      "CaseCounting.step",
      "DeploymentTokens.expire",
      "Mutes.sweep",
      "ReadAudit.forget",
      "RunErasure.step",
      "SignIns.eraseBlocks",
      "TestRuns.expire",
      "TestRuns.index",
      "Vault.erase",
      "Webhooks.erase"
    ]
    await eventually(
      async () => collector.spans().map(({ name }) => name),
      (names) => rounds.every((name) => names.includes(name))
    )
    await server.end("SIGTERM")
    const spans = collector.spans()
    assert.deepStrictEqual(
      spans.filter(({ kind }) => kind === 2).map(({ name }) => name),
      ["GET /v1/me"]
    )
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ name }) => name)
    assert.includeMembers(["GET /v1/me", ...rounds], roots)
    assert.notInclude(collector.text(), "last_used_at = ")
  })

  it("are all exported before a stopping server exits", async (context) => {
    const collector = await collect(context)
    const { owner, server } = await start(context, { OTLP_URL: collector.url })
    const sent = await Promise.all(Array.from({ length: 30 }, () => send(owner, "GET", "products")))
    assert.oneOf(await server.end("SIGTERM"), [0, 130, 143])
    for (const { id } of sent) {
      const spans = collector.spans().filter((span) => span.attributes["http.response.header.x-request-id"] === id)
      assert.lengthOf(spans, 1)
    }
  })

  it("go to a collector with a password and a path of its own", async (context) => {
    const collector = await collect(context)
    const { owner } = await start(context, { OTLP_URL: collector.url.replace("//", "//me:s%3Acret@") + "/otlp/" })
    const { id } = await send(owner, "GET", "/v1/me")
    await collector.ofRequest(id)
    const [first] = collector.requests()
    assert.strictEqual(first!.path, "/otlp/v1/traces")
    assert.strictEqual(first!.headers.authorization, `Basic ${Buffer.from("me:s:cret").toString("base64")}`)
  })

  const closedPort = async (): Promise<number> => {
    const socket = createServer()
    await new Promise<void>((resolve) => socket.listen(0, "127.0.0.1", resolve))
    const { port } = socket.address() as { port: number }
    await new Promise((resolve) => socket.close(resolve))
    return port
  }

  for (const kind of ["that is not there", "that never answers", "that refuses"] as const) {
    it(`cost no request where the collector is one ${kind}, and the log tells it once`, async (context) => {
      const port = await closedPort()
      if (kind !== "that is not there") {
        const collector = await collect(context, port)
        collector.answer(kind === "that refuses" ? 401 : 0)
      }
      // No time passes: a request that waited until an export is given up would wait for ever, and no second warning is due.
      const { clock } = standingClock()
      const lines: Array<string> = []
      const console: Console.Console = { ...globalThis.console, log: (line: string) => void lines.push(line) }
      const layer = layerPostgresServer({
        OTLP_URL: `http://me:hidden-password@127.0.0.1:${port}`,
        METRICS: "true",
        LOG_LEVEL: "warn",
        LOG_FORMAT: "json"
      }).pipe(Layer.provide([Layer.succeed(Clock.Clock, clock), Layer.succeed(Console.Console, console)]))
      const runtime = ManagedRuntime.make(layer)
      context.onTestFinished(() => runtime.dispose())
      const { apiKey, baseUrl } = await runtime.runPromise(DeliveryServer)
      const owner = http(baseUrl, Redacted.value(apiKey), "main")
      // Some 3,000 spans: more than the batches that may be on their way.
      for (let round = 0; round < 30; round++) {
        const answers = await Promise.all(Array.from({ length: 32 }, () => send(owner, "GET", "products")))
        for (const { status } of answers) assert.strictEqual(status, 200)
      }
      await eventually(
        async () => (await scrape(baseUrl)).value("delivery_background_failures_total", { task: "traces" })!,
        (count) => count > 0
      )
      assert.strictEqual((await send(owner, "GET", "products")).status, 200)
      const warnings = lines.filter((line) => line.includes("OTLP_URL"))
      assert.lengthOf(warnings, 1, lines.join("\n"))
      assert.notInclude(lines.join("\n"), "hidden-password")
    })
  }

  it("keep no server from ending where the collector never answers", async (context) => {
    const collector = await collect(context)
    collector.answer(0)
    const { owner, server } = await start(context, { OTLP_URL: collector.url })
    assert.strictEqual((await send(owner, "GET", "products")).status, 200)
    await eventually(
      async () => collector.requests().length,
      (count) => count > 0
    )
    assert.oneOf(await server.end("SIGTERM"), [0, 130, 143])
  })
})
