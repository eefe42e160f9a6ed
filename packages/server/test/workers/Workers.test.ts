import type { Lease } from "@delivery/domain/runs/Semaphore"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { assert, describe, it } from "vitest"
import { eventually, newDeployment, startRun } from "../support/Http.ts"
import { serveUntilEnd, startServer } from "../support/ServerProcess.ts"
import { scrape } from "../telemetry/Scrape.ts"
import { useWorkers } from "./Scene.ts"

/** Servers of several processes on a real PostgreSQL. */

const docs = readFileSync(new URL("../../../../docs/operations.md", import.meta.url), "utf8")

describe("Workers", () => {
  const { cleanups, client, newEnvironment, start } = useWorkers()

  it("are rejected with the embedded database, and if their number is zero", async () => {
    for (const [WORKERS, flags] of [
      ["2", []],
      ["1", ["--workers", "3"]],
      ["0", []],
      ["1", ["--workers", "many"]]
    ] as const) {
      const { code, output } = await serveUntilEnd({ WORKERS }, flags)
      assert.strictEqual(code, 1)
      assert.match(output.trim(), /^WORKERS is invalid: [^\n]+\.$/)
    }
  })

  it("report once why they cannot start", async () => {
    const environment = await newEnvironment()
    const unreachable = await serveUntilEnd(
      { ...environment, DATABASE_URL: "postgres://nobody:hidden@127.0.0.1:1/none" },
      ["--workers", "3"]
    )
    assert.strictEqual(unreachable.code, 1)
    assert.match(unreachable.output.trim(), /^DATABASE_URL[^\n]*$/)

    const taken = createServer().listen(0, "127.0.0.1")
    await once(taken, "listening")
    const PORT = String((taken.address() as { port: number }).port)
    const { code, output } = await serveUntilEnd({ ...environment, PORT, LOG_LEVEL: "warn" }, ["--workers", "3"])
    taken.close()
    assert.strictEqual(code, 1)
    assert.match(output.trim(), new RegExp(`^PORT: another process already listens on [^\n]*${PORT}\\. [^\n]*$`))
  })

  it("print the start message once, share the port, and all appear in a scrape that any of them answers", async () => {
    const { BOOTSTRAP_API_KEY: _, ...environment } = await newEnvironment()
    const server = await startServer({ ...environment, METRICS: "true", WORKERS: "3" })
    cleanups.push(() => server.end())
    const up = (now: Awaited<ReturnType<typeof scrape>>) =>
      ["1", "2", "3"].map((worker) => now.value("delivery_worker_up", { worker }))
    await eventually(
      () => scrape(server.baseUrl),
      (now) => up(now).join() === "1,1,1"
    )
    await eventually(
      () => Promise.resolve(server.output()),
      (printed) => printed.includes("shown only this once: ctk_")
    )
    assert.lengthOf(server.output().match(/Workspace Delivery Service/g)!, 1)
    assert.lengthOf(server.output().match(/shown only this once: ctk_/g)!, 1)

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
    const reported = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!)
    const rows = docs.slice(docs.indexOf("\n## Metrics\n"), docs.indexOf("\n## Traces\n")).match(/^\| `.*$/gm)!
    const documented = rows.flatMap((row) =>
      [...row.split(" | ")[0]!.matchAll(/`([a-z0-9_]+)`/g)].map(([, name]) => name!)
    )
    assert.sameMembers(reported, documented)
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

  it("wake calls that wait at other workers", async () => {
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
      await call("DELETE", `${path}/${lease.lease}`)
      const next = await waiting
      const releaser = (await releases()).findIndex((count, index) => count > before[index]!) + 1
      if (String(releaser) !== waiter) acrossWorkers++
      await call("DELETE", `${path}/${next.lease}`)
    }
    assert.isAtLeast(acrossWorkers, 2)
  })
})
