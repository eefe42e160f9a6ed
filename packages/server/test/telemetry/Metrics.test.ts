import { DeliveryApi } from "@delivery/domain/Api"
import type { Lease, QueuedLease } from "@delivery/domain/runs/Semaphore"
import { PgClient } from "@effect/sql-pg"
import { it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { assert, describe } from "vitest"
import { endpointOf } from "../../src/http/Endpoints.ts"
import { makeDatabase } from "../support/Databases.ts"
import {
  attempt,
  eventually,
  finishRun,
  http,
  newDeployment,
  newWorkspace,
  onEachServer,
  report,
  runOf,
  startRun,
  unique,
  withClockOnEachServer
} from "../support/Http.ts"
import { startServer } from "../support/ServerProcess.ts"
import { scrape } from "./Scrape.ts"

const requests = "delivery_http_requests_total"
const times = "delivery_http_request_duration_seconds_count"

onEachServer(
  "Metrics",
  (test, server) => {
    test("count requests by endpoint and status, not by path", async (owner) => {
      const workspace = await newWorkspace(owner)
      const before = await scrape(owner.baseUrl)
      const slugs = [unique("product"), unique("product")]
      for (const slug of slugs) await workspace.post("products", { slug, name: "P", type: "library" })
      for (const slug of slugs) await workspace.get(`products/${slug}`)
      await workspace.refuse("404 product", "GET", "products/none")
      await workspace.refuse("409 slug_in_use", "POST", "products", { slug: slugs[0], name: "P", type: "library" })
      await workspace.refuse("400 slug", "POST", "products", { slug: "No Slug", name: "P", type: "library" })
      await workspace.as("nonsense").refuse("401", "POST", "products", {})
      await workspace.refuse("404", "GET", "nothing/there")
      await workspace.refuse("404", "DELETE", "/health")
      for (const path of ["/openapi.json", "/docs", "/sign-in"]) await fetch(`${owner.baseUrl}${path}`)
      for (const method of ["GET", "POST", "DELETE"]) await fetch(`${owner.baseUrl}/agent/mcp`, { method })
      const after = await scrape(owner.baseUrl)

      const rise = (endpoint: string, status: string) =>
        after.value(requests, { endpoint, status })! - (before.value(requests, { endpoint, status }) ?? 0)
      assert.deepStrictEqual(
        {
          created: rise("products.create", "201"),
          conflict: rise("products.create", "409"),
          bad: rise("products.create", "400"),
          unauthorized: rise("products.create", "401"),
          read: rise("products.get", "200"),
          missing: rise("products.get", "404"),
          unmatched: rise("unmatched", "404"),
          docs: rise("system.docs", "200"),
          openapi: rise("system.openapi", "200"),
          page: rise("auth.page", "200"),
          mcp: rise("agents.mcp", "401"),
          scrapes: rise("system.metrics", "200")
        },
        {
          created: 2,
          conflict: 1,
          bad: 1,
          unauthorized: 1,
          read: 2,
          missing: 1,
          unmatched: 2,
          docs: 1,
          openapi: 1,
          page: 1,
          mcp: 3,
          scrapes: 1
        }
      )
      assert.strictEqual(
        after.value(times, { endpoint: "products.create" })! -
          (before.value(times, { endpoint: "products.create" }) ?? 0),
        5
      )
      // The scrape itself.
      assert.strictEqual(after.value("delivery_http_requests_in_flight"), 1)
      assert.notInclude(after.text, slugs[0]!)
    })

    test("need no key and are no part of the API's description", async (owner) => {
      const description = await owner.get<{ paths: Record<string, unknown> }>("/openapi.json")
      assert.notProperty(description.paths, "/metrics")
      assert.strictEqual((await owner.as("nonsense").send("GET", "/metrics")).status, 200)
      assert.strictEqual((await owner.send("POST", "/metrics")).status, 404)
      assert.strictEqual((await owner.send("GET", "/metrics?x")).status, 200)
      for (const path of [
        "/metrics/",
        "//metrics",
        "/metrics//",
        "/%6detrics",
        "/metrics%2F",
        "/metrics;",
        "/Metrics"
      ]) {
        await owner.refuse("404", "GET", path)
      }
    })

    test("count a request that its client gave up as 499", async (owner) => {
      const workspace = await newDeployment(owner)
      const run = await startRun(workspace)
      const asRun = workspace.as(run.semaphores.token)
      const path = "semaphores/given-up/leases"
      assert.strictEqual((await asRun.send("POST", path, { json: { capacity: 1 } })).status, 201)
      const before = (await scrape(owner.baseUrl)).value(requests, { endpoint: "leases.take", status: "499" }) ?? 0
      const body = JSON.stringify({ capacity: 1, waitMs: 20_000 })
      const waiting = asRun.open("POST", path, {
        "content-type": "application/json",
        "content-length": String(body.length)
      })
      waiting.on("error", () => {})
      waiting.end(body)
      await eventually(
        () => scrape(owner.baseUrl),
        (now) => now.value("delivery_semaphore_waiters") === 1
      )
      waiting.destroy()
      await eventually(
        () => scrape(owner.baseUrl),
        (now) => now.value(requests, { endpoint: "leases.take", status: "499" }) === before + 1
      )
    })

    test("report leases, queues and waiting calls", async (owner) => {
      const workspace = await newDeployment(owner)
      const run = await startRun(workspace)
      const asRun = workspace.as(run.semaphores.token)
      const name = unique("semaphore")
      const path = `semaphores/${name}/leases`
      const before = await scrape(owner.baseUrl)
      const lease = (await asRun.send<Lease>("POST", path, { json: { capacity: 1 } })).body
      const waiting = asRun.send<Lease>("POST", path, { json: { capacity: 1, waitMs: 20_000, requestId: "one" } })
      const polled = await asRun.send<QueuedLease>("POST", path, { json: { capacity: 1, requestId: "two" } })
      assert.strictEqual(polled.status, 202)
      const during = await eventually(
        () => scrape(owner.baseUrl),
        (now) => now.value("delivery_semaphore_waiters") === 1
      )
      const rise = (now: typeof before, name: string, labels = {}) =>
        now.value(name, labels)! - before.value(name, labels)!
      assert.strictEqual(rise(during, "delivery_semaphore_leases", { state: "held" }), 1)
      assert.strictEqual(rise(during, "delivery_semaphore_leases", { state: "queued" }), 2)
      assert.strictEqual(rise(during, "delivery_semaphore_leases_granted_total"), 1)

      assert.strictEqual((await asRun.send("DELETE", `${path}/${lease.lease}`)).status, 204)
      assert.strictEqual((await waiting).status, 201)
      const after = await scrape(owner.baseUrl)
      assert.strictEqual(rise(after, "delivery_semaphore_leases_granted_total"), 2)
      assert.strictEqual(rise(after, "delivery_semaphore_leases_released_total"), 1)
      assert.strictEqual(after.value("delivery_semaphore_waiters"), 0)
      assert.strictEqual(rise(after, "delivery_semaphore_leases", { state: "queued" }), 1)
    })

    test("count a call once that waits for the place of an earlier one", async (owner) => {
      const workspace = await newDeployment(owner)
      const asRun = workspace.as((await startRun(workspace)).semaphores.token)
      const path = `semaphores/${unique("semaphore")}/leases`
      const lease = (await asRun.send<Lease>("POST", path, { json: { capacity: 1 } })).body
      const request = { capacity: 1, requestId: "again" }
      const { lease: place } = (await asRun.send<QueuedLease>("POST", path, { json: request })).body
      const waiting = Array.from({ length: 3 }, () =>
        asRun.send<Lease>("POST", path, { json: { ...request, waitMs: 30_000 } })
      )
      const waiters = async () => (await scrape(owner.baseUrl)).value("delivery_semaphore_waiters")!
      await eventually(waiters, (count) => count >= waiting.length)
      // By the answers of later polls, those before have been told of the place.
      for (let i = 0; i < 10; i++) {
        assert.strictEqual((await asRun.send("POST", path, { json: request })).status, 202)
        assert.strictEqual(await waiters(), waiting.length)
      }
      assert.strictEqual((await asRun.send("DELETE", `${path}/${lease.lease}`)).status, 204)
      const answers = await Promise.all(waiting)
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 201])
      for (const { body } of answers) assert.strictEqual(body.lease, place)
      assert.strictEqual(await waiters(), 0)
    })

    test("count the bytes of files that were stored, and show uploads while they run", async (owner) => {
      const workspace = await newDeployment(owner)
      const { number } = await startRun(workspace)
      const before = (await scrape(owner.baseUrl)).value("delivery_uploaded_bytes_total")!
      const bytes = Buffer.alloc(100_000, "x")
      const path = `test-runs/${number}/files/logs/a.txt`
      const upload = workspace.open("PUT", path, { "content-length": String(bytes.length) })
      const answered = new Promise<number | undefined>((resolve, reject) => {
        upload.on("error", reject)
        upload.on("response", (response) => {
          response.resume()
          resolve(response.statusCode)
        })
      })
      upload.write(bytes.subarray(0, 10))
      const during = await eventually(
        () => scrape(owner.baseUrl),
        (now) => now.value("delivery_uploads_running") === 1
      )
      assert.strictEqual(during.value("delivery_uploaded_bytes_total"), before)
      upload.end(bytes.subarray(10))
      assert.strictEqual(await answered, 201)
      const after = await scrape(owner.baseUrl)
      assert.strictEqual(after.value("delivery_uploaded_bytes_total"), before + bytes.length)
      assert.strictEqual(after.value("delivery_uploads_running"), 0)
      assert.strictEqual(after.value(requests, { endpoint: "testRuns.upload", status: "201" }), 1)
    })

    test("report the process's memory, CPU and event loop", async (owner) => {
      const first = await scrape(owner.baseUrl)
      const { value } = await eventually(
        () => {
          // The server runs in this process: nobody else gets a turn. Its monitor counts delays after its first sample, so
          // the first time may not count.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
          return scrape(owner.baseUrl)
        },
        ({ value }) => value("nodejs_eventloop_lag_max_seconds")! > 0.2
      )
      assert.isAbove(value("process_resident_memory_bytes")!, 50_000_000)
      assert.isAbove(value("nodejs_heap_size_total_bytes")!, value("nodejs_heap_size_used_bytes")!)
      assert.isAbove(value("process_cpu_seconds_total")!, first.value("process_cpu_seconds_total")!)
      assert.closeTo(value("process_start_time_seconds")!, performance.timeOrigin / 1000, 1)
      const [p50, max] = ["p50", "max"].map((of) => value(`nodejs_eventloop_lag_${of}_seconds`)!)
      assert.isAtMost(p50!, max!)
      assert.strictEqual(value("delivery_build_info", { version: "1.0.0", node: process.version }), 1)
      assert.strictEqual(value("delivery_background_failures_total", { task: "run_expiry" }), 0)
      if (server !== "memory") assert.isAbove(value("delivery_database_statement_seconds_count")!, 0)
    })
  },
  { METRICS: "true" }
)

