import { Layer } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { assert } from "vitest"
import { RequestLimits } from "../../src/http/RequestQueue.ts"
import { answerOf, type ErrorBody, type Http, newDeployment, onServers, startRun, unique } from "../support/Http.ts"
import { type Servers, servers } from "../support/Servers.ts"

/** More requests than a server works on at once (docs/operations.md, Limits), with limits that tests can reach. */

const limited = (limits: RequestLimits): Servers =>
  servers.map(([name, server]) => [
    name,
    (environment) => Layer.provide(server(environment), Layer.succeed(RequestLimits, limits))
  ])

/** A request that is worked on until its body is there. */
const begin = async (owner: Http) => {
  const body = JSON.stringify({ slug: unique("product"), name: "Shop", type: "library" })
  const outgoing = owner.open("POST", "products", {
    "content-type": "application/json",
    "content-length": String(body.length)
  })
  const answer = answerOf(outgoing)
  outgoing.write(body.slice(0, 10))
  await sleep(100)
  return {
    finish: async () => {
      outgoing.end(body.slice(10))
      assert.strictEqual((await answer).status, 201)
    }
  }
}

onServers(
  limited({ atOnce: 2, waitMillis: 400, burstMillis: 60_000, overloadWaitMillis: 400, bodyMillis: 60_000 }),
  "A server that works on two requests at once",
  (test) => {
    test("lets others wait for their turn, and refuses who waited too long", async (owner) => {
      const working = [await begin(owner), await begin(owner)]
      const late = owner.send<ErrorBody>("GET", "/v1/me")
      // Probes and uploads wait for nobody.
      assert.strictEqual((await owner.as(undefined).send("GET", "/health")).status, 200)
      const upload = await owner.send("PUT", "test-runs/1/files/a", { body: Buffer.alloc(10) })
      assert.strictEqual(upload.status, 404)
      const refused = await late
      assert.strictEqual(refused.status, 429)
      assert.strictEqual(refused.headers["retry-after"], "1")
      assert.strictEqual(refused.body._tag, "TooManyRequests")

      const inTime = [owner.get("/v1/me"), owner.get("products")]
      await sleep(100)
      for (const { finish } of working) await finish()
      await Promise.all(inTime)
    })

    test("gives no turn to a client that has gone", async (owner) => {
      for (let round = 0; round < 3; round++) {
        const working = [await begin(owner), await begin(owner)]
        const gone = owner.open("GET", "/v1/me")
        gone.on("error", () => {})
        gone.end()
        await sleep(50)
        gone.destroy()
        await Promise.all(working.map(({ finish }) => finish()))
      }
      await Promise.all(Array.from({ length: 8 }, () => owner.get("/v1/me")))
    })

    test("does not count who waits for a lease", async (owner) => {
      const workspace = await newDeployment(owner)
      const asRun = workspace.as((await startRun(workspace)).semaphores.token)
      const take = (waitMs: number) => asRun.send("POST", "semaphores/one/leases", { json: { capacity: 1, waitMs } })
      assert.strictEqual((await take(0)).status, 201)
      const waiting = [take(1_500), take(1_500), take(1_500)]
      await sleep(200)
      for (let i = 0; i < 5; i++) await workspace.get("products")
      assert.deepStrictEqual(
        (await Promise.all(waiting)).map(({ status }) => status),
        [409, 409, 409]
      )
      await Promise.all(Array.from({ length: 8 }, () => owner.get("/v1/me")))
    })
  }
)

onServers(
  limited({ atOnce: 1, waitMillis: 60_000, burstMillis: 1_000, overloadWaitMillis: 200, bodyMillis: 60_000 }),
  "A server that has had too much to do for long",
  (test) => {
    test("has less patience than in a burst, until it has caught up", async (owner) => {
      for (let round = 0; round < 2; round++) {
        const working = await begin(owner)
        const burst = [owner.get("/v1/me"), owner.get("/v1/me")]
        await sleep(600)
        await working.finish()
        await Promise.all(burst)
        await sleep(300)
      }
      const working = await begin(owner)
      const statuses: Array<number> = []
      const waiting = Array.from({ length: 3 }, async () => statuses.push((await owner.send("GET", "/v1/me")).status))
      await sleep(500)
      assert.deepStrictEqual(statuses, [])
      await Promise.all(waiting)
      assert.deepStrictEqual(statuses, [429, 429, 429])
      await working.finish()
      await sleep(300)
      const later = await begin(owner)
      const patient = owner.get("/v1/me")
      await sleep(600)
      await later.finish()
      await patient
    })
  }
)

const slow = { atOnce: 2, waitMillis: 2_000, burstMillis: 60_000, overloadWaitMillis: 2_000, bodyMillis: 300 }
onServers(limited(slow), "A server whose clients send slowly", (test) => {
  test("works for others meanwhile", async (owner) => {
    const working = await Promise.all(Array.from({ length: 4 }, () => begin(owner)))
    await owner.get("/v1/me")
    for (const { finish } of working) await finish()
    await Promise.all(Array.from({ length: 8 }, () => owner.get("/v1/me")))
  })
})
