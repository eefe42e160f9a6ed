import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { http, type Http, unique } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"
import { chainOf, type Collector, startCollector } from "./Collector.ts"

/** Servers as processes on PostgreSQL, and a collector that listens on a socket. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"

describe("Traces", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "delivery-traces-"))
  let collector: Collector
  let server: ServerProcess | undefined
  let database: Awaited<ReturnType<typeof openDatabase>>

  beforeAll(async () => {
    database = await openDatabase()
  })
  afterEach(async () => {
    await server?.end()
    server = undefined
    await collector?.close()
  })
  afterAll(async () => {
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const start = async (environment: Record<string, string> = {}): Promise<Http> => {
    server = await startServer({
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      VAULT_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
      BOOTSTRAP_API_KEY: apiKey,
      ...environment
    })
    return http(server.baseUrl, apiKey, "main")
  }
  const send = async (http: Http, method: string, path: string, json?: unknown, headers = {}) => {
    const id = randomUUID()
    const answer = await http.send(method, path, { json, headers: { "x-request-id": id, ...headers } })
    return { id, status: answer.status, headers: answer.headers }
  }

  for (const METRICS of ["false", "true"]) {
    it(`lead from a request to its service to its statements, with METRICS=${METRICS}`, async () => {
      collector = await startCollector()
      const owner = await start({ OTLP_URL: collector.url, METRICS })
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

  it("continue the trace of who calls, and keep out of it where it is not sampled", async () => {
    collector = await startCollector()
    const owner = await start({ OTLP_URL: collector.url })
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

  it("tell how requests and services fail, without a message or what was sent", async () => {
    collector = await startCollector()
    const owner = await start({ OTLP_URL: collector.url })
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

  it("leave out probes, scrapes and what fibers ask the database", async () => {
    collector = await startCollector()
    const owner = await start({ OTLP_URL: collector.url, METRICS: "true" })
    for (const path of ["/health", "/ready", "/ready/", "/metrics", "/health?deep"]) {
      assert.strictEqual((await send(owner, "GET", path)).status, 200)
    }
    // The key's last use is written by a fiber, within a second.
    const last = await send(owner, "GET", "/v1/me")
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    await send(owner, "GET", "/health")
    await collector.ofRequest(last.id)
    await server!.end("SIGTERM")
    server = undefined
    const spans = collector.spans()
    assert.deepStrictEqual(
      spans.filter(({ kind }) => kind === 2).map(({ name }) => name),
      ["GET /v1/me"]
    )
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ name }) => name)
    assert.includeMembers(["GET /v1/me", "TestRuns.expire", "TestRuns.index", "Vault.erase"], roots)
    assert.notInclude(collector.text(), "last_used_at = ")
  })

  it("are all sent before a server that was told to stop has ended", async () => {
    collector = await startCollector()
    const owner = await start({ OTLP_URL: collector.url })
    const sent = await Promise.all(Array.from({ length: 30 }, () => send(owner, "GET", "products")))
    const stopped = Date.now()
    assert.oneOf(await server!.end("SIGTERM"), [0, 130, 143])
    assert.isBelow(Date.now() - stopped, 5_000)
    server = undefined
    for (const { id } of sent) {
      const spans = collector.spans().filter((span) => span.attributes["http.response.header.x-request-id"] === id)
      assert.lengthOf(spans, 1)
    }
  })

  it("go to a collector that wants a password and has a path of its own", async () => {
    collector = await startCollector()
    const owner = await start({ OTLP_URL: collector.url.replace("//", "//me:s%3Acret@") + "/otlp/" })
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
    it(`cost no request where the collector is one ${kind}, and the log tells it once`, async () => {
      const port = await closedPort()
      if (kind !== "that is not there") {
        collector = await startCollector(port)
        collector.answer(kind === "that refuses" ? 401 : 0)
      }
      const owner = await start({
        OTLP_URL: `http://me:hidden-password@127.0.0.1:${port}`,
        METRICS: "true",
        LOG_LEVEL: "warn"
      })
      const before = Date.now()
      // Some 3,000 spans: more than the batches that may be on their way.
      for (let round = 0; round < 30; round++) {
        const answers = await Promise.all(Array.from({ length: 32 }, () => send(owner, "GET", "products")))
        for (const { status } of answers) assert.strictEqual(status, 200)
      }
      assert.isBelow(Date.now() - before, 20_000)
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      assert.strictEqual((await send(owner, "GET", "products")).status, 200)
      const warnings = server!
        .output()
        .split("\n")
        .filter((line) => line.includes("OTLP_URL"))
      assert.lengthOf(warnings, 1, server!.output())
      assert.notInclude(server!.output(), "hidden-password")
      const metrics = await fetch(`${server!.baseUrl}/metrics`).then((response) => response.text())
      assert.match(metrics, /delivery_background_failures_total\{task="traces"\} [1-9]/)
      const stopped = Date.now()
      assert.oneOf(await server!.end("SIGTERM"), [0, 130, 143])
      assert.isBelow(Date.now() - stopped, 5_000)
      server = undefined
    })
  }
})
