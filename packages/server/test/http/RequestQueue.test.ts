import { Layer } from "effect"
import { assert } from "vitest"
import { RequestLimits } from "../../src/http/RequestQueue.ts"
import {
  answerOf,
  type ErrorBody,
  eventually,
  finishRun,
  type Http,
  newDeployment,
  onServers,
  startRun,
  unique,
  withClockOnServers
} from "../support/Http.ts"
import { type Servers, servers } from "../support/Servers.ts"
import { scrape } from "../telemetry/Scrape.ts"

/** More requests than a server works on at once (docs/operations.md, Limits), with limits that tests can reach. */

const limited = (limits: RequestLimits): Servers =>
  servers.map(([name, server]) => [
    name,
    (environment) => Layer.provide(server({ ...environment, METRICS: "true" }), Layer.succeed(RequestLimits, limits))
  ])

/** Until so many requests are worked on, and so many wait for their turn. */
const untilBusy = ({ baseUrl }: Http, expected: { readonly working: number; readonly waiting: number }) =>
  eventually(
    async () => {
      const metrics = await scrape(baseUrl)
      const waiting = metrics.value("delivery_http_requests_waiting")!
      // The scrape itself is not counted.
      return { working: metrics.value("delivery_http_requests_in_flight")! - waiting - 1, waiting }
    },
    ({ waiting, working }) => working === expected.working && waiting === expected.waiting
  )

/** A request that is worked on until its body is there. */
const begin = (owner: Http) => {
  const body = JSON.stringify({ slug: unique("product"), name: "Shop", type: "library" })
  const outgoing = owner.open("POST", "products", {
    "content-type": "application/json",
    "content-length": String(body.length)
  })
  const answer = answerOf(outgoing)
  outgoing.write(body.slice(0, 10))
  return {
    finish: async () => {
      outgoing.end(body.slice(10))
      assert.strictEqual((await answer).status, 201)
    }
  }
}

const two = { atOnce: 2, waitMillis: 400, burstMillis: 60_000, overloadWaitMillis: 400, bodyMillis: 60_000 }

withClockOnServers(limited(two), "A server that works on two requests at once", (test) => {
  test("queues other requests, and rejects those that waited too long", async (owner, advance) => {
    const working = [begin(owner), begin(owner)]
    await untilBusy(owner, { working: 2, waiting: 0 })
    const late = owner.send<ErrorBody>("GET", "/v1/me")
    await untilBusy(owner, { working: 2, waiting: 1 })
    // Probes and uploads wait for nobody.
    assert.strictEqual((await owner.as(undefined).send("GET", "/health")).status, 200)
    const upload = await owner.send("PUT", "test-runs/1/files/a", { body: Buffer.alloc(10) })
    assert.strictEqual(upload.status, 404)
    advance(399)
    await untilBusy(owner, { working: 2, waiting: 1 })
    advance(101)
    const refused = await late
    assert.strictEqual(refused.status, 429)
    assert.strictEqual(refused.headers["retry-after"], "1")
    assert.strictEqual(refused.body._tag, "TooManyRequests")

    const inTime = [owner.get("/v1/me"), owner.get("products")]
    await untilBusy(owner, { working: 2, waiting: 2 })
    advance(100)
    for (const { finish } of working) await finish()
    await Promise.all(inTime)
  })

  test("lets nobody pass by the text of a URL", async (owner, advance) => {
    const working = [begin(owner), begin(owner)]
    await untilBusy(owner, { working: 2, waiting: 0 })
    const requests: ReadonlyArray<readonly [method: string, path: string]> = [
      ["POST", "/health"],
      ["POST", "/metrics"],
      ["GET", "/v1/me?/files/"],
      ["GET", "/v1/me?/health"],
      ["PUT", "/v1/workspaces/main/test-runs/1?/files/a"],
      ["PUT", "/agent/v1/sessions/s?/v1/workspaces/main/test-runs/1/files/a"]
    ]
    const late = requests.map(async ([method, path]) => (await owner.send(method, path)).status)
    await untilBusy(owner, { working: 2, waiting: late.length })
    assert.strictEqual((await owner.as(undefined).send("GET", "/health?x")).status, 200)
    advance(500)
    assert.deepStrictEqual(
      await Promise.all(late),
      requests.map(() => 429)
    )
    for (const { finish } of working) await finish()
  })

  test("gives no turn to a client that has gone", async (owner) => {
    for (let round = 0; round < 3; round++) {
      const working = [begin(owner), begin(owner)]
      await untilBusy(owner, { working: 2, waiting: 0 })
      const gone = owner.open("GET", "/v1/me")
      gone.on("error", () => {})
      gone.end()
      await untilBusy(owner, { working: 2, waiting: 1 })
      gone.destroy()
      await Promise.all(working.map(({ finish }) => finish()))
    }
    await Promise.all(Array.from({ length: 8 }, () => owner.get("/v1/me")))
  })
})

