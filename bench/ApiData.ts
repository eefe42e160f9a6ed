import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { hashToken } from "../packages/server/src/ids/Tokens.ts"
import { apiKey } from "./Bench.ts"
import { id, makePlanning, makeRuns, makeWorkspace } from "./Database.ts"

/** The data of `bench/api.ts`: a workspace for reads of the catalog and runs, one for planning, one for writes. */

/** The caller: a member of every workspace, and of some of the private teams. */
export const person = id(2, 1)
export const reads = { number: 1, slug: "bench-1", id: id(1, 1), runs: 100_000, tests: 500 }
export const plans = { number: 2, slug: "bench-2", id: id(1, 2), projects: 100 }
export const writes = { number: 3, slug: "bench-3", id: id(1, 3) }

const makeDeployments = Effect.fnUntraced(function* (number: number, environments: number) {
  const sql = yield* PgClient.PgClient
  yield* sql`insert into deployments (id, workspace_id, product_id, environment_id, base_url, version,
      version_updated_at, created_at, updated_at)
    select gen_random_uuid(), p.workspace_id, p.id, e.id, 'https://' || p.slug || '.' || e.slug || '.example', '9fceb02',
      now, now, now
    from date_trunc('milliseconds', now()) now, products p join environments e on e.workspace_id = p.workspace_id
    where p.workspace_id = ${id(1, number)} and e.slug = any(${Array.from({ length: environments }, (_, n) => `env-${n}`)})`
})

/** All data of the bench. Each of the keys is the caller's; the revoked one is not valid any more. */
export const makeData = Effect.fnUntraced(function* (keys: ReadonlyArray<string>, revoked: string) {
  const sql = yield* PgClient.PgClient
  yield* makeRuns(reads.number, reads.runs)
  yield* makePlanning(plans.number, plans.projects)
  yield* makeWorkspace(writes.number)
  yield* makeDeployments(reads.number, 2)
  yield* makeDeployments(writes.number, 4)
  yield* sql`insert into members (workspace_id, person_id, role, active, joined_at)
    select id, ${person}::uuid, 'member', true, now() from workspaces on conflict do nothing`
  yield* sql`update api_keys set person_id = ${person} where token_hash = ${hashToken(apiKey)}`
  yield* sql`insert into api_keys (id, person_id, name, token_hash, token_prefix, last_four, created_at, revoked_at)
    select gen_random_uuid(), ${person}::uuid, 'Bench', hash, 'ctk_', '', now(),
      case when hash = ${hashToken(revoked)} then now() end
    from unnest(${[revoked, ...keys].map(hashToken)}::text[]) hash`
  yield* sql`update test_runs set total = 500, passed = 425, failed = 50, skipped = 25, result = 'failed'
    where workspace_id = ${reads.id} and number = ${reads.runs}`
  yield* sql`insert into test_run_tests (workspace_id, run_id, case_id, title, file, coverage, test_kind, priority, status,
      files, attempt_status, attempt_duration_ms, attempt_started_at, attempt_error_message, attempt_error_stack,
      attempt_files)
    select r.workspace_id, r.id, 'checkout/basket.spec.ts:case-' || n, 'Basket › keeps what is in it, step ' || n,
      'checkout/basket.spec.ts', 'acceptance', 'behavior', case when n % 3 = 0 then 'high' end, status, '[]',
      case when status <> 'skipped' then status end, case when status <> 'skipped' then 1200 + n end,
      case when status <> 'skipped' then now() end,
      case when status = 'failed' then 'Expected 200, got 500' end,
      case when status = 'failed' then repeat(E'Error: Expected 200, got 500\n    at basket.spec.ts:12:9\n', 5) end,
      case when status = 'failed' then '["basket/trace.zip"]'::jsonb when status = 'passed' then '[]'::jsonb end
    from test_runs r, (
      select n, case when n % 10 = 0 then 'failed' when n % 20 = 1 then 'skipped' else 'passed' end as status
      from generate_series(1, ${reads.tests}::int) n
    ) made
    where r.workspace_id = ${reads.id} and r.number = ${reads.runs}`
})

export const analyze = Effect.flatMap(PgClient.PgClient, (sql) => sql`vacuum analyze`)

/** Makes runs in the workspace for writes, one for each finish. The result is the number of the first. */
export const makeRunning = Effect.fnUntraced(function* (count: number) {
  const sql = yield* PgClient.PgClient
  const [made] = yield* sql<{ first: number }>`with counted as (
      update workspaces set last_run_number = last_run_number + ${count}::int where id = ${writes.id}
      returning last_run_number - ${count}::int as before
    ), started as (
      insert into test_runs (id, workspace_id, number, product_id, environment_id, publisher_kind, publisher_id,
        base_url, git_branch, git_sha, git_dirty, git_subject, search, hostname, platform, selection, token_hash,
        state, total, passed, flaky, failed, skipped, duration_ms, started_at, expires_at)
      select ('00000000-0009-7000-8000-' || lpad(to_hex(before + n), 12, '0'))::uuid, ${writes.id}::uuid, before + n,
        ${id(3, 300)}::uuid, ${id(4, 300)}::uuid, 'user', ${person}::uuid, 'https://shop.example', 'main',
        md5(n::text), false, 'Add the basket', '', 'ci', 'linux', '{"folders":[],"caseIds":[]}', gen_random_uuid()::text, 'running', 0, 0, 0,
        0, 0, 0, now(), now() + interval '6 hours'
      from counted, generate_series(1, ${count}::int) n
    )
    select before + 1 as first from counted`
  return made!.first
})

export const startBody = JSON.stringify({
  product: "shop-0",
  environment: "env-0",
  baseUrl: "https://shop.example",
  git: {
    branch: "feature/basket",
    sha: "9fceb02d0ae598e95dc970b74767f19372d61af8",
    dirty: false,
    subject: "Add the basket"
  },
  machine: { hostname: "ci-7", platform: "linux" },
  selection: { coverage: null, folders: [], caseIds: [] }
})
export const finishTests = Array.from({ length: 50 }, (_, n) => ({
  caseId: `checkout/basket.spec.ts:case-${n}`,
  title: `Basket › keeps what is in it, step ${n}`,
  file: "checkout/basket.spec.ts",
  coverage: "acceptance",
  testKind: "behavior",
  priority: null,
  files: [],
  attempt: {
    status: n % 10 === 0 ? "failed" : "passed",
    durationMs: 1200 + n,
    startedAt: "2026-11-21T09:30:10.000Z",
    errorMessage: n % 10 === 0 ? "Expected 200, got 500" : null,
    errorStack: n % 10 === 0 ? "Error: Expected 200, got 500\n    at basket.spec.ts:12:9" : null,
    files: []
  }
}))
export const finishBody = JSON.stringify({ interrupted: false, error: null, durationMs: 64_210, tests: finishTests })
