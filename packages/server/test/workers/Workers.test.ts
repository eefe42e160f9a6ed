import type { Lease } from "@delivery/domain/runs/Semaphore"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { Agent, request } from "node:http"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { afterEach, assert, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import {
  answerOf,
  type ErrorBody,
  eventually,
  http,
  type Http,
  newDeployment,
  refusal,
  registerAgent,
  startRun
} from "../support/Http.ts"
import { baseEnvironment, type ServerProcess, startServer } from "../support/ServerProcess.ts"
import { scrape } from "../telemetry/Scrape.ts"

/** Servers of several processes on a real PostgreSQL, killed and stopped under load. */

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url))
const docs = readFileSync(new URL("../../../../docs/operations.md", import.meta.url), "utf8")
const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const vaultKeys = `k1:${Buffer.alloc(32, 7).toString("base64")}`

/** A client with a connection of its own, which it keeps as long as the server lets it. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #baseUrl: string
  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl
  }
  /** The status; fails where no answer comes. */
  send(method: string, path: string, json?: unknown): Promise<number> {
    return new Promise((resolve, reject) => {
      const body = json === undefined ? undefined : JSON.stringify(json)
      const outgoing = request(
        `${this.#baseUrl}${path}`,
        {
          agent: this.#agent,
          method,
          headers: {
            authorization: `Bearer ${apiKey}`,
            ...(body === undefined ? {} : { "content-type": "application/json", "content-length": body.length })
          }
        },
        (response) => {
          response.resume()
          response.on("error", reject)
          response.on("end", () => resolve(response.statusCode!))
        }
      )
      outgoing.on("error", reject)
      outgoing.end(body)
    })
  }
  close(): void {
    this.#agent.destroy()
  }
}

