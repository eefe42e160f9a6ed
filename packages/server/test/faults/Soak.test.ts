import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { eventually } from "../support/Http.ts"
import { MixedLoad } from "../support/MixedLoad.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"
import { scrape } from "../telemetry/Scrape.ts"

/**
 * Mixed traffic against one server for `SOAK_SECONDS`: what it holds afterwards is what it held before. `pnpm soak:mixed`
 * takes ten minutes, in which memory has to stay flat.
 */

const seconds = Number(process.env["SOAK_SECONDS"] ?? 8)
const isLong = seconds >= 60
const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const mebibyte = 1024 * 1024

/**
 * Told by the server to its output, after it has collected its garbage, whenever it gets SIGUSR2. At SIGWINCH it gives
 * back the free pages of its heap too, which V8 keeps otherwise: what is resident then is in use.
 */
const usageReporter = `
  import { setFlagsFromString } from "node:v8"
  import { runInNewContext } from "node:vm"
  setFlagsFromString("--expose-gc")
  const gc = runInNewContext("gc")
  const settle = (collect) => () => {
    collect()
    setTimeout(() => {
      collect()
      const resources = {}
      for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1
      const { external, heapUsed, rss } = process.memoryUsage()
      console.log("SOAK " + JSON.stringify({ external, heapUsed, rss, resources }))
    }, 50)
  }
  process.on("SIGUSR2", settle(gc))
  process.on("SIGWINCH", settle(() => gc({ type: "major", execution: "sync", flavor: "last-resort" })))`

interface Usage {
  readonly external: number
  readonly heapUsed: number
  readonly rss: number
  readonly resources: Readonly<Record<string, number>>
}

const readUsage = async (server: ServerProcess, signal: "SIGUSR2" | "SIGWINCH" = "SIGUSR2"): Promise<Usage> => {
  const lines = () => server.output().match(/^SOAK .*$/gm) ?? []
  const before = lines().length
  server.child.kill(signal)
  const all = await eventually(
    async () => lines(),
    ({ length }) => length > before
  )
  return JSON.parse(all.at(-1)!.slice(5)) as Usage
}

const filesIn = (directory: string): number =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length

const openFiles = (server: ServerProcess): number => readdirSync(`/proc/${server.pid}/fd`).length

