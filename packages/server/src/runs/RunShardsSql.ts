import type { TestRunId } from "@delivery/domain/Ids"
import { type RecordedTest, severities, tallyOf } from "@delivery/domain/runs/TestResults"
import type { Counts } from "@delivery/domain/runs/TestRun"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { storeInParts } from "../storage/Parts.ts"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"
import { columnName, columnsOf, readerOf, type SelectedRow } from "../storage/Table.ts"
import { type HeldRun, reportedShard, RunShardsRepo, testRunShards } from "./RunShardsRepo.ts"
import { insertTests, withTestTimes } from "./TestRunChangesSql.ts"
import { testRunTests } from "./TestRunsRepo.ts"
import { charactersOfTest } from "./TestSize.ts"
import { testTimesOf } from "./TestTimes.ts"

export const layer = Layer.effect(
  RunShardsRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return RunShardsRepo.of({
      holdBuild: holdBuild(sql),
      open: open(sql),
      markDirty: (run) =>
        sql`update test_runs set git_dirty = true where id = ${run}`.pipe(Effect.asVoid, dieOnSqlError),
      start: start(sql),
      holdRun: holdRun(sql),
      stateOf: stateOf(sql),
      finish: finish(sql)
    })
  })
)

type Service = RunShardsRepo["Service"]

const heldColumns = `id, number, state, expires_at as "expiresAt", shard_total as "shardTotal", fixture_scope as scope,
  fixture_url as "fixtureUrl", json_build_object('sha', git_sha, 'dirty', git_dirty) as git, base_url as "baseUrl",
  deployment_base_url as "deploymentBaseUrl",
  json_build_object('coverage', coverage, 'folders', selection->'folders', 'caseIds', selection->'caseIds') as selection`

type HeldRow = Omit<HeldRun, "expiresAt"> & { readonly expiresAt: Date }

const readHeld = ([row]: ReadonlyArray<HeldRow>): HeldRun | undefined =>
  row && { ...row, expiresAt: iso(row.expiresAt) }

