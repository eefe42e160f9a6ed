import { createClient } from "@delivery/client"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import type { Statement } from "effect/sql"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { apiKey, open } from "./Bench.ts"
import { load, type Loaded, request } from "./Load.ts"
import { median, start } from "./Processes.ts"

/**
 * What the retention of runs costs other requests: 100,000 runs of 50 tests, each with a file, are erased by a server that
 * answers lists, single runs, deployments and starts of runs, in turn with rounds in which nothing is erased; then what is left
 * of them, without load. `node bench/retention.ts 2000` erases fewer. Run it with
 * `pnpm bench:retention`.
 */
const runs = Number(process.argv[2] ?? 100_000)
const tests = 50
const kept = 200
const connections = 8
const seconds = 10
const rounds = 9

const bench = await open()
const server = await start("packages/server/src/cli/main.ts", ["serve"], {
  ...bench.settings,
  LOG_LEVEL: "warn",
  LOG_FORMAT: "json"
})

const query = <A extends object>(ask: (sql: PgClient.PgClient) => Statement.Statement<A>) =>
  Effect.runPromise(
    Effect.flatMap(PgClient.PgClient, ask).pipe(
      Effect.provide(PgClient.layer({ url: Redacted.make(bench.databaseUrl), maxConnections: 1 }))
    )
  )

const files = join(bench.directory, "files")
const client = createClient({ baseUrl: server.baseUrl, apiKey })
const params = { slug: "main" }
const headers = { authorization: `Bearer ${apiKey}` }
const path = "/v1/workspaces/main"
const body = {
  product: "shop",
  environment: "ci",
  baseUrl: "https://shop.example",
  git: { branch: "main", sha: "9fceb02d0ae598e95dc970b74767f19372d61af8", dirty: false, subject: "Add the basket" },
  machine: { hostname: "ci-7", platform: "linux" },
  selection: { coverage: null, folders: [], caseIds: [] }
} as const
const attempt = { status: "passed", durationMs: 12.5, startedAt: "2026-11-21T09:30:10.000Z" } as const

/** Old runs like the first one: each with its tests, and a file with a blob. */
const makeOld = async () => {
  await query(
    (sql) => sql`insert into test_runs select made.* from test_runs r, generate_series(2, ${runs}::int) n,
      jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'number', n, 'token_hash', 'made-' || n,
        'result', case when n % 3 = 0 then 'failed' else 'passed' end)) made where r.number = 1`
  )
  await query((sql) => sql`update test_runs set finished_at = now() - interval '30 days' where number <= ${runs}`)
  await query((sql) => sql`update workspaces set last_run_number = ${runs}`)
  for (let from = 1; from < runs; from += 5_000) {
    await query(
      (
        sql
      ) => sql`insert into test_run_tests select made.* from test_run_tests t join test_runs first on first.id = t.run_id
          and first.number = 1, test_runs r, jsonb_populate_record(t, jsonb_build_object('run_id', r.id)) made
        where r.number > ${from} and r.number <= ${from + 5_000}`
    )
  }
  const blobs = await query(
    (sql) => sql<{
      readonly run: string
      readonly blob: string
    }>`insert into test_run_files (workspace_id, run_id, path,
        blob_id, size, content_type, sha256, created_at)
      select workspace_id, id, 'trace.zip', gen_random_uuid(), 4096, 'application/zip', '', now() - interval '30 days'
      from test_runs where number <= ${runs} returning run_id as run, blob_id as blob`
  )
  const bytes = Buffer.alloc(4_096, 7)
  for (const { blob, run } of blobs) {
    mkdirSync(join(files, run), { recursive: true })
    writeFileSync(join(files, run, blob), bytes)
  }
  await query((sql) => sql`vacuum analyze`)
}

const counts = async () => {
  const [found] = await query(
    (sql) => sql<Record<string, number>>`select (select count(*)::int from test_runs where number <= ${runs}) as runs,
      (select count(*)::int from test_run_tests) as tests, (select count(*)::int from test_run_files) as files,
      (select count(*)::int from erased_runs) as erased, (select count(*)::int from pending_blobs) as blobs,
      (select count(*)::int from past_runs) as past`
  )
  return found!
}

const oldRuns = async () => {
  const [found] = await query(
    (sql) => sql<{ readonly runs: number }>`select count(*)::int as runs from test_runs where number <= ${runs}`
  )
  return found!.runs
}

