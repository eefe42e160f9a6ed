import { createClient, type PromiseClient, type SetReadinessPolicy } from "@delivery/client"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { apiKey, open } from "./Bench.ts"
import { connection } from "./Database.ts"
import { median, start } from "./Processes.ts"
import { percentile95 } from "./RunFilters.ts"

/**
 * Whether a version may go out: the answers over HTTP at 1,000 secrets and 100,000 runs of one version, and the delivery metrics of a
 * year of releases. `node bench/readiness.ts 10000 100` takes fewer. Run it with `pnpm bench:readiness`.
 */
const runs = Number(process.argv[2] ?? 100_000)
const secrets = Number(process.argv[3] ?? 1_000)
const rounds = 200
const [releases, commitsOfRelease] = [2_000, 10]

const environments = ["staging", "production", "qa", "dev"]
const coverages = ["critical", "acceptance", "regression"] as const
const params = { slug: "main" }
const place = { ...params, product: "shop", environment: "production" }

const makeShop = async (client: PromiseClient) => {
  await client.products.create({ params, payload: { slug: "shop", name: "Shop", type: "library" } })
  for (const slug of environments) {
    const environmentClass = slug === "production" ? "production" : "non-production"
    await client.environments.create({ params, payload: { slug, name: slug, class: environmentClass } })
    await client.deployments.create({ params, payload: { product: "shop", environment: slug, version: "v1" } })
  }
  await client.teams.create({ params, payload: { key: "ENG", name: "Engineering" } })
  await client.projects.create({
    params,
    payload: { slug: "checkout", name: "Checkout", teams: ["ENG"], products: ["shop"] }
  })
  for (let n = 0; n < 200; n++) {
    const payload = { team: "ENG", title: `Ticket ${n}`, project: "checkout", blocks: n % 10 === 0 }
    await client.tickets.create({ params, payload })
  }
}

const setSecrets = async (client: PromiseClient, to: ReadonlyArray<string>) => {
  for (let n = 0; n < secrets; n++) {
    const payload = { products: ["shop"], environments: to, name: `SECRET_${n}`, value: "x".repeat(64) }
    await client.vault.assign({ params, payload })
  }
}

/** Runs that have finished, those of a version in one environment or in all, a third of them of each coverage. */
const fillRuns = (version: string, environment: string | null, from: number) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql`insert into test_runs (id, workspace_id, number, product_id, environment_id, publisher_kind, publisher_id,
        base_url, deployment_version, git_branch, git_sha, git_dirty, git_subject, search, hostname, platform, selection, coverage,
        token_hash, state, result, total, passed, flaky, failed, skipped, pass_rate, first_attempt_pass_rate, duration_ms, started_at,
        expires_at, finished_at, deployment_id, release, first_test_at, last_test_at)
      select gen_random_uuid(), p.workspace_id, n, p.id, e.id, 'user', (select id from persons limit 1), 'https://shop.example',
        ${version}, 'main', md5(n::text) || '00000000', false, 'subject', 'search', 'ci', 'linux', '{"folders":[],"caseIds":[]}',
        (array['critical', 'acceptance', 'regression'])[1 + n % 3], 'made-' || n, 'finished', 'passed', 50, 50, 0, 0, 0, 1, 1, 60000,
        now(), now(), now(), d.id, d.release, now(), now()
      from products p cross join generate_series(${from}::int, ${from + runs - 1}::int) n
        join (select id, slug, row_number() over (order by slug) - 1 as place from environments) e
          on ${environment === null ? sql`e.place = n / 3 % 4` : sql`e.slug = ${environment}`}
        join deployments d on d.product_id = p.id and d.environment_id = e.id`
    yield* sql`update workspaces set last_run_number = ${from + runs}`
    yield* sql`vacuum analyze test_runs`
  })

const [failing, testsOfRun] = [400, 500]

/** Runs in staging of as many versions, in each of which ten tests failed that no later one has, and one of a version after them that passed. */
const fillFailures = (from: number) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql`insert into test_runs select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'number', ${from}::int + n,
        'token_hash', 'failing-' || n, 'deployment_version', case when n = ${failing}::int then 'last' else 'w' || n end,
        'coverage', 'critical', 'result', case when n = ${failing}::int then 'passed' else 'failed' end,
        'total', ${testsOfRun}::int, 'passed', ${testsOfRun}::int - 10, 'failed', case when n = ${failing}::int then 0 else 10 end,
        'finished_at', r.finished_at + n * interval '1 second'))).*
      from test_runs r, generate_series(1, ${failing}::int) n where r.id = (
        select t.id from test_runs t join environments e on e.id = t.environment_id and e.slug = 'staging' limit 1
      )`
    yield* sql`insert into test_run_tests (workspace_id, run_id, case_id, title, file, coverage, test_kind, status, files,
        attempt_status, attempt_duration_ms, attempt_started_at, attempt_files)
      select r.workspace_id, r.id, c.case_id, c.case_id, 'a.test.ts', 'critical', 'e2e', c.status, '[]', c.status, 5, r.started_at, '[]'
      from test_runs r cross join lateral (
        select case when n <= 10 then r.number || ' ' else '' end || 'case ' || n as case_id,
          case when n <= 10 and r.result = 'failed' then 'failed' else 'passed' end as status
        from generate_series(1, ${testsOfRun}::int) n
      ) c
      where r.token_hash like 'failing-%'`
    yield* sql`update workspaces set last_run_number = ${from + failing}`
    yield* sql`vacuum analyze test_runs, test_run_tests`
  })

