import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { execFileSync } from "node:child_process"
import { layerSqlStorage } from "../packages/server/src/App.ts"
import { TestRunsRepo } from "../packages/server/src/runs/TestRunsRepo.ts"
import { analyze, finishBody, makeData, makeRunning, person, plans, reads, startBody, writes } from "./ApiData.ts"
import { apiKey, open } from "./Bench.ts"
import { connection } from "./Database.ts"
import { cpuSeconds, load, request, type Requests } from "./Load.ts"
import { median, start, type Started } from "./Processes.ts"
import { percentile95 } from "./RunFilters.ts"

/**
 * How the service grows, in two parts.
 *
 * **Beside others**: the same workspaces in a database of their own, and in one with 10,000 more, which have 10,000,000 tests: calls in
 * turn, one at a time.
 *
 * **With more processes**: requests for each second of processor time of all processes of the service, at full load: one worker, two
 * and four workers, and two servers of one worker. Where the machine has as many cores as processes, that is what one core carries.
 *
 * Run it with `pnpm bench:scale`; it needs 12 GB of disk and a quarter of an hour. `BENCH_WORKSPACES` for fewer of the others.
 */
const others = Number(process.env["BENCH_WORKSPACES"] ?? 10_000)
const runsOfEach = 20
const testsOfEach = 50
const atOnce = 1_000
const rounds = 200
const settings = { BASE_URL: "http://127.0.0.1", LOG_LEVEL: "warn" }
const main = "packages/server/src/cli/main.ts"

const layerOf = (databaseUrl: string) =>
  layerSqlStorage.pipe(Layer.provideMerge(PgClient.layer(connection(databaseUrl))))

/** Workspaces of others: each with a product that is deployed in an environment, finished runs with tests, and their events. */
const makeOthers = Effect.fnUntraced(function* (count: number) {
  const sql = yield* PgClient.PgClient
  const id = (kind: string, number: string) =>
    sql.literal(`('00000000-00${kind}-7000-8000-' || lpad(to_hex(${number}), 12, '0'))::uuid`)
  for (let from = 0; from < count; from += atOnce) {
    const numbers = sql`generate_series(${from + 1}::int, ${Math.min(from + atOnce, count)}::int) w`
    yield* sql`insert into workspaces (id, slug, name, last_run_number, created_at, updated_at)
      select ${id("a1", "w")}, 'other-' || w, 'Other ' || w, ${runsOfEach}::int, now(), now() from ${numbers}`
    yield* sql`insert into products (id, workspace_id, slug, name, type, created_at, updated_at)
      select ${id("a2", "w")}, ${id("a1", "w")}, 'shop', 'Shop', 'website', now(), now() from ${numbers}`
    yield* sql`insert into environments (id, workspace_id, slug, name, class, created_at, updated_at)
      select ${id("a3", "w")}, ${id("a1", "w")}, 'staging', 'Staging', 'non-production', now(), now() from ${numbers}`
    yield* sql`insert into deployments (id, workspace_id, product_id, environment_id, base_url, version, version_updated_at,
        created_at, updated_at)
      select gen_random_uuid(), ${id("a1", "w")}, ${id("a2", "w")}, ${id("a3", "w")}, 'https://shop.example', '9fceb02',
        now(), now(), now() from ${numbers}`
    yield* sql`insert into test_runs (id, workspace_id, number, product_id, environment_id, publisher_kind, publisher_id,
        base_url, git_branch, git_sha, git_dirty, git_subject, search, hostname, platform, selection, token_hash, state,
        result, total, passed, flaky, failed, skipped, pass_rate, first_attempt_pass_rate, duration_ms, started_at,
        expires_at, finished_at)
      select ${id("a4", `w * 100 + n`)}, ${id("a1", "w")}, n, ${id("a2", "w")}, ${id("a3", "w")}, 'user', ${person}::uuid,
        'https://shop.example', 'feature/ticket-' || n, md5(w || '-' || n) || '00000000', false, 'Add the basket, step ' || n,
        'feature/ticket-' || n || chr(10) || 'add the basket, step ' || n, 'ci-' || n, 'linux', '{"folders":[],"caseIds":[]}', 'other-' || w || '-' || n,
        'finished', 'failed', ${testsOfEach}::int, ${testsOfEach - 5}::int, 0, 5, 0, 0.9, 0.9, 60000, now(), now(), now()
      from ${numbers}, generate_series(1, ${runsOfEach}::int) n`
    yield* sql`insert into test_run_tests (workspace_id, run_id, case_id, title, file, coverage, test_kind, status, files,
        attempt_status, attempt_duration_ms, attempt_started_at, attempt_error_message, attempt_files)
      select ${id("a1", "w")}, ${id("a4", `w * 100 + n`)}, 'checkout/basket.spec.ts:case-' || t, 'Basket, step ' || t,
        'checkout/basket.spec.ts', 'acceptance', 'behavior', case when t % 10 = 0 then 'failed' else 'passed' end, '[]',
        case when t % 10 = 0 then 'failed' else 'passed' end, 1200 + t, now(),
        case when t % 10 = 0 then 'Expected 200, got 500' end, '[]'
      from ${numbers}, generate_series(1, ${runsOfEach}::int) n, generate_series(1, ${testsOfEach}::int) t`
    yield* sql`insert into events (id, workspace_id, kind, actor_kind, actor_id, subject_type, subject_id, subject_label,
        subject_path, changes, created_at)
      select gen_random_uuid(), ${id("a1", "w")}, 'run_finished', 'user', ${person}::uuid, 'run', ${id("a4", `w * 100 + n`)}::text,
        'Run ' || n, 'test-runs/' || n, '[]', now() from ${numbers}, generate_series(1, ${runsOfEach}::int) n`
  }
})

