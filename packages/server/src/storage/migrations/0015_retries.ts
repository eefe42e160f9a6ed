import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { crc32 } from "node:zlib"

/**
 * The numbers by which an index finds text by its parts: one for each three characters in a row, different in each
 * workspace. A text that holds another has all of its numbers; some others may have them too, so what is found is
 * compared. Migration 0061 replaces them.
 */
export const searchGrams = (workspaceId: string, text: string): ReadonlyArray<number> => {
  const seed = crc32(workspaceId)
  const grams = new Set<number>()
  for (let at = 0; at + gramLength <= text.length; at++) grams.add(crc32(text.slice(at, at + gramLength), seed) | 0)
  return [...grams]
}

/** A shorter text has no numbers. */
const gramLength = 3

/** Makes the runs that have none yet findable by parts of their branch and subject. */
const addGrams = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (let after = "00000000-0000-0000-0000-000000000000"; ;) {
    const runs = yield* sql<{ readonly id: string; readonly workspaceId: string; readonly search: string }>`
      select id, workspace_id as "workspaceId", search from test_runs where id > ${after} order by id limit 1000`
    const last = runs.at(-1)
    if (last === undefined) return
    after = last.id
    const grams = runs.map(({ id, search, workspaceId }) => ({ id, grams: searchGrams(workspaceId, search) }))
    yield* sql`insert into test_run_grams (run_id, grams)
      select (run->>'id')::uuid, array(select jsonb_array_elements_text(run->'grams')::integer)
      from jsonb_array_elements(${JSON.stringify(grams)}::text::jsonb) run
      on conflict do nothing`
  }
})

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // The run's row says which retry runs and until when: its lock decides between starts, finish, expiry and uploads.
  yield* sql`alter table test_runs
    add column retry_count integer not null default 0,
    add column running_retry integer,
    add column running_retry_expires_at timestamptz,
    add constraint test_runs_running_retry check (
      (running_retry is null) = (running_retry_expires_at is null) and (running_retry is null or state = 'finished')
    )`
  yield* sql`create index test_runs_retry_overdue on test_runs (running_retry_expires_at)
    where running_retry is not null`

  yield* sql`create table test_run_retries (
    id uuid primary key,
    workspace_id uuid not null,
    run_id uuid not null references test_runs,
    number integer not null,
    publisher_kind text not null check (publisher_kind in ('user', 'apiKey')),
    publisher_id uuid not null,
    required_passes integer not null check (required_passes between 1 and 5),
    test_count integer not null,
    flaky_count integer not null,
    base_url text not null,
    git_sha text not null,
    git_dirty boolean not null,
    hostname text not null,
    platform text not null,
    token_hash text not null,
    fixture_scope text,
    fixture_url text,
    cleanup_status text check (cleanup_status in ('pending', 'complete', 'incomplete', 'failed')),
    cleanup_deleted integer,
    cleanup_remaining integer,
    state text not null check (state in ('running', 'finished', 'interrupted')),
    started_at timestamptz not null,
    expires_at timestamptz not null,
    finished_at timestamptz,
    constraint test_run_retries_number_key unique (run_id, number),
    constraint test_run_retries_finished check ((state = 'running') = (finished_at is null)),
    constraint test_run_retries_fixture check (
      (fixture_scope is null) = (fixture_url is null) and (fixture_scope is null) = (cleanup_status is null)
    )
  )`
  yield* sql`create unique index test_run_retries_running_key on test_run_retries (run_id) where state = 'running'`
  // A run token dies with its retry.
  yield* sql`create unique index test_run_retries_token_hash_key on test_run_retries (token_hash)
    where state = 'running'`

  // The attempts of retries; a run's own stands with its test.
  yield* sql`create table test_run_attempts (
    workspace_id uuid not null,
    run_id uuid not null,
    case_id text collate "C" not null,
    number integer not null check (number > 1),
    retry integer not null,
    status text not null check (status in ('failed', 'passed')),
    duration_ms double precision not null,
    started_at timestamptz not null,
    error_message text,
    error_stack text,
    files jsonb not null,
    constraint test_run_attempts_key primary key (run_id, case_id, number),
    constraint test_run_attempts_test foreign key (run_id, case_id) references test_run_tests,
    constraint test_run_attempts_retry foreign key (run_id, retry) references test_run_retries (run_id, number)
  )`

  // Finds the runs whose `search` has a part. Beside the runs, whose rows change: this is written once.
  yield* sql`create table test_run_grams (
    run_id uuid primary key,
    grams integer[] not null
  )`
  yield* addGrams
  yield* sql`create index test_run_grams_grams on test_run_grams using gin (grams)`

  // When a signing key is gone from the published set; null for the newest.
  yield* sql`alter table signing_keys add column retires_at timestamptz`
})
