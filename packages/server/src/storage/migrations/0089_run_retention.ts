import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Runs are erased: first their row of `test_runs`, with which they are gone for everybody, then in small steps the rows of
 * other tables that have their id. So these no longer refer to it. Whoever writes them holds the row of the run.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table workspaces add column run_days double precision, add column file_days double precision`
  yield* sql`alter table test_run_tests drop constraint test_run_tests_run_id_fkey`
  yield* sql`alter table test_run_files drop constraint test_run_files_run_id_fkey`
  yield* sql`alter table test_run_retries drop constraint test_run_retries_run_id_fkey`

  // Runs that are gone, some of whose rows may still be there.
  yield* sql`create table erased_runs (
    run_id uuid primary key,
    workspace_id uuid not null
  )`
  // What is kept of finished runs that are gone, for trends and the counts of releases. `durations` are those of the tests
  // that ran, in milliseconds, in no order.
  yield* sql`create table past_runs (
    workspace_id uuid not null references workspaces,
    number integer not null,
    product_id uuid not null,
    environment_id uuid not null,
    deployment_id uuid,
    deployment_version text,
    release integer,
    result text not null,
    total integer not null,
    passed integer not null,
    flaky integer not null,
    failed integer not null,
    skipped integer not null,
    passed_first integer not null,
    duration_ms double precision not null,
    durations double precision[] not null,
    started_at timestamptz not null,
    finished_at timestamptz not null,
    constraint past_runs_key primary key (workspace_id, number)
  )`
  yield* sql`create index past_runs_version on past_runs (workspace_id, product_id, deployment_version)
    where deployment_version is not null`
  yield* sql`create index past_runs_day on past_runs (workspace_id, product_id, finished_at)`

  yield* sql`create index test_runs_ended on test_runs (workspace_id, finished_at) where finished_at is not null`
  yield* sql`create index test_run_files_age on test_run_files (workspace_id, created_at)`

  // The search forgets runs a block at a time, once all of the block are erased.
  yield* sql`alter table test_run_search add column forgotten_runs integer not null default 0,
    add column forgotten_terms integer not null default 0`
})
