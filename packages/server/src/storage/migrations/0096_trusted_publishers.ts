import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Workflows of CI that get keys of a workspace, and which of their tokens were exchanged already. Servers of before use neither. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table trusted_publishers (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    issuer text not null,
    repository_id text not null,
    owner_id text not null,
    workflow text not null,
    ref text,
    environment text,
    allow_pull_requests boolean not null,
    role text not null check (role in ('viewer', 'member', 'admin')),
    scopes jsonb,
    created_by_kind text not null check (created_by_kind in ('user', 'agent', 'apiKey')),
    created_by_id uuid not null,
    created_at timestamptz not null,
    expires_at timestamptz,
    last_used_at timestamptz,
    maker_id uuid
  )`
  yield* sql`create index trusted_publishers_repository
    on trusted_publishers (workspace_id, issuer, repository_id, owner_id)`
  yield* sql`create index trusted_publishers_maker on trusted_publishers (maker_id) where maker_id is not null`
  // By the hash of issuer and id. A row is forgotten when its token has expired.
  yield* sql`create table exchanged_tokens (
    token_hash text primary key,
    expires_at timestamptz not null
  )`
  yield* sql`create index exchanged_tokens_expiry on exchanged_tokens (expires_at)`
})
