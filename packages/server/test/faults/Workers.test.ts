import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import {
  answerOf,
  type ErrorBody,
  eventually,
  http,
  newDeployment,
  refusal,
  registerAgent,
  startRun
} from "../support/Http.ts"
import { startServer } from "../support/ServerProcess.ts"
import { scrape, total } from "../telemetry/Scrape.ts"
import { apiKey, isRunning, product, productsOf, useWorkers } from "../workers/Scene.ts"

/** Servers of several processes on a real PostgreSQL, killed and stopped under load. */

describe("Workers", () => {
  const { cleanups, client, newEnvironment, start } = useWorkers()

  it("lose only their own requests to kill -9, and are replaced", async () => {
    const { owner, processes, server } = await start(3, { METRICS: "true" })
    const before = processes()
    const clients = Array.from({ length: 24 }, () => client(server))
    const acknowledged: Array<string> = []
    const failures: Array<number> = []
    let isOver = false
    const work = clients.map(async (one, index) => {
      for (let count = 0; !isOver; count++) {
        const slug = `p-${index}-${count}`
        const status = await one.send("POST", "/v1/workspaces/main/products", product(slug)).catch(() => 0)
        if (status === 0) failures.push(index)
        else {
          assert.strictEqual(status, 201)
          acknowledged.push(slug)
        }
        // Leaves the machine room to start another.
        await sleep(10)
      }
    })
    const acknowledge = (count: number) =>
      eventually(
        async () => acknowledged.length,
        (now) => now >= count
      )
    await acknowledge(100)
    process.kill(before.get(2)!, "SIGKILL")
    const after = await eventually(
      async () => [...processes()],
      () => processes().get(2) !== before.get(2)
    )
    await acknowledge(acknowledged.length + 50)
    isOver = true
    await Promise.all(work)

    // A client lost one request, where its connection was the worker's.
    assert.strictEqual(new Set(failures).size, failures.length)
    assert.isAtLeast(failures.length, 1)
    assert.isBelow(failures.length, clients.length)
    const stored = (await productsOf(owner)).filter((slug) => slug.startsWith("p-"))
    assert.includeMembers([...stored], acknowledged)
    assert.isAtMost(stored.length - acknowledged.length, failures.length)
    assert.deepStrictEqual([new Map(after).get(1), new Map(after).get(3)], [before.get(1), before.get(3)])
    assert.match(server.output(), /Worker 2 \(process \d+\) exited on SIGKILL; it restarts in 0\.1 s\./)
    const now = await scrape(server.baseUrl)
    assert.strictEqual(now.value("delivery_worker_restarts_total", { worker: "2" }), 1)
    assert.strictEqual(now.value("delivery_worker_restarts_total", { worker: "1" }), 0)
    assert.strictEqual(now.value("delivery_worker_up", { worker: "2" }), 1)
    // The new one serves.
    const health = { worker: "2", endpoint: "system.health", status: "200" }
    await eventually(
      async () => {
        await client(server).send("GET", "/health")
        return (await scrape(server.baseUrl)).value("delivery_http_requests_total", health) ?? 0
      },
      (count) => count > 0
    )
  })

  it("pass on connections that a killed worker had not accepted", async () => {
    const { processes, server } = await start(2)
    const silent = processes().get(2)!
    process.kill(silent, "SIGSTOP")
    const statuses: Array<number> = []
    const requests = Array.from({ length: 8 }, async () => statuses.push(await client(server).send("GET", "/health")))
    // All but the one that waits for the silent worker.
    await eventually(
      async () => statuses.length,
      (count) => count === 7
    )
    process.kill(silent, "SIGKILL")
    await Promise.all(requests)
    assert.deepStrictEqual(new Set(statuses), new Set([200]))
  })

  it("are replaced without losing a request when one receives SIGTERM", async () => {
    const { processes, server } = await start(3)
    const before = processes().get(3)!
    const clients = Array.from({ length: 24 }, () => client(server))
    let isOver = false
    let answers = 0
    const work = clients.map(async (one) => {
      while (!isOver) {
        assert.strictEqual(await one.send("GET", "/v1/me"), 200)
        answers++
        // Leaves the machine room to start another.
        await sleep(10)
      }
    })
    const answer = (count: number) =>
      eventually(
        async () => answers,
        (now) => now >= count
      )
    await answer(100)
    process.kill(before, "SIGTERM")
    const replaced = eventually(
      async () => [...processes()],
      () => processes().get(3) !== before
    ).then(() => answer(answers + 100))
    await Promise.race([replaced, Promise.all(work)])
    isOver = true
    await Promise.all(work)
    await replaced
    assert.match(server.output(), /Worker 3 \(process \d+\) exited with code 0/)
  })

  it("are started again ever more slowly while they keep ending, and the others serve", async () => {
    const { processes, server } = await start(2, { LOG_LEVEL: "info" })
    for (let kill = 0; kill < 3; kill++) {
      const pid = processes().get(2)!
      process.kill(pid, "SIGKILL")
      await eventually(
        async () => [...processes()],
        () => processes().get(2) !== pid
      )
      assert.strictEqual(await client(server).send("GET", "/ready"), 200)
    }
    assert.deepStrictEqual(
      [...server.output().matchAll(/it restarts in ([\d.]+) s/g)].map(([, pause]) => pause),
      ["0.1", "0.2", "0.4"]
    )
  })

  it("go with their supervisor when that is killed", async () => {
    const { processes, server } = await start(2)
    const pids = [...processes().values()]
    assert.isTrue(pids.every(isRunning))
    await server.end("SIGKILL")
    await eventually(
      async () => pids.filter(isRunning),
      (left) => left.length === 0
    )
  })

  for (const workers of [1, 3]) {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      it(`lose no request to ${signal}, with ${workers === 1 ? "one" : workers}`, async () => {
        const environment = await newEnvironment()
        const flags = ["--workers", String(workers)]
        const server = await startServer({ ...environment, LOG_LEVEL: "info" }, flags)
        cleanups.push(() => server.end())
        if (workers > 1) {
          await eventually(
            async () => server.output().match(/Worker \d \(process \d+\) is ready/g)?.length,
            (count) => count === workers
          )
        }
        const clients = Array.from({ length: 24 }, () => client(server))
        const acknowledged: Array<string> = []
        const refused: Array<string | undefined> = []
        const work = clients.map(async (one, index) => {
          for (let count = 0; ; count++) {
            const slug = `p-${index}-${count}`
            const answer = await one
              .send("POST", "/v1/workspaces/main/products", product(slug))
              .catch((error: NodeJS.ErrnoException) => error)
            if (answer instanceof Error) {
              refused.push((answer as NodeJS.ErrnoException).code)
              return
            }
            assert.strictEqual(answer, 201)
            acknowledged.push(slug)
          }
        })
        await eventually(
          async () => acknowledged.length,
          (count) => count > 4 * clients.length
        )
        assert.strictEqual(await server.end(signal), 0)
        await Promise.all(work)
        // Whoever was cut off had not been let in.
        assert.deepStrictEqual(new Set(refused), new Set(["ECONNREFUSED"]))

        const again = await startServer(environment)
        cleanups.push(() => again.end())
        const stored = await productsOf(http(again.baseUrl, apiKey, "main"))
        assert.isAbove(acknowledged.length, clients.length)
        assert.sameMembers(
          stored.filter((slug) => slug.startsWith("p-")),
          acknowledged
        )
      })
    }
  }

  it("answer waiting calls, finish long requests, and exit with the last of them", async () => {
    const { owner, server } = await start(2, { METRICS: "true" })
    const workspace = await newDeployment(owner)
    const run = await startRun(workspace)
    const asRun = workspace.as(run.semaphores.token)
    const path = "semaphores/long/leases"
    assert.strictEqual((await asRun.send("POST", path, { json: { capacity: 1 } })).status, 201)
    const place = asRun.send("POST", path, { json: { capacity: 1, waitMs: 30_000, requestId: "r" } })
    const noPlace = asRun.send<ErrorBody>("POST", path, { json: { capacity: 1, waitMs: 30_000 } })
    const signIn = await registerAgent(workspace)
    const inbox = owner.as(signIn.access_token).send("GET", "/agent/v1/inbox?wait=25")
    const bytes = Buffer.alloc(100_000, "delivery ")
    const upload = workspace.open("PUT", `test-runs/${run.number}/files/slow`, { "content-length": "100000" })
    const uploaded = answerOf(upload)
    upload.write(bytes.subarray(0, 50_000))
    await eventually(
      async () => {
        const now = await scrape(server.baseUrl)
        const names = ["delivery_semaphore_waiters", "delivery_message_waiters", "delivery_uploads_running"]
        return names.map((name) => total(now, name)).join()
      },
      (running) => running === "2,1,1"
    )
    const ended = server.end("SIGTERM")
    assert.strictEqual((await place).status, 202)
    assert.strictEqual(refusal(await noPlace), "409 full")
    assert.deepStrictEqual((await inbox).body, { messages: [] })
    // They would have waited for longer than a stop has, and than the upload then could.
    upload.end(bytes.subarray(50_000))
    assert.strictEqual((await uploaded).status, 201)
    assert.strictEqual(await ended, 0)
  })
})
