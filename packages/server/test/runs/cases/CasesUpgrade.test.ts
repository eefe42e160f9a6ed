import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import type { EnvironmentId, PersonId, ProductId, RetryId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import { maxRunErrorCharacters } from "@delivery/domain/runs/RunErrorLimit"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer, Logger, Redacted } from "effect"
import { Migrator } from "effect/sql"
import { inject } from "vitest"
import { layerSqlRepositories } from "../../../src/App.ts"
import { CasesRepo } from "../../../src/runs/cases/CasesRepo.ts"
import * as Runs from "../../../src/runs/Runs.ts"
import { migrations } from "../../../src/storage/Migrations.ts"
import { newId } from "../../identity/Scene.ts"
import { createDatabase } from "../../support/Databases.ts"
import { countAll } from "./CasesScene.ts"

/** What was there before results were counted, and what servers of before do beside newer ones. */

const migrate = (upTo: number) =>
  Migrator.make({})({
    loader: Migrator.fromRecord(
      Object.fromEntries(Object.entries(migrations).filter(([name]) => Number.parseInt(name, 10) <= upTo))
    )
  })

const [before, now] = [91, 9_999]

/** A product, and what a server of before stores of its runs. */
const makeOld = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [workspaceId, personId] = [newId<WorkspaceId>(), newId<PersonId>()]
  const [productId, environmentId] = [newId<ProductId>(), newId<EnvironmentId>()]
  const at = new Date(yield* Clock.currentTimeMillis)
  yield* sql`insert into workspaces (id, slug, name, created_at, updated_at) values (${workspaceId}, 'main', 'Main', ${at}, ${at})`
  yield* sql`insert into products (id, workspace_id, slug, name, type, created_at, updated_at)
    values (${productId}, ${workspaceId}, 'shop', 'Shop', 'library', ${at}, ${at})`
  yield* sql`insert into environments (id, workspace_id, slug, name, class, created_at, updated_at)
    values (${environmentId}, ${workspaceId}, 'ci', 'CI', 'non-production', ${at}, ${at})`
  const start = Effect.fnUntraced(function* () {
    const id = newId<TestRunId>()
    yield* sql`with counted as (
        update workspaces set last_run_number = last_run_number + 1 where id = ${workspaceId} returning last_run_number
      )
      insert into test_runs (id, workspace_id, number, product_id, environment_id, publisher_kind, publisher_id, base_url,
        git_branch, git_sha, git_dirty, git_subject, search, hostname, platform, selection, token_hash, state, total, passed,
        flaky, failed, skipped, duration_ms, started_at, expires_at)
      select ${id}::uuid, ${workspaceId}::uuid, last_run_number, ${productId}::uuid, ${environmentId}::uuid, 'user',
        ${personId}::uuid, 'https://shop.example', 'main', 'abc', false, '', '', '', '', '{}', ${id}, 'running', 0, 0, 0, 0, 0,
        0, ${at}::timestamptz, ${at}::timestamptz + interval '1 hour'
      from counted`
    return id
  })
  const finish = Effect.fnUntraced(function* (id: TestRunId, status: "passed" | "failed") {
    yield* sql`update test_runs set state = 'finished', result = ${status}, finished_at = ${at}, total = 1 where id = ${id}`
    yield* sql`insert into test_run_tests (workspace_id, run_id, case_id, title, file, coverage, test_kind, status, files,
        attempt_status, attempt_duration_ms, attempt_started_at, attempt_files)
      values (${workspaceId}, ${id}, 'a', 'A', 'a.spec.ts', 'acceptance', 'journey', ${status}, '[]', ${status}, 5, ${at}, '[]')`
  })
  const retried = Effect.fnUntraced(function* (id: TestRunId) {
    const retry = newId<RetryId>()
    yield* sql`insert into test_run_retries (id, workspace_id, run_id, number, publisher_kind, publisher_id, required_passes,
        test_count, flaky_count, base_url, git_sha, git_dirty, hostname, platform, token_hash, state, started_at, expires_at)
      values (${retry}, ${workspaceId}, ${id}, 1, 'user', ${personId}, 1, 1, 0, '', 'abc', false, '', '', ${retry}, 'running',
        ${at}, ${at})`
    yield* sql`update test_run_retries set state = 'finished', finished_at = ${at} where id = ${retry}`
    yield* sql`update test_run_tests set status = 'flaky' where run_id = ${id}`
    yield* sql`update test_runs set retry_count = 1, result = 'passed' where id = ${id}`
    yield* sql`insert into test_run_attempts (workspace_id, run_id, case_id, number, retry, status, duration_ms, started_at, files)
      values (${workspaceId}, ${id}, 'a', 2, 1, 'passed', 7, ${at}, '[]')`
  })
  const results = Effect.gen(function* () {
    const repo = yield* CasesRepo
    const scope = { workspaceId, productId, environmentId }
    const found = yield* repo.results(scope, "a", undefined, 100)
    return found.map(({ durationMs, run, status }) => [run, status, durationMs])
  })
  return { sql, start, finish, retried, results, at }
})

