import { createClient } from "@delivery/client"
import type { EnvironmentId } from "@delivery/domain/Ids"
import { errorGroupOf } from "@delivery/domain/runs/ErrorGroups"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { layerSqlRepositories } from "../packages/server/src/App.ts"
import { CaseCounting } from "../packages/server/src/runs/cases/CaseCounting.ts"
import { ResultChanges } from "../packages/server/src/runs/ResultChanges.ts"
import * as Runs from "../packages/server/src/runs/Runs.ts"
import { integers, texts } from "../packages/server/src/storage/Columns.ts"
import { apiKey } from "./Bench.ts"
import { connection } from "./Database.ts"

/**
 * Runs of a year, and what the service has counted of them once it has caught up: written by a few statements, since counting
 * 1,000,000 runs one after the other takes hours.
 */

export const tests = 50
/** A run has the tests of one of these suites. */
export const suites = 10
const environments = 4
const runsAtOnce = 20_000

/** A product that is deployed in the environments. `key` is that of an owner. */
export const makeProduct = async (baseUrl: string, key = apiKey) => {
  const client = createClient({ baseUrl, apiKey: key })
  const params = { slug: "main" }
  const product = await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "library" } })
  const made: Array<EnvironmentId> = []
  for (let n = 0; n < environments; n++) {
    const payload = { slug: `env-${n}`, name: `Environment ${n}`, class: "non-production" } as const
    made.push((await client.environments.create({ params, payload })).id)
    await client.deployments.create({ params, payload: { product: "shop", environment: `env-${n}` } })
  }
  const [workspace] = (await client.workspaces.list({})).workspaces
  return { workspaceId: workspace!.id, productId: product.id, environmentIds: made }
}

export type At = Awaited<ReturnType<typeof makeProduct>>

/** What plants runs in a database, and what is counted of them. */
export const layerPlanting = (databaseUrl: string) =>
  Layer.mergeAll(Runs.layerHost, ResultChanges.layer).pipe(
    Layer.provideMerge(layerSqlRepositories),
    Layer.provideMerge(PgClient.layer(connection(databaseUrl)))
  )

/** Stores runs as they are when they have finished, one in ten of the base branch. A test in 25 fails, each test in spells of its own. */
export const fillRuns = ({ environmentIds, productId, workspaceId }: At, runs: number) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql`insert into test_runs (id, workspace_id, number, product_id, environment_id, publisher_kind, publisher_id,
        base_url, git_branch, git_sha, git_dirty, git_subject, search, hostname, platform, selection, token_hash, state,
        result, total, passed, flaky, failed, skipped, pass_rate, first_attempt_pass_rate, duration_ms, started_at,
        expires_at, finished_at)
      select gen_random_uuid(), ${workspaceId}::uuid, n, ${productId}::uuid,
        (array[${environmentIds[0]!}::uuid, ${environmentIds[1]!}::uuid, ${environmentIds[2]!}::uuid,
          ${environmentIds[3]!}::uuid])[1 + n % ${environments}::int],
        'user', (select id from persons limit 1), 'https://shop.example',
        case when n % 10 = 0 then 'main' else 'feature-' || n % 50 end, md5(n::text) || '00000000', false, 'subject',
        'search', 'ci', 'linux', '{"folders":[],"caseIds":[]}', 'made-' || n, 'finished', 'failed', ${tests}::int, ${tests - 2}::int, 0, 2, 0, 0.96, 0.96,
        60000, ended.at, ended.at, ended.at
      from generate_series(1, ${runs}::int) n
        cross join lateral (select now() - (${runs}::int - n) * interval '365 days' / ${runs}::int as at) ended`
    for (let from = 0; from < runs; from += runsAtOnce) {
      yield* sql`insert into test_run_tests (workspace_id, run_id, case_id, title, file, coverage, test_kind, status, files,
          attempt_status, attempt_duration_ms, attempt_started_at, attempt_error_message, attempt_files)
        select r.workspace_id, r.id, 'suite-' || s.n || '/basket.spec.ts › case ' || c, 'Suite ' || s.n || ' › case ' || c,
          'suite-' || s.n || '/basket.spec.ts', 'regression', 'behavior', case when f.fails then 'failed' else 'passed' end, '[]',
          case when f.fails then 'failed' else 'passed' end,
          (case when c % 17 = 0 then 20000 else 500 + 20 * c end) + (r.number % 997 * 7919 + c) % 997, r.started_at,
          case when f.fails then 'Expected ' || r.number || ', got ' || repeat('x', c) end, '[]'
        from test_runs r
          cross join lateral (select r.number % ${suites}::int as n) s
          cross join generate_series(0, ${tests - 1}::int) c
          cross join lateral (select (r.number / 97 + c) % 25 = 0 as fails) f
        where r.workspace_id = ${workspaceId} and r.number > ${from} and r.number <= ${from + runsAtOnce}`
    }
    yield* sql`update workspaces set last_run_number = ${runs} where id = ${workspaceId}`
    yield* sql`insert into case_counting (workspace_id, seen_runs) values (${workspaceId}::uuid, ${runs}::int)
      on conflict (workspace_id) do update set seen_runs = excluded.seen_runs`
    yield* sql`vacuum analyze test_runs, test_run_tests`
  })

