import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Up to which number runs stand in the index. The runs of before are indexed after the start, a block at a time.
  yield* sql`create table test_run_search (
    workspace_id uuid primary key references workspaces,
    indexed_runs integer not null
  )`
  // Which runs of a block have a term: a bit for each run from `first_run` on. Written once, and joined once.
  yield* sql`create table test_run_postings (
    workspace_id uuid not null,
    term integer not null,
    first_run integer not null,
    runs bit varying not null,
    constraint test_run_postings_key primary key (workspace_id, term, first_run)
  )`
  // Beside their row, where a look-up has them at once; long ones are compressed.
  yield* sql`alter table test_run_postings alter column runs set storage main`
  yield* sql`drop table test_run_grams`
  // Folded so from now on.
  yield* sql`update test_runs set search = replace(search, 'ς', 'σ') where search like '%ς%'`
})