describe.runIf(process.platform === "linux")("mixed traffic", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "delivery-soak-"))
  let drop = async () => {}
  let server: ServerProcess | undefined
  afterAll(async () => {
    await server?.end()
    rmSync(dataDir, { recursive: true, force: true })
    await drop()
  })

  it(
    "leaves nothing behind",
    async () => {
      const database = await openDatabase()
      drop = database.drop
      const running = await startServer({
        DATABASE_URL: database.url,
        DATA_DIR: dataDir,
        VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
        BOOTSTRAP_API_KEY: apiKey,
        LOG_LEVEL: "warn",
        METRICS: "true",
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(usageReporter)}`
      })
      server = running
      /** The server's sessions of the database, by state. */
      const sessions = () =>
        Effect.runPromise(
          Effect.flatMap(
            PgClient.PgClient,
            (sql) => sql<{ readonly state: string; readonly count: number }>`
              select state, count(*)::int as count from pg_stat_activity
              where datname = current_database() and application_name = 'delivery' group by state`
          ).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(database.url), maxConnections: 1 })))
        )

      let calls = 0
      const failures: Array<string> = []
      const load = new MixedLoad({
        apiKey,
        targets: () => [running.baseUrl],
        clients: { read: 4, write: 2, run: 2, lease: 4, waitForLease: 20, inbox: 12, send: 2 },
        pauseMillis: isLong ? 50 : 10,
        onCall: ({ answer, failure, path }) => {
          calls++
          if (answer === undefined || answer.status >= 300) failures.push(`${path}: ${failure ?? answer!.text}`)
        }
      })
      await load.prepare()
      const before = await readUsage(running)
      const filesBefore = openFiles(running)
      load.start()
      const samples: Array<Usage> = []
      /** What is resident and in use, after the warm-up and in the end, in MiB. */
      const inUse: Array<number> = []
      const noteInUse = async () => inUse.push((await readUsage(running, "SIGWINCH")).rss / mebibyte)
      const step = isLong ? 20 : 2
      for (const end = Date.now() + seconds * 1_000; Date.now() < end;) {
        await sleep(step * 1_000)
        const usage = await readUsage(running)
        samples.push(usage)
        if (isLong && samples.length * step >= seconds / 5 && inUse.length === 0) await noteInUse()
        if (isLong) {
          console.log(
            `${samples.length * step} s: ${calls} calls, heap ${(usage.heapUsed / mebibyte).toFixed(1)} MiB, ` +
              `external ${(usage.external / mebibyte).toFixed(1)} MiB, resident ${(usage.rss / mebibyte).toFixed(0)} MiB, ` +
              `${openFiles(running)} open files, ${JSON.stringify(usage.resources)}, ${JSON.stringify(await sessions())}`
          )
        }
      }
      if (isLong) await noteInUse()
      await load.stop()
      assert.deepStrictEqual(failures.slice(0, 10), [])
      assert.isAbove(calls, 20 * seconds)

      // Clients have gone, and what was theirs with them.
      const idle = [
        "delivery_semaphore_waiters",
        "delivery_http_requests_waiting",
        "delivery_uploads_running",
        "delivery_database_waiting",
        "delivery_database_statements_running",
        "delivery_database_transactions_running"
      ]
      await eventually(
        async () => {
          const now = await scrape(running.baseUrl)
          return idle.filter((name) => now.value(name) !== 0)
        },
        (busy) => busy.length === 0
      )
      await eventually(
        async () => openFiles(running),
        // The pool, the listener, and the client that scrapes.
        (open) => open <= filesBefore + 10
      )
      const after = await readUsage(running)
      const count = (usage: Usage, name: string) => usage.resources[name] ?? 0
      assert.isAtMost(count(after, "Timeout"), count(before, "Timeout") + 3, JSON.stringify([before, after]))
      // What the server does by itself has a transaction for a moment.
      const open = await eventually(sessions, (found) =>
        found.every(({ state }) => state === "idle" || state === "active")
      )
      assert.isAtMost(
        open.reduce((sum, { count }) => sum + count, 0),
        11
      )
      const visible = await load.verify(running.baseUrl)
      await eventually(
        async () => filesIn(join(dataDir, "files")),
        (files) => files === visible
      )

      if (!isLong) return
      // After a warm-up of a fifth: what it holds is the same in the beginning and in the end.
      const warm = samples.slice(Math.ceil(samples.length / 5))
      const part = Math.max(1, Math.floor(warm.length / 4))
      const mean = (all: ReadonlyArray<Usage>, read: (usage: Usage) => number) =>
        all.reduce((sum, usage) => sum + read(usage), 0) / all.length / mebibyte
      const earlyAndLate = (read: (usage: Usage) => number) =>
        [mean(warm.slice(0, part), read), mean(warm.slice(-part), read)] as const
      const [early, late] = earlyAndLate(({ external, heapUsed }) => heapUsed + external)
      const resident = earlyAndLate(({ rss }) => rss)
      const [earlyInUse, lateInUse] = inUse as [number, number]
      const range = (early: number, late: number) => `${early.toFixed(1)} MiB early, ${late.toFixed(1)} MiB late`
      console.log(
        `${seconds} s, ${calls} calls: heap and external ${range(early, late)}; resident ${range(...resident)}, ` +
          `without free pages of the heap ${range(earlyInUse, lateInUse)}`
      )
      assert.isBelow(late, early * 1.1 + 4)
      assert.isBelow(lateInUse, earlyInUse * 1.1 + 8)
    },
    (seconds + 200) * 1_000
  )
})
