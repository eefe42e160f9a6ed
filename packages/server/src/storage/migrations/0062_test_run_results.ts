import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // From now on the index says which results runs have, no longer those that they may come to have, and how many runs
  // of a block have a term. The runs of before are indexed after the start.
  yield* sql`delete from test_run_search`
  yield* sql`drop table test_run_postings`
  yield* sql`create table test_run_postings (
    workspace_id uuid not null,
    term integer not null,
    first_run integer not null,
    run_count integer not null,
    runs bit varying not null,
    constraint test_run_postings_key primary key (workspace_id, term, first_run) include (run_count)
  )`
  yield* sql`alter table test_run_postings alter column runs set storage main`
  // Runs of which the index says other results than they have: too many of those that ran when they were indexed, and
  // too few of those that were retried since, which are looked up beside it.
  yield* sql`create table test_run_reindex (
    workspace_id uuid not null references workspaces,
    number integer not null,
    retried boolean not null,
    constraint test_run_reindex_key primary key (workspace_id, number)
  )`
  yield* sql`create index test_run_reindex_retried on test_run_reindex (workspace_id, number) where retried`
})