/**
 * Writes the results of the runs where the service would count them, one run after the other. Figures of cases and days are then
 * computed by the service's own steps.
 */
export const plantCounts = ({ productId, workspaceId }: At, runs: number) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql`insert into test_cases (workspace_id, product_id, scope_id, case_id)
      select ${workspaceId}::uuid, ${productId}::uuid, ${productId}::uuid, 'suite-' || s || '/basket.spec.ts › case ' || c
      from generate_series(0, ${suites - 1}::int) s, generate_series(0, ${tests - 1}::int) c`
    yield* sql`insert into test_cases (workspace_id, product_id, scope_id, case_id, whole_id)
      select w.workspace_id, w.product_id, ran.environment_id, w.case_id, w.id
      from (select distinct number % ${suites}::int as suite, environment_id from test_runs where workspace_id = ${workspaceId}) ran
        join test_cases w on w.workspace_id = ${workspaceId} and w.scope_id = ${productId}
          and starts_with(w.case_id, 'suite-' || ran.suite || '/')`
    yield* sql`analyze test_cases`
    const cases = Array.from({ length: tests }, (_, index) => index)
    const group = (index: number) => errorGroupOf(`Expected 1, got ${"x".repeat(index)}`)
    for (let from = 0; from < runs; from += runsAtOnce) {
      yield* sql`insert into case_results (workspace_id, series_id, number, failed, flaky, attempts, duration_ms, day, on_base,
          error_group)
        select r.workspace_id, s.id, r.number, t.status = 'failed', false, 1, t.attempt_duration_ms,
          (r.finished_at at time zone 'UTC')::date, r.git_branch = 'main', case when t.status = 'failed' then said.error_group end
        from test_runs r join test_run_tests t on t.run_id = r.id
          join test_cases s on s.workspace_id = r.workspace_id and s.product_id = r.product_id
            and s.scope_id = r.environment_id and s.case_id = t.case_id
          join unnest(${integers(cases)}, ${texts(cases, group)}) as said (number, error_group)
            on said.number = split_part(t.case_id, ' case ', 2)::int
        where r.workspace_id = ${workspaceId} and r.number > ${from} and r.number <= ${from + runsAtOnce}`
    }
    yield* sql`vacuum analyze case_results`
    yield* sql`insert into case_recounts (workspace_id, product_id, before, settles, settled)
      values (${workspaceId}::uuid, ${productId}::uuid, 0, true, 0)`
    yield* sql`insert into stale_days (workspace_id, product_id, day)
      select distinct ${workspaceId}::uuid, ${productId}::uuid, day from case_results`
    yield* untilCounted
  })

/** Has the service count what is left to count. */
export const untilCounted = Effect.gen(function* () {
  const { step } = yield* CaseCounting
  while (yield* step) yield* Effect.yieldNow
})

const figures = `c.case_id, c.scope_id, c.p50_ms, c.p95_ms, c.newest_run, c.newest_day, c.flaky_day, c.first_failure, c.last_failure,
  c.failing_since, c.newest_failed, c.is_long, c.coverage, c.title, c.file, c.test_kind, c.title_key, c.search`

/** What was counted, by what it is counted for, as a hash of each table. */
export const counted = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const tables = {
    test_cases: `select ${figures} from test_cases c`,
    case_results: `select c.case_id, c.scope_id, r.number, r.failed, r.flaky, r.attempts, r.duration_ms, r.day, r.on_base, r.error_group
      from case_results r join test_cases c on c.id = r.series_id`,
    case_days: `select c.case_id, c.scope_id, d.day, d.passed, d.flaky, d.failed from case_days d join test_cases c on c.id = d.series_id`,
    case_medians: "select * from case_medians",
    product_days: "select * from product_days"
  }
  return yield* Effect.forEach(Object.entries(tables), ([name, rows]) =>
    Effect.map(
      sql<{ readonly rows: number; readonly hash: string | null }>`select count(*)::int as rows,
        md5(string_agg(found.text, ' ' order by found.text)) as hash from (select row(found.*)::text as text
          from (${sql.literal(rows)}) found) found`,
      ([found]) => `${name}: ${found!.rows} rows, ${found!.hash}`
    )
  )
})
