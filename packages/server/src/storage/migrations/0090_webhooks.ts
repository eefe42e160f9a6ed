import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Webhooks, and what they were sent. Whoever serves one holds a lease of it, by the clock of the database. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table webhooks (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    url text not null,
    kinds jsonb,
    format text not null,
    team_id uuid references teams,
    state text not null,
    secret bytea not null,
    previous_secret bytea,
    previous_until timestamptz,
    created_by_kind text not null,
    created_by_id uuid not null,
    maker_id uuid,
    maker_ended_at timestamptz,
    position bigint not null,
    delivery_id uuid,
    due_at timestamptz,
    lease_holder uuid,
    lease_until timestamptz,
    served_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`
  yield* sql`create index webhooks_workspace on webhooks (workspace_id, id)`
  yield* sql`create index webhooks_maker on webhooks (maker_id) where maker_id is not null`
  yield* sql`create index webhooks_active on webhooks (served_at) where state = 'active'`
  yield* sql`create table webhook_deliveries (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    webhook_id uuid not null references webhooks on delete cascade,
    event_id uuid,
    kind text not null,
    position bigint,
    state text not null,
    tries integer not null,
    attempts jsonb not null,
    next_attempt_at timestamptz,
    created_at timestamptz not null
  )`
  yield* sql`create index webhook_deliveries_webhook on webhook_deliveries (webhook_id, id)`
  yield* sql`create index webhook_deliveries_created on webhook_deliveries (created_at)`
})