// A database has its own time for leases.
onServers(limited({ ...two, waitMillis: 60_000 }), "A server that works on two requests at once", (test) => {
  test("does not count requests that wait for a lease", async (owner) => {
    const workspace = await newDeployment(owner)
    const run = await startRun(workspace)
    const asRun = workspace.as(run.semaphores.token)
    const take = (waitMs: number) => asRun.send("POST", "semaphores/one/leases", { json: { capacity: 1, waitMs } })
    assert.strictEqual((await take(0)).status, 201)
    const waiting = [take(25_000), take(25_000), take(25_000)]
    await eventually(
      async () => (await scrape(owner.baseUrl)).value("delivery_semaphore_waiters"),
      (count) => count === 3
    )
    for (let i = 0; i < 5; i++) await workspace.get("products")
    // The end of the run ends their wait.
    await finishRun(workspace, run.number)
    assert.deepStrictEqual(
      (await Promise.all(waiting)).map(({ status }) => status),
      [409, 409, 409]
    )
    await Promise.all(Array.from({ length: 8 }, () => owner.get("/v1/me")))
  })
})

withClockOnServers(
  limited({ atOnce: 1, waitMillis: 60_000, burstMillis: 1_000, overloadWaitMillis: 200, bodyMillis: 60_000 }),
  "A server that has had too much to do for long",
  (test) => {
    test("has less patience than in a burst, until it has caught up", async (owner, advance) => {
      /** Time passes in the steps in which the server looks at its queue, while so many wait. */
      const pass = async (millis: number, expected: Parameters<typeof untilBusy>[1]) => {
        for (let passed = 0; passed < millis; passed += 100) {
          advance(100)
          await untilBusy(owner, expected)
        }
      }
      const idle = { working: 0, waiting: 0 }
      for (let round = 0; round < 2; round++) {
        const working = begin(owner)
        await untilBusy(owner, { working: 1, waiting: 0 })
        const burst = [owner.get("/v1/me"), owner.get("/v1/me")]
        await untilBusy(owner, { working: 1, waiting: 2 })
        await pass(600, { working: 1, waiting: 2 })
        await working.finish()
        await Promise.all(burst)
        await pass(300, idle)
      }
      const working = begin(owner)
      await untilBusy(owner, { working: 1, waiting: 0 })
      const waiting = Array.from({ length: 3 }, async () => (await owner.send("GET", "/v1/me")).status)
      await untilBusy(owner, { working: 1, waiting: 3 })
      await pass(500, { working: 1, waiting: 3 })
      // They have waited for longer than an overload allows, and are refused once it is one.
      advance(600)
      await untilBusy(owner, { working: 1, waiting: 0 })
      assert.deepStrictEqual(await Promise.all(waiting), [429, 429, 429])
      await working.finish()
      await pass(300, idle)
      const later = begin(owner)
      await untilBusy(owner, { working: 1, waiting: 0 })
      const patient = owner.get("/v1/me")
      await untilBusy(owner, { working: 1, waiting: 1 })
      await pass(600, { working: 1, waiting: 1 })
      await later.finish()
      await patient
    })
  }
)

const slow = { atOnce: 2, waitMillis: 60_000, burstMillis: 60_000, overloadWaitMillis: 60_000, bodyMillis: 300 }
onServers(limited(slow), "A server whose clients send slowly", (test) => {
  test("works for others meanwhile", async (owner) => {
    const working = Array.from({ length: 4 }, () => begin(owner))
    await owner.get("/v1/me")
    for (const { finish } of working) await finish()
    await Promise.all(Array.from({ length: 8 }, () => owner.get("/v1/me")))
  })
})
