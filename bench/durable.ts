import { createClient } from "@delivery/client"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedDatabase from "../packages/server/src/database/EmbeddedDatabase.ts"
import { apiKey } from "./Bench.ts"
import { load, request } from "./Load.ts"
import { median, start } from "./Processes.ts"
import { startOfRun, startRun } from "./Run.ts"

/**
 * What it costs that commits of the embedded database are on the disk before they are answered: the same processes with and without
 * flushes, in turn. Run it with `pnpm bench:durable`. `BENCH_ROUNDS`, and `BENCH_SECONDS` of each turn. The disk is that of the
 * temporary directory.
 */
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 7)
const seconds = Number(process.env["BENCH_SECONDS"] ?? 2)
const atOnce = [1, 32]

/** Inserts a second into a database of this process. */
const inserts = (dataDir: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql`CREATE TABLE IF NOT EXISTS rows (n bigserial PRIMARY KEY, text text NOT NULL)`
    const rates: Array<number> = []
    for (const fibers of atOnce) {
      const started = performance.now()
      let count = 0
      const insert = Effect.whileLoop({
        while: () => performance.now() - started < seconds * 1000,
        body: () => sql`INSERT INTO rows (text) VALUES (${"x".repeat(200)})`,
        step: () => count++
      })
      yield* Effect.all(
        Array.from({ length: fibers }, () => insert),
        { concurrency: "unbounded", discard: true }
      )
      rates.push((count * 1000) / (performance.now() - started))
    }
    return rates
  }).pipe(Effect.provide(EmbeddedDatabase.layer({ dataDir })))

const startRequest = request(
  "POST",
  "/v1/workspaces/main/test-runs",
  { authorization: `Bearer ${apiKey}` },
  JSON.stringify(startOfRun)
)

const variants = [
  { name: "with", options: {} },
  { name: "without", options: { NODE_OPTIONS: `--import=${new URL("NoFlush.ts", import.meta.url).href}` } }
] as const

const vaultKeys = `k1:${Buffer.alloc(32, 1).toString("base64")}`

const insertIn = (dataDir: string, options: Readonly<Record<string, string>>) =>
  JSON.parse(
    execFileSync(process.execPath, [import.meta.filename, dataDir], { env: { ...process.env, ...options } }).toString()
  ) as ReadonlyArray<number>

const compare = async () => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-bench-"))
  const rates = new Map<string, Array<number>>()
  const note = (name: string, rate: number) => rates.set(name, [...(rates.get(name) ?? []), rate])
  const servers = []
  for (const { name, options } of variants) {
    insertIn(join(directory, name), options)
    const environment = {
      ...options,
      DATA_DIR: join(directory, name),
      BOOTSTRAP_API_KEY: apiKey,
      VAULT_KEYS: vaultKeys
    }
    const server = await start("packages/server/src/cli/main.ts", ["serve"], { ...environment, LOG_LEVEL: "warn" })
    await startRun(createClient({ baseUrl: server.baseUrl, apiKey }))
    servers.push({ name, options, server })
  }
  for (let round = -1; round < rounds; round++) {
    // Backwards every other time: who comes first must not matter.
    for (const { name, options, server } of round % 2 === 0 ? servers : servers.toReversed()) {
      const inserted = insertIn(join(directory, `${name}-rows`), options)
      for (const [index, connections] of atOnce.entries()) {
        const { perSecond } = await load(server.baseUrl, () => () => startRequest, { connections, seconds })
        if (round < 0) continue
        note(`${name}: an insert, ${connections} at once`, inserted[index]!)
        note(`${name}: the start of a run, ${connections} at once`, perSecond)
      }
    }
  }
  for (const { server } of servers) await server.end()
  rmSync(directory, { recursive: true })
  console.log(
    `${rounds} rounds of ${seconds} s in turn after one more, medians; ratios of the same round.\n\n` +
      "| | a second, without flushes | with | time of one, with beside without |\n|---|---|---|---|"
  )
  for (const what of ["an insert", "the start of a run"]) {
    for (const connections of atOnce) {
      const [own, other] = ["with", "without"].map((name) => rates.get(`${name}: ${what}, ${connections} at once`)!)
      const ratio = median(own!.map((rate, round) => other![round]! / rate))
      console.log(
        `| ${what}, ${connections} at once | ${median(other!).toFixed(0)} | ${median(own!).toFixed(0)} | ${ratio.toFixed(2)} |`
      )
    }
  }
}

if (process.argv[2] === undefined) await compare()
else console.log(JSON.stringify(await Effect.runPromise(inserts(process.argv[2]))))