it.live("errors of runs of before are shortened to what is kept of an error", () =>
  Effect.gen(function* () {
    const { url } = yield* createDatabase(inject("postgresUrl"))
    yield* Effect.gen(function* () {
      yield* migrate(before)
      const { finish, sql, start } = yield* makeOld
      const [long, short] = [yield* start(), yield* start()]
      for (const id of [long, short]) yield* finish(id, "failed")
      yield* sql`update test_runs set error = ${"\u{1F680}".repeat(50_000)} where id = ${long}`
      yield* sql`update test_runs set error = 'No server' where id = ${short}`
      yield* migrate(now)
      assert.deepStrictEqual(yield* sql`select error from test_runs order by number`, [
        { error: "\u{1F680}".repeat(maxRunErrorCharacters) },
        { error: "No server" }
      ])
    }).pipe(Effect.provide([PgClient.layer({ url: Redacted.make(url), maxConnections: 3 }), Logger.layer([])]))
  }).pipe(Effect.scoped)
)

it.live("runs of before are counted behind the start, and so are those that servers of before finish and retry", () =>
  Effect.gen(function* () {
    const { url } = yield* createDatabase(inject("postgresUrl"))
    const connected = PgClient.layer({ url: Redacted.make(url), maxConnections: 3 })
    const layer = Layer.provideMerge(Layer.provideMerge(Runs.layerHost, layerSqlRepositories), connected)
    yield* Effect.gen(function* () {
      yield* migrate(before)
      const { at, finish, results, retried, sql, start } = yield* makeOld
      const [one, two, three, four] = [yield* start(), yield* start(), yield* start(), yield* start()]
      yield* finish(one, "passed")
      yield* finish(two, "failed")
      yield* finish(three, "failed")
      yield* migrate(now)
      yield* countAll
      assert.deepStrictEqual(yield* results, [
        [3, "failed", 5],
        [2, "failed", 5],
        [1, "passed", 5]
      ])
      const five = yield* start()
      yield* countAll
      yield* finish(four, "passed")
      yield* finish(five, "failed")
      yield* retried(two)
      yield* countAll
      assert.deepStrictEqual(yield* results, [
        [5, "failed", 5],
        [4, "passed", 5],
        [3, "failed", 5],
        [2, "flaky", 7],
        [1, "passed", 5]
      ])
      const [queue] = yield* sql<{ readonly count: number }>`select count(*)::int as count from case_queue`
      assert.strictEqual(queue!.count, 0)
      const [trend] = yield* sql<{ readonly runs: number; readonly day: string }>`
        select runs, day::text from product_days order by day desc limit 1`
      assert.deepStrictEqual(trend, { runs: 5, day: timestamp(at.getTime()).slice(0, 10) })
    }).pipe(Effect.provide([layer, Logger.layer([])]))
  }).pipe(Effect.scoped)
)
