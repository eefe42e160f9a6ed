import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Approvals of writes by a second person. Servers of before neither ask for one nor know that an environment wants them: turn them
 * on when all are new.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table environments add column approvals boolean not null default false`
  yield* sql`create table approvals (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    environment_id uuid not null references environments,
    reason text not null,
    minutes integer not null check (minutes between 5 and 480),
    requested_by_kind text not null check (requested_by_kind in ('user', 'apiKey')),
    requested_by_id uuid not null,
    requester_persons uuid[] not null,
    requester_credential_id uuid not null,
    requested_at timestamptz not null,
    decision text check (decision in ('approved', 'rejected')),
    decided_by_kind text check (decided_by_kind = 'user'),
    decided_by_id uuid,
    decider_credential_id uuid,
    decided_at timestamptz,
    decision_reason text,
    expires_at timestamptz not null,
    ended_by_kind text,
    ended_by_id uuid,
    ended_at timestamptz,
    check ((decision is null) = (decided_by_kind is null) and (decision is null) = (decided_by_id is null)
      and (decision is null) = (decider_credential_id is null) and (decision is null) = (decided_at is null)),
    check ((ended_at is null) = (ended_by_id is null) and (ended_at is null) = (ended_by_kind is null)),
    check (not decided_by_id = any(requester_persons))
  )`
  yield* sql`create index approvals_newest on approvals (workspace_id, id)`
  yield* sql`create index approvals_of_requester on approvals (environment_id, requested_by_id, expires_at)`
})