/** A year of releases to production, every tenth a rollback, with commits of an hour before. */
const fillReleases = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`insert into deployment_releases (workspace_id, deployment_id, number, product_id, environment_id, version, at)
    select d.workspace_id, d.id, n, d.product_id, d.environment_id, 'r' || case when n % 10 = 0 then n - 2 else n end,
      now() - (${releases}::int - n) * interval '364 days' / ${releases}::int
    from deployments d join environments e on e.id = d.environment_id and e.slug = 'production'
      cross join generate_series(2, ${releases}::int) n`
  yield* sql`insert into version_commits (id, workspace_id, product_id, version, sha, subject, at)
    select gen_random_uuid(), r.workspace_id, r.product_id, r.version, md5(r.number || ' ' || c), 'Change', r.at - interval '1 hour'
    from deployment_releases r cross join generate_series(1, ${commitsOfRelease}::int) c where r.number % 10 <> 0 and r.number > 1`
  yield* sql`vacuum analyze deployment_releases, version_commits`
})

/**
 * Until the server has indexed and counted the planted runs, which it does for a while after them: where it has come to stands still for
 * two seconds. Then all is vacuumed, as autovacuum does within a minute.
 */
const settle = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const place = Effect.map(
    sql<{ readonly place: string }>`select concat_ws(' ', (select max(indexed_runs) from test_run_search),
      (select max(seen_runs) from case_counting), (select count(*) from case_queue)) as place`,
    ([row]) => row!.place
  )
  for (let [before, now] = ["", yield* place]; before !== now;) {
    yield* Effect.sleep("2 seconds")
    before = now
    now = yield* place
  }
  yield* sql`vacuum analyze`
})

const measure = async (baseUrl: string, name: string, path: string) => {
  const times: Array<number> = []
  let [bytes, count] = [0, 0]
  for (let round = -10; round < rounds; round++) {
    const began = performance.now()
    const response = await fetch(`${baseUrl}/v1/workspaces/main/${path}`, {
      headers: { authorization: `Bearer ${apiKey}`, "accept-encoding": "identity" }
    })
    const text = await response.text()
    if (round >= 0) times.push(performance.now() - began)
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
    bytes = text.length
    count = (JSON.parse(text) as { reasons?: ReadonlyArray<unknown> }).reasons?.length ?? 0
  }
  console.log(
    `| ${name} | ${count} | ${(bytes / 1_024).toFixed(0)} KB | ${median(times).toFixed(1)} | ${percentile95(times).toFixed(1)} |`
  )
}

const bench = await open()
const inDatabase = <A, E>(effect: Effect.Effect<A, E, PgClient.PgClient>) =>
  Effect.runPromise(Effect.scoped(Effect.provide(effect, PgClient.layer(connection(bench.databaseUrl)))))
try {
  const server = await start("packages/server/src/cli/main.ts", ["serve"], {
    ...bench.settings,
    BASE_URL: "http://127.0.0.1",
    LOG_LEVEL: "warn"
  })
  try {
    const client = createClient({ baseUrl: server.baseUrl, apiKey })
    await makeShop(client)
    await setSecrets(client, ["staging", "production"])
    const { token } = await client.deploymentTokens.create({ params: place, payload: { name: "bench" } })
    const loaded = await fetch(`${server.baseUrl}/deploy/v1/secrets`, { headers: { authorization: `Bearer ${token}` } })
    await loaded.text()
    await inDatabase(fillRuns("v1", null, 1))
    await inDatabase(fillReleases)
    await inDatabase(settle)
    const policy: SetReadinessPolicy = {
      from: "staging",
      requires: coverages.map((coverage) => ({ coverage })),
      tickets: "block",
      secrets: "block",
      drift: "block",
      mutes: "block"
    }
    await client.readiness.setPolicy({ params: place, payload: policy })
    const path = "deployments/shop/production"
    console.log(
      `${runs} runs of one version, ${secrets} secrets, 200 tickets of which 20 block; answers over HTTP one after the other, ${rounds} ` +
        "calls each after 10, milliseconds.\n\n| Answer | Reasons | Size | median | p95 |\n|---|---|---|---|---|"
    )
    await measure(server.baseUrl, "readiness", `${path}/readiness?version=v1`)
    await measure(server.baseUrl, "readiness of a version without runs", `${path}/readiness?version=v2`)
    await inDatabase(fillRuns("v3", "production", runs + 1))
    await inDatabase(settle)
    await measure(server.baseUrl, "as many runs, all in production itself", `${path}/readiness?version=v3`)
    await inDatabase(fillFailures(2 * runs))
    await inDatabase(settle)
    await measure(server.baseUrl, `${failing} versions with failures before it`, `${path}/readiness?version=last`)
    await measure(server.baseUrl, "drift", `${path}/drift`)
    await setSecrets(client, ["production"])
    await measure(server.baseUrl, "readiness, every secret changed", `${path}/readiness?version=v1`)
    await measure(server.baseUrl, "drift, every secret changed", `${path}/drift`)
    const year = new Date(Date.now() - 364 * 86_400_000).toISOString().slice(0, 10)
    await measure(server.baseUrl, "delivery metrics of 30 days", "metrics/delivery")
    await measure(server.baseUrl, `delivery metrics of ${releases} releases of a year`, `metrics/delivery?from=${year}`)
  } finally {
    await server.end()
  }
} finally {
  await bench.close()
}