/** An advisory lock, since the run of a build may not be there yet. */
const holdBuild =
  (sql: PgClient.PgClient): Service["holdBuild"] =>
  ({ build, environmentId, productId, publisherId, workspaceId }) => {
    const name = `build:${workspaceId}:${productId}:${environmentId}:${publisherId}:${build}`
    return sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))::text`.pipe(
      Effect.andThen(
        sql<HeldRow>`select ${sql.literal(heldColumns)} from test_runs
          where workspace_id = ${workspaceId} and product_id = ${productId} and environment_id = ${environmentId}
            and build_publisher_id = ${publisherId} and build = ${build}
          for no key update`
      ),
      Effect.map(readHeld),
      dieOnSqlError
    )
  }

const open =
  (sql: PgClient.PgClient): Service["open"] =>
  (run, { build, publisherId }, total) =>
    sql`update test_runs set build = ${build}, build_publisher_id = ${publisherId},
        shard_total = ${PgTypes.int4(total)}, shards_started = 0, shards_finished = 0
      where id = ${run}`.pipe(Effect.asVoid, dieOnSqlError)

const start =
  (sql: PgClient.PgClient): Service["start"] =>
  ({ makerId, number, publisher, runId, startedAt, tokenHash, workspaceId }) =>
    sql`insert into test_run_shards as s (workspace_id, run_id, number, publisher_kind,
        publisher_id, maker_id, token_hash, started_at)
      values (${workspaceId}, ${runId}, ${PgTypes.int4(number)}, ${publisher.kind}, ${publisher.id},
        ${makerId}::uuid, ${tokenHash}, ${date(startedAt)})
      on conflict on constraint test_run_shards_key do update set publisher_kind = excluded.publisher_kind,
        publisher_id = excluded.publisher_id, maker_id = excluded.maker_id, token_hash = excluded.token_hash,
        started_at = excluded.started_at
      where s.finished_at is null
      returning number`.pipe(
      Effect.tap(() => countStarted(sql, runId)),
      Effect.map((rows) => rows.length > 0),
      dieOnSqlError
    )

const countStarted = (sql: PgClient.PgClient, run: TestRunId) =>
  sql`update test_runs set shards_started = (select count(*)::integer from test_run_shards where run_id = ${run})
    where id = ${run}`

const holdRun =
  (sql: PgClient.PgClient): Service["holdRun"] =>
  (run) =>
    sql<HeldRow>`select ${sql.literal(heldColumns)} from test_runs
      where id = ${run} and shard_total is not null for no key update`.pipe(Effect.map(readHeld), dieOnSqlError)

const stateOf =
  (sql: PgClient.PgClient): Service["stateOf"] =>
  (run, number) =>
    sql<{ readonly finishedAt: Date | null; readonly reportHash: string | null }>`
      select finished_at as "finishedAt", report_hash as "reportHash" from test_run_shards
      where run_id = ${run} and number = ${PgTypes.int4(number)}`.pipe(
      Effect.map(
        ([row]) =>
          row && { reportHash: row.reportHash, finishedAt: row.finishedAt === null ? null : iso(row.finishedAt) }
      ),
      dieOnSqlError
    )

const finish = (sql: PgClient.PgClient): Service["finish"] => {
  const store = mergeTests(sql)
  const read = reports(sql)
  return Effect.fnUntraced(function* (shard, tests) {
    const { runId } = shard
    yield* storeInParts(sql, tests, {
      sizeOf: charactersOfTest,
      store: (part) => store(runId, part),
      decide: (rest) => store(runId, rest)
    })
    yield* sql`update test_run_shards set finished_at = ${date(shard.finishedAt)}, report_hash = ${shard.reportHash},
        interrupted = ${shard.interrupted}, error = ${shard.error}, duration_ms = ${PgTypes.float8(shard.durationMs)},
        cleanup_status = ${shard.cleanup?.status ?? null},
        cleanup_deleted = ${PgTypes.int4(shard.cleanup?.deleted ?? null)},
        cleanup_remaining = ${PgTypes.int4(shard.cleanup?.remaining ?? null)},
        characters = ${PgTypes.int4(shard.characters)}
      where run_id = ${runId} and number = ${PgTypes.int4(shard.number)}`
    const reported = yield* read(runId)
    const { counts, firstAttemptPassRate, passRate } = reported.tally
    yield* sql`update test_runs set shards_finished = ${PgTypes.int4(reported.shards.length)},
        total = ${counts.total}, passed = ${counts.passed}, failed = ${counts.failed}, skipped = ${counts.skipped},
        pass_rate = ${PgTypes.float8(passRate)}, first_attempt_pass_rate = ${PgTypes.float8(firstAttemptPassRate)},
        ${withTestTimes(sql, testTimesOf(tests, shard.finishedAt))}
      where id = ${runId}`
    return reported
  }, dieOnSqlError)
}

const readShard = readerOf(testRunShards)

const reports = (sql: PgClient.PgClient) => {
  const columns = sql.literal(columnsOf(testRunShards))
  return Effect.fnUntraced(function* (run: TestRunId) {
    const rows = yield* sql<SelectedRow>`select ${columns} from test_run_shards
      where run_id = ${run} and finished_at is not null order by number`
    const [counts] = yield* sql<Counts>`select count(*)::integer as total,
        count(*) filter (where status = 'passed')::integer as passed, 0 as flaky,
        count(*) filter (where status = 'failed')::integer as failed,
        count(*) filter (where status = 'skipped')::integer as skipped
      from test_run_tests where run_id = ${run}`
    const shards = rows.map(readShard)
    return {
      shards: shards.map(reportedShard),
      characters: shards.reduce((sum, { characters }) => sum + (characters ?? 0), 0),
      tally: tallyOf(counts!)
    }
  })
}

/** All of a test but what identifies it. */
const testValues = Object.keys(testRunTests.columns)
  .map(columnName)
  .filter((column) => !["workspace_id", "run_id", "case_id"].includes(column))

/** Inserts tests; of those that are there, the worse stay (`withTestsOfShard`). */
const mergeTests = (sql: PgClient.PgClient) => {
  const severity = (test: string) => `array_position(array['${severities.join("', '")}'], ${test}.status)`
  const replacement = sql.literal(`on conflict on constraint test_run_tests_key do update set
    ${testValues.map((column) => `${column} = excluded.${column}`).join(", ")}
    where ${severity("excluded")} > ${severity("test_run_tests")}`)
  return (run: TestRunId, tests: ReadonlyArray<RecordedTest>) =>
    tests.length === 0
      ? Effect.void
      : Effect.asVoid(
          sql`with held as (select id, workspace_id from test_runs where id = ${run})
            ${insertTests(sql, "held", tests)} ${replacement}`
        )
}