/** Everything is as after a while in use: runs are found by words, and results are counted. */
const settle = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const repo = yield* TestRunsRepo
  yield* sql`insert into case_counting (workspace_id, seen_runs) select id, last_run_number from workspaces
    on conflict (workspace_id) do update set seen_runs = excluded.seen_runs`
  while (yield* sql.withTransaction(repo.indexBlock));
  yield* analyze
})

const authorization = { authorization: `Bearer ${apiKey}` }
const path = (slug: string, rest: string) => `/v1/workspaces/${slug}/${rest}`
const always = (method: string, at: string, body?: string): Requests => {
  const bytes = request(method, at, authorization, body)
  return () => bytes
}

/** A service, and the runs that wait to be finished there. */
interface Site {
  readonly server: Started
  next: number
}

const run = <A, E>(databaseUrl: string, work: Effect.Effect<A, E, PgClient.PgClient | TestRunsRepo>): Promise<A> =>
  Effect.runPromise(Effect.provide(work, layerOf(databaseUrl)) as Effect.Effect<A, E>)

let versions = 0
const calls: ReadonlyArray<readonly [name: string, of: (site: Site) => Requests]> = [
  ["50 runs of 100,000", () => always("GET", path(reads.slug, "test-runs"))],
  ["runs by a word", () => always("GET", path(reads.slug, "test-runs?q=basket"))],
  ["a run with 500 tests", () => always("GET", path(reads.slug, `test-runs/${reads.runs}`))],
  ["20 deployments", () => always("GET", path(reads.slug, "deployments"))],
  ["100 projects with progress", () => always("GET", path(plans.slug, "projects"))],
  ["a page of the feed", () => always("GET", path(writes.slug, "events?limit=50"))],
  ["start a run", () => always("POST", path(writes.slug, "test-runs"), startBody)],
  [
    "finish a run of 50 tests",
    (site) => () => request("POST", path(writes.slug, `test-runs/${site.next++}/finish`), authorization, finishBody)
  ],
  [
    "change a version",
    () => () =>
      request("PATCH", path(writes.slug, "deployments/shop-1/env-1"), authorization, `{"version":"v${versions++}"}`)
  ]
]

/** Milliseconds of one call. */
const timed = async (site: Site, requests: Requests): Promise<number> => {
  let isSent = false
  const { p99 } = await load(
    site.server.baseUrl,
    () => (last) => (isSent ? undefined : ((isSent = true), requests(last))),
    {
      connections: 1,
      seconds: 60
    }
  )
  return p99
}