withClockOnEachServer(
  "Metrics",
  (test) => {
    test("count runs and retries that were ended as overdue", async (owner, advance) => {
      const workspace = await newDeployment(owner)
      await startRun(workspace)
      await startRun(workspace)
      const failed = await startRun(workspace)
      await finishRun(workspace, failed.number, { tests: [report("a", { attempt: attempt("failed") })] })
      const { git, machine } = runOf()
      await workspace.post(`test-runs/${failed.number}/retries`, { passes: 1, baseUrl: null, git, machine })
      advance("7 hours")
      const expired = "delivery_test_runs_expired_total"
      const after = await eventually(
        () => scrape(owner.baseUrl),
        (now) => now.value(expired, { kind: "retry" }) === 1
      )
      assert.strictEqual(after.value(expired, { kind: "run" }), 2)
    })
  },
  { METRICS: "true" }
)

onEachServer("Without METRICS, a server", (test) => {
  test("has no metrics", (owner) => owner.refuse("404", "GET", "/metrics"))
})

describe("Metrics of the database", () => {
  it.live("show calls that wait for a connection, and omit what the database does not report", () =>
    Effect.gen(function* () {
      const { url } = yield* makeDatabase
      const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
      const server = yield* Effect.acquireRelease(
        Effect.promise(() =>
          startServer({
            METRICS: "true",
            DATABASE_URL: url,
            DATABASE_POOL: "2",
            BOOTSTRAP_API_KEY: apiKey,
            VAULT_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
            LOG_LEVEL: "error"
          })
        ),
        (server) => Effect.promise(() => server.end())
      )
      const owner = http(server.baseUrl, apiKey, "main")
      const idle = yield* Effect.promise(() =>
        eventually(
          () => scrape(server.baseUrl),
          // The first start makes a link after the server is ready.
          (now) =>
            now.value("delivery_database_statements_running") === 0 && now.value("delivery_database_waiting") === 0
        )
      )
      assert.strictEqual(idle.value("delivery_database_pool_size"), 2)

      const blocked = yield* Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        return yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`lock table products in access exclusive mode`
            const calls = Array.from({ length: 20 }, () => owner.send("GET", "products"))
            // Two connections of two statements each; what the sixteen others ask waits, be it together with others,
            // and so does the scrape's question.
            const during = yield* Effect.promise(() =>
              eventually(
                () => scrape(server.baseUrl),
                (now) =>
                  now.value("delivery_database_waiting")! >= 2 &&
                  now.value("delivery_database_statements_running") === 4 &&
                  // A scrape that began before the calls may still have had its answer.
                  now.value("delivery_semaphore_leases", { state: "held" }) === undefined
              )
            )
            return { calls, during }
          })
        )
      }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })))
      assert.isUndefined(blocked.during.value("delivery_semaphore_leases", { state: "held" }))
      const answers = yield* Effect.promise(() => Promise.all(blocked.calls))
      assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])

      const after = yield* Effect.promise(() =>
        eventually(
          () => scrape(server.baseUrl),
          (now) =>
            now.value("delivery_database_waiting") === 0 && now.value("delivery_database_statements_running") === 0
        )
      )
      assert.strictEqual(after.value("delivery_semaphore_leases", { state: "held" }), 0)
      assert.strictEqual(after.value("delivery_database_transactions_running"), 0)
      const wait = "delivery_database_wait_seconds"
      const long = after.value(`${wait}_count`)! - after.value(`${wait}_bucket`, { le: "0.1" })!
      assert.isAtLeast(long, 2)
    })
  )
})

