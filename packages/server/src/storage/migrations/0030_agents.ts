import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Agents as actors, and events that only those see who see a team. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table agents (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    person_id uuid not null references persons,
    client text not null check (client in ('claude', 'codex', 'cursor')),
    created_at timestamptz not null,
    revoked_at timestamptz
  )`
  yield* sql`create unique index agents_client_key on agents (workspace_id, person_id, client)
    where revoked_at is null`
  yield* sql`alter table events drop constraint events_actor_kind_check`
  yield* sql`alter table events add constraint events_actor_kind_check
    check (actor_kind in ('user', 'agent', 'apiKey'))`
  yield* sql`alter table events add column team_ids uuid[]`
})