/** Waits until the search has indexed what it is behind: it would be measured as well. */
const untilIndexed = async () => {
  const indexed = async () => {
    const [found] = await query(
      (sql) => sql<{ readonly runs: number }>`select coalesce(max(indexed_runs), 0)::int as runs from test_run_search`
    )
    return found!.runs
  }
  for (let [before, now] = [-1, await indexed()]; before !== now; [before, now] = [now, await indexed()]) {
    await sleep(10_000)
  }
}

const released = async () => {
  const { releases } = await client.releases.history({ params: { ...params, product: "shop", environment: "ci" } })
  return JSON.stringify(releases.map(({ number, runs }) => [number, runs]))
}

const mix = (connection: number) => {
  let turn = connection
  return () => {
    switch (turn++ % 4) {
      case 0:
        return request("GET", `${path}/test-runs`, headers)
      case 1:
        return request("GET", `${path}/test-runs/${runs + 1 + (turn % kept)}`, headers)
      case 2:
        return request("GET", `${path}/deployments/shop/ci`, headers)
      default:
        return request("POST", `${path}/test-runs`, headers, JSON.stringify(body))
    }
  }
}
const loaded = () => load(server.baseUrl, mix, { connections, seconds })

try {
  await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "library" } })
  await client.environments.create({ params, payload: { slug: "ci", name: "CI", class: "non-production" } })
  await client.deployments.create({ params, payload: { product: "shop", environment: "ci", version: "v1" } })
  const finished = async () => {
    const { number } = await client.testRuns.start({ params, payload: body })
    await client.testRuns.finish({
      params: { ...params, run: number },
      payload: {
        interrupted: false,
        durationMs: 1_000,
        tests: Array.from({ length: tests }, (_, i) => ({
          caseId: `case-${i}`,
          title: `Case ${i}`,
          file: "a.spec.ts",
          coverage: "acceptance" as const,
          testKind: "journey",
          attempt
        }))
      }
    })
  }
  await finished()
  await makeOld()
  for (let i = 0; i < kept; i++) await finished()
  const before = await released()
  console.log(`${runs} old runs of ${tests} tests with a file each:`, JSON.stringify(await counts()))

  await untilIndexed()
  await loaded()
  const keepFor = (runDays: number | null) => client.workspaces.update({ params, payload: { runDays } })
  const measured = { without: [] as Array<Loaded>, meanwhile: [] as Array<Loaded> }
  for (let round = 0; round < rounds; round++) {
    await keepFor(null)
    // What has begun ends.
    await sleep(5_000)
    measured.without.push(await loaded())
    await keepFor(7)
    // Erasing begins when a run is deleted, and else within a minute.
    await client.testRuns.delete({ params: { ...params, run: runs - round } })
    const left = await oldRuns()
    while ((await oldRuns()) === left) await sleep(100)
    measured.meanwhile.push(await loaded())
  }
  for (const [name, results] of Object.entries(measured)) {
    const p99s = results.map(({ p99 }) => p99)
    console.log(
      `  ${name.padEnd(10)} p99 ${median(p99s).toFixed(1)} ms [${p99s.map((p99) => p99.toFixed(1)).join(", ")}], ` +
        `${Math.round(median(results.map(({ perSecond }) => perSecond)))} requests a second`
    )
  }
  const ratios = measured.meanwhile.map(({ p99 }, round) => p99 / measured.without[round]!.p99)
  const gone = runs - (await oldRuns())
  console.log(
    `The p99 meanwhile is ${median(ratios).toFixed(2)} of that without [${ratios.map((ratio) => ratio.toFixed(2)).join(", ")}]; ` +
      `${gone} runs went.`
  )

  const began = performance.now()
  const isErased = async () => {
    const { blobs, erased, files: left, runs: old, tests: rows } = await counts()
    const waited = (performance.now() - began) / 1_000
    console.log(`  after ${waited.toFixed(0).padStart(4)} s ${old} old runs, ${left} files and ${blobs} blobs are left`)
    return old === 0 && erased === 0 && left === 0 && blobs === 0 && rows === kept * tests
  }
  while (!(await isErased())) await sleep(20_000)
  console.log(`The others, without load, were gone after ${((performance.now() - began) / 1_000).toFixed(0)} s.`)
  console.log("Left:", JSON.stringify(await counts()), `blobs on disk: ${readdirSync(files).length}`)
  console.log(`The counts of releases are ${(await released()) === before ? "as before" : "OTHERS"}.`)
} finally {
  await server.end()
  await bench.close()
}