const besideOthers = async (alone: Site, beside: Site): Promise<void> => {
  console.log(
    `\nThe same calls in a database of their own, and beside ${others} workspaces with ${others * runsOfEach * testsOfEach} tests: ` +
      `${rounds} of each in turn, milliseconds.\n\n| Call | alone, median | p95 | beside, median | p95 | ratio of medians | of p95 |\n|---|---|---|---|---|---|---|`
  )
  for (const [name, of] of calls) {
    const times: [Array<number>, Array<number>] = [[], []]
    for (let round = -50; round < rounds; round++) {
      for (const [index, site] of [alone, beside].entries()) {
        const took = await timed(site, of(site))
        if (round >= 0) times[index]!.push(took)
      }
    }
    const [a, b] = times.map((all) => [median(all), percentile95(all)] as const)
    const cells = [...a!, ...b!, b![0] / a![0], b![1] / a![1]].map((value) => value.toFixed(2))
    console.log(`| ${[name, ...cells].join(" | ")} |`)
  }
}

/** A process and all that it has started. */
const processesOf = (pid: number): ReadonlyArray<number> => {
  try {
    const children = execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" })
      .trim()
      .split("\n")
      .map(Number)
    return [pid, ...children.flatMap(processesOf)]
  } catch {
    // It exits with 1 where there are none.
    return [pid]
  }
}

/** Requests for each second of processor time of the processes, each server with half of the load if there are two. */
const perCore = async (servers: ReadonlyArray<Started>, of: () => Requests): Promise<number> => {
  const pids = servers.flatMap(({ pid }) => processesOf(pid))
  const used = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)
  const before = used()
  const options = { connections: 32 / servers.length, seconds: 2 }
  const loaded = await Promise.all(servers.map(({ baseUrl }) => load(baseUrl, of, options)))
  return loaded.reduce((sum, { requests }) => sum + requests, 0) / (used() - before)
}

const withProcesses = async (environment: Record<string, string>, site: Site): Promise<void> => {
  const serve = (workers: number) => start(main, ["serve"], { ...environment, WORKERS: String(workers) })
  const shapes = [
    { name: "one worker", workers: [1] },
    { name: "two workers", workers: [2] },
    { name: "four workers", workers: [4] },
    { name: "two servers", workers: [1, 1] }
  ]
  const measured = [...calls.slice(0, 4), calls.at(-1)!]
  const found = new Map<string, Array<Array<number>>>(shapes.map(({ name }) => [name, measured.map(() => [])]))
  for (let round = 0; round < 3; round++) {
    for (const { name, workers } of shapes) {
      const servers = await Promise.all(workers.map(serve))
      try {
        // Compiled code comes late where there is much of it, and in each process by itself.
        for (const [, of] of measured) await perCore(servers, () => of(site))
        for (const [index, [, of]] of measured.entries()) {
          found.get(name)![index]!.push(await perCore(servers, () => of(site)))
        }
      } finally {
        for (const server of servers) await server.end()
      }
    }
  }
  console.log(
    `\nRequests for each second of processor time of the service, medians of 3, and beside those of one worker.\n\n` +
      `| Call | ${shapes.map(({ name }) => name).join(" | ")} |\n|---|${shapes.map(() => "---|").join("")}`
  )
  for (const [index, [name]] of measured.entries()) {
    const medians = shapes.map((shape) => median(found.get(shape.name)![index]!))
    console.log(
      `| ${name} | ${medians.map((one) => `${one.toFixed(0)} (${(one / medians[0]!).toFixed(2)})`).join(" | ")} |`
    )
  }
}

const opened: Array<Awaited<ReturnType<typeof open>>> = []
const servers: Array<Started> = []
const siteOf = async (withOthers: boolean): Promise<Site> => {
  const bench = await open()
  opened.push(bench)
  const server = await start(main, ["serve"], { ...bench.settings, ...settings })
  servers.push(server)
  const began = performance.now()
  await run(bench.databaseUrl, makeData([], "revoked"))
  if (withOthers) await run(bench.databaseUrl, makeOthers(others))
  await run(bench.databaseUrl, settle)
  const next = await run(bench.databaseUrl, makeRunning(rounds + 60))
  console.log(`A database was filled in ${((performance.now() - began) / 1000).toFixed(0)} s.`)
  return { server, next }
}
try {
  const alone = await siteOf(false)
  await besideOthers(alone, await siteOf(true))
  for (const server of servers.splice(0)) await server.end()
  await withProcesses({ ...opened[0]!.settings, ...settings, DATABASE_POOL: "5" }, alone)
} finally {
  for (const server of servers) await server.end()
  for (const bench of opened) await bench.close()
}