describe("Endpoints", () => {
  it("are found by the method and path of a request", () => {
    let count = 0
    HttpApi.reflect(DeliveryApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, group }) => {
        const { identifier, method, path } = endpoint as HttpApiEndpoint.Top
        const url = path.replaceAll(/:[a-zA-Z]+/g, "some%20name-1")
        assert.strictEqual(endpointOf(method, url).name, `${group.identifier}.${identifier}`, `${method} ${path}`)
        assert.strictEqual(endpointOf(method, `${url}/?q=a/b`).name, `${group.identifier}.${identifier}`)
        count++
      }
    })
    assert.isAbove(count, 50)
    const file = "/v1/workspaces/main/test-runs/7/files/logs/a/b.txt"
    assert.strictEqual(endpointOf("HEAD", file).name, "testRuns.download")
    assert.strictEqual(endpointOf("PUT", file).name, "testRuns.upload")
    assert.strictEqual(endpointOf("GET", "/?x").name, "auth.page")
    for (const [method, url] of [
      ["POST", "/"],
      ["PATCH", "/health"],
      ["GET", "/v1/workspaces/main/nothing"],
      ["POST", "*"],
      ["BREW", "/health"],
      ["GET", "/%"],
      ["POST", ""]
    ] as const) {
      assert.strictEqual(endpointOf(method, url).name, "unmatched", `${method} ${url}`)
    }
  })
})
