import { Effect } from "effect"
import { SqlClient } from "effect/sql"

// oxlint-disable-next-line max-lines-per-function -- A migration is history, and stays as it was released.
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // `search` is what `q` looks for parts in: branch and subject, folded by the server, since databases fold differently.
  yield* sql`create table test_runs (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    number integer not null,
    product_id uuid not null references products,
    environment_id uuid not null references environments,
    publisher_kind text not null check (publisher_kind in ('user', 'apiKey')),
    publisher_id uuid not null,
    base_url text not null,
    deployment_base_url text,
    deployment_version text,
    git_branch text not null,
    git_sha text not null,
    git_dirty boolean not null,
    git_subject text not null,
    search text not null,
    hostname text not null,
    platform text not null,
    coverage text check (coverage in ('critical', 'acceptance', 'regression', 'exhaustive')),
    selection jsonb not null,
    token_hash text not null,
    fixture_scope text,
    fixture_url text,
    cleanup_status text check (cleanup_status in ('pending', 'complete', 'incomplete', 'failed')),
    cleanup_deleted integer,
    cleanup_remaining integer,
    state text not null check (state in ('running', 'finished', 'interrupted')),
    result text check (result in ('passed', 'failed')),
    error text,
    total integer not null,
    passed integer not null,
    flaky integer not null,
    failed integer not null,
    skipped integer not null,
    pass_rate double precision,
    first_attempt_pass_rate double precision,
    duration_ms double precision not null,
    started_at timestamptz not null,
    expires_at timestamptz not null,
    finished_at timestamptz,
    constraint test_runs_number_key unique (workspace_id, number),
    constraint test_runs_finished check ((state = 'running') = (finished_at is null)),
    constraint test_runs_fixture check (
      (fixture_scope is null) = (fixture_url is null) and (fixture_scope is null) = (cleanup_status is null)
    )
  )`
  // A run token dies with its run.
  yield* sql`create unique index test_runs_token_hash_key on test_runs (token_hash) where state = 'running'`
  yield* sql`create index test_runs_overdue on test_runs (expires_at) where state = 'running'`
  yield* sql`create index test_runs_product on test_runs (workspace_id, product_id, number desc)`
  yield* sql`create index test_runs_environment on test_runs (workspace_id, environment_id, number desc)`
  yield* sql`create index test_runs_publisher on test_runs (workspace_id, publisher_id, number desc)`
  yield* sql`create index test_runs_commit on test_runs
    (workspace_id, (lower(git_sha collate "C")) collate "C", number desc)`
  yield* sql`create index test_runs_result on test_runs (workspace_id, result, number desc) where result is not null`
  yield* sql`create index test_runs_flaky on test_runs (workspace_id, number desc) where flaky > 0`

  // A test with the first attempt, which is null when it was skipped.
  yield* sql`create table test_run_tests (
    workspace_id uuid not null,
    run_id uuid not null references test_runs,
    case_id text collate "C" not null,
    title text not null,
    file text not null,
    coverage text not null check (coverage in ('critical', 'acceptance', 'regression', 'exhaustive')),
    test_kind text not null,
    priority text,
    status text not null check (status in ('failed', 'flaky', 'passed', 'skipped')),
    files jsonb not null,
    attempt_status text check (attempt_status in ('failed', 'passed')),
    attempt_duration_ms double precision,
    attempt_started_at timestamptz,
    attempt_error_message text,
    attempt_error_stack text,
    attempt_files jsonb,
    constraint test_run_tests_key primary key (run_id, case_id),
    constraint test_run_tests_attempt check ((attempt_status is null) = (status = 'skipped'))
  )`

  yield* sql`create table test_run_files (
    workspace_id uuid not null,
    run_id uuid not null references test_runs,
    path text collate "C" not null,
    blob_id uuid not null constraint test_run_files_blob_key unique,
    size integer not null,
    content_type text not null,
    sha256 text not null,
    created_at timestamptz not null,
    constraint test_run_files_key primary key (run_id, path)
  )`
  // Blobs that no row of test_run_files makes visible: in upload until they lapse, garbage from then on.
  yield* sql`create table pending_blobs (
    id uuid primary key,
    workspace_id uuid not null,
    run_id uuid not null,
    lapses_at timestamptz not null
  )`
  yield* sql`create index pending_blobs_lapses on pending_blobs (lapses_at)`

  // Of the whole service. Two servers that make the same generation at once make it once.
  yield* sql`create table signing_keys (
    generation integer primary key,
    kid text not null constraint signing_keys_kid_key unique,
    public_key jsonb not null,
    sealed_private_key text not null,
    created_at timestamptz not null
  )`
})
