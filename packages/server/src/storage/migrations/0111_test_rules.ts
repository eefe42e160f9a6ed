import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Rules that make tickets of failing tests, and the tickets that each has made. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table test_rules (
    id uuid primary key,
    workspace_id uuid not null references workspaces (id),
    product_id uuid not null references products (id),
    environment_id uuid references environments (id),
    branch text,
    coverage text,
    failures integer not null,
    of_last integer not null,
    team_id uuid not null references teams (id),
    project_id uuid references projects (id),
    owner_kind text,
    owner_id uuid,
    ask text,
    above integer not null,
    close_after integer not null,
    author_id uuid not null references persons (id),
    state text not null check (state in ('active', 'stopped')),
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`
  yield* sql`create index test_rules_workspace on test_rules (workspace_id, id)`
  // Every run that finishes asks for those of its product.
  yield* sql`create index test_rules_product on test_rules (product_id)`
  yield* sql`create table test_rule_tickets (
    ticket_id uuid primary key references tickets (id) on delete cascade,
    workspace_id uuid not null,
    rule_id uuid not null references test_rules (id) on delete cascade
  )`
  yield* sql`create index test_rule_tickets_rule on test_rule_tickets (rule_id)`
})
