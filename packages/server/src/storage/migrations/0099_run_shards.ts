import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Shards of one CI build that publish one run. Servers of before start and finish runs that have none. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table test_runs
    add column build text,
    add column build_publisher_id uuid,
    add column shard_total integer,
    add column shards_started integer,
    add column shards_finished integer`
  yield* sql`create unique index test_runs_build_key
    on test_runs (workspace_id, product_id, environment_id, build_publisher_id, build) where build is not null`
  yield* sql`create table test_run_shards (
    workspace_id uuid not null,
    run_id uuid not null,
    number integer not null,
    publisher_kind text not null check (publisher_kind in ('user', 'apiKey')),
    publisher_id uuid not null,
    maker_id uuid,
    token_hash text not null,
    started_at timestamptz not null,
    finished_at timestamptz,
    report_hash text,
    interrupted boolean,
    error text,
    duration_ms double precision,
    cleanup_status text check (cleanup_status in ('complete', 'incomplete', 'failed')),
    cleanup_deleted integer,
    cleanup_remaining integer,
    characters integer,
    constraint test_run_shards_key primary key (run_id, number),
    constraint test_run_shards_finished check (
      (finished_at is null) = (report_hash is null) and (finished_at is null) = (interrupted is null)
        and (finished_at is null) = (duration_ms is null) and (finished_at is null) = (characters is null)
    )
  )`
  // The token of a shard dies with it.
  yield* sql`create unique index test_run_shards_token_hash_key on test_run_shards (token_hash) where finished_at is null`
})