const run = async (environment: Record<string, string>, flags: ReadonlyArray<string> = []) => {
  const child = spawn(process.execPath, [main, "serve", ...flags], {
    env: { ...baseEnvironment, ...environment }
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const [code] = (await once(child, "close")) as [number]
  return { code, output }
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe("Workers", () => {
  const cleanups: Array<() => Promise<unknown> | void> = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  })

  const newEnvironment = async (): Promise<Record<string, string>> => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), "delivery-workers-"))
    cleanups.push(() => rmSync(DATA_DIR, { recursive: true, force: true }))
    const { drop, url: DATABASE_URL } = await openDatabase()
    cleanups.push(drop)
    return { DATABASE_URL, DATA_DIR, VAULT_KEYS: vaultKeys, BOOTSTRAP_API_KEY: apiKey, DATABASE_POOL: "4" }
  }

  /** A server all of whose workers answer, and their processes by number. */
  const start = async (workers: number, environment: Record<string, string> = {}) => {
    const server = await startServer({ ...(await newEnvironment()), ...environment }, ["--workers", String(workers)])
    cleanups.push(() => server.end())
    const processes = () =>
      new Map(
        [...server.output().matchAll(/Worker (\d+) \(process (\d+)\) answers/g)].map(
          ([, number, pid]) => [Number(number), Number(pid)] as const
        )
      )
    if (workers > 1) {
      await eventually(
        async () => [...processes()],
        (known) => known.length === workers
      )
    }
    return { server, processes, owner: http(server.baseUrl, apiKey, "main") }
  }

  const client = (server: ServerProcess): Client => {
    const client = new Client(server.baseUrl)
    cleanups.push(() => client.close())
    return client
  }

  const product = (slug: string) => ({ slug, name: slug, type: "library" })
  const productsOf = async (owner: Http): Promise<ReadonlyArray<string>> =>
    (await owner.get<{ products: ReadonlyArray<{ slug: string }> }>("products")).products.map(({ slug }) => slug)

  it("are refused for the embedded database, and where there are none", async () => {
    for (const [WORKERS, flags] of [
      ["2", []],
      ["1", ["--workers", "3"]],
      ["0", []],
      ["1", ["--workers", "many"]]
    ] as const) {
      const { code, output } = await run({ WORKERS }, flags)
      assert.strictEqual(code, 1)
      assert.match(output.trim(), /^WORKERS is wrong: [^\n]+\.$/)
    }
  })

  it("say once why they cannot start", async () => {
    const environment = await newEnvironment()
    const unreachable = await run({ ...environment, DATABASE_URL: "postgres://nobody:hidden@127.0.0.1:1/none" }, [
      "--workers",
      "3"
    ])
    assert.strictEqual(unreachable.code, 1)
    assert.match(unreachable.output.trim(), /^DATABASE_URL[^\n]*$/)

    const taken = createServer().listen(0, "127.0.0.1")
    await once(taken, "listening")
    const PORT = String((taken.address() as { port: number }).port)
    const { code, output } = await run({ ...environment, PORT, LOG_LEVEL: "warn" }, ["--workers", "3"])
    taken.close()
    assert.strictEqual(code, 1)
    assert.match(output.trim(), new RegExp(`^PORT: another process listens on [^\n]*${PORT}.$`))
  })

  it("greet once, share the port, and are all told of by a scrape, whichever answers it", async () => {
    const { BOOTSTRAP_API_KEY: _, ...environment } = await newEnvironment()
    const server = await startServer({ ...environment, METRICS: "true", WORKERS: "3" })
    cleanups.push(() => server.end())
    const up = (now: Awaited<ReturnType<typeof scrape>>) =>
      ["1", "2", "3"].map((worker) => now.value("delivery_worker_up", { worker }))
    await eventually(
      () => scrape(server.baseUrl),
      (now) => up(now).join() === "1,1,1"
    )
    assert.lengthOf(server.output().match(/Workspace Delivery Service/g)!, 1)
    assert.lengthOf(server.output().match(/shown this once: ctk_/g)!, 1)

    const clients = Array.from({ length: 12 }, () => client(server))
    for (let round = 0; round < 10; round++) {
      const statuses = await Promise.all(clients.map((one) => one.send("GET", "/health")))
      assert.deepStrictEqual(new Set(statuses), new Set([200]))
    }
    const labels = (worker: string) => ({ worker, endpoint: "system.health", status: "200" })
    for (let round = 0; round < 6; round++) {
      const now = await scrape(server.baseUrl)
      const counts = ["1", "2", "3"].map((worker) => now.value("delivery_http_requests_total", labels(worker)))
      assert.strictEqual(counts[0]! + counts[1]! + counts[2]!, 120)
      // Connections go to who is free: each has some.
      for (const count of counts) assert.isAtLeast(count!, 10)
      assert.deepStrictEqual(
        now.series("process_resident_memory_bytes").map(({ worker }) => worker),
        ["1", "2", "3", "supervisor"]
      )
      assert.lengthOf(now.series("delivery_database_pool_size"), 3)
    }
    // What it tells stands in the docs, and what stands there it tells.
    const { text } = await scrape(server.baseUrl)
    const told = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!)
    const rows = docs.slice(docs.indexOf("\n## Metrics\n"), docs.indexOf("\n## Traces\n")).match(/^\| `.*$/gm)!
    const documented = rows.flatMap((row) =>
      [...row.split(" | ")[0]!.matchAll(/`([a-z0-9_]+)`/g)].map(([, name]) => name!)
    )
    assert.sameMembers(told, documented)
    const tasks = [...text.matchAll(/task="([a-z_]+)"/g)].map(([, task]) => task!)
    const row = rows.find((row) => row.includes("background_failures"))!
    for (const task of tasks) assert.include(row, `\`${task}\``)

    // Lines of all of them are whole.
    await eventually(
      async () => server.output().match(/"path":"\/health"/g)?.length,
      (count) => count === 120
    )
    for (const line of server
      .output()
      .split("\n")
      .filter((line) => line.includes("/health")))
      JSON.parse(line)
    assert.strictEqual(await server.end("SIGTERM"), 0)
  })

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
    await sleep(500)
    process.kill(before.get(2)!, "SIGKILL")
    const after = await eventually(
      async () => [...processes()],
      () => processes().get(2) !== before.get(2)
    )
    await sleep(300)
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
    assert.match(server.output(), /Worker 2 \(process \d+\) ended by SIGKILL; another begins in 0\.1 s\./)
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

  it("pass on the connection that a worker was given and had not taken when it was killed", async () => {
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

  it("are replaced without losing a request when one is told to stop", async () => {
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
    await sleep(300)
    process.kill(before, "SIGTERM")
    const replaced = eventually(
      async () => [...processes()],
      () => processes().get(3) !== before
    )
    await Promise.race([replaced, Promise.all(work)])
    isOver = true
    await Promise.all(work)
    await replaced
    assert.isAbove(answers, 200)
    assert.match(server.output(), /Worker 3 \(process \d+\) ended by itself with 0/)
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
      [...server.output().matchAll(/another begins in ([\d.]+) s/g)].map(([, pause]) => pause),
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
            async () => server.output().match(/Worker \d \(process \d+\) answers/g)?.length,
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
        await sleep(700)
        const stopped = Date.now()
        const code = await server.end(signal)
        assert.strictEqual(code, 0)
        assert.isBelow(Date.now() - stopped, 10_000)
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

  it("finish what takes long, answer who waits, and end within the time that a stop has", async () => {
    const { owner, server } = await start(2)
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
    await sleep(500)
    const stopped = Date.now()
    const ended = server.end("SIGTERM")
    assert.strictEqual((await place).status, 202)
    assert.strictEqual(refusal(await noPlace), "409 full")
    assert.deepStrictEqual((await inbox).body, { messages: [] })
    assert.isBelow(Date.now() - stopped, 3_000)
    await sleep(stopped + 3_000 - Date.now())
    upload.end(bytes.subarray(50_000))
    assert.strictEqual((await uploaded).status, 201)
    assert.strictEqual(await ended, 0)
    assert.isBelow(Date.now() - stopped, 9_000)
  })

  it("wake each other's waiters", async () => {
    const { owner, server } = await start(3, { METRICS: "true" })
    const workspace = await newDeployment(owner)
    const run = await startRun(workspace)
    const token = run.semaphores.token
    const path = `/v1/workspaces/${workspace.workspace}/semaphores/shared/leases`
    const call = async <A>(method: string, path: string, json?: unknown): Promise<A> => {
      // A new connection each time, and so another worker.
      const response = await fetch(`${server.baseUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", connection: "close" },
        ...(json === undefined ? {} : { body: JSON.stringify(json) })
      })
      assert.isBelow(response.status, 300)
      return (response.status === 204 ? undefined : await response.json()) as A
    }
    const waiterAt = async () => {
      const now = await scrape(server.baseUrl)
      return ["1", "2", "3"].find((worker) => now.value("delivery_semaphore_waiters", { worker }) === 1) ?? "none"
    }
    const releases = async () => {
      const now = await scrape(server.baseUrl)
      return ["1", "2", "3"].map((worker) => now.value("delivery_semaphore_leases_released_total", { worker })!)
    }
    let acrossWorkers = 0
    for (let round = 0; round < 9; round++) {
      const lease = await call<Lease>("POST", path, { capacity: 1 })
      const waiting = call<Lease>("POST", path, { capacity: 1, waitMs: 20_000, requestId: `r-${round}` })
      const waiter = await eventually(waiterAt, (worker) => worker !== "none")
      const before = await releases()
      const released = Date.now()
      await call("DELETE", `${path}/${lease.lease}`)
      const next = await waiting
      const millis = Date.now() - released
      const releaser = (await releases()).findIndex((count, index) => count > before[index]!) + 1
      if (String(releaser) !== waiter) acrossWorkers++
      // Without a notification it would be looked up within a second.
      assert.isBelow(millis, 700)
      await call("DELETE", `${path}/${next.lease}`)
    }
    assert.isAtLeast(acrossWorkers, 2)
  })
})
