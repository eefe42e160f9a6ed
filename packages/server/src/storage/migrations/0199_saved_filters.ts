import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Filters of the list of runs and of those of tests, under names. Servers of before do not know them. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table saved_filters (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    screen text not null check (screen in ('runs', 'tests')),
    person_id uuid references persons,
    name text not null,
    product_id uuid references products,
    environment_id uuid references environments,
    filters jsonb not null,
    creator_kind text not null check (creator_kind in ('user', 'agent', 'apiKey')),
    creator_id uuid not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint saved_filters_product check (screen <> 'tests' or product_id is not null)
  )`
  yield* sql`create index saved_filters_list on saved_filters (workspace_id, screen, person_id)`
})
