import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // What proves that a vault key of an id is the one it was: a known text, sealed under it.
  yield* sql`create table vault_canaries (
    key_id text primary key,
    sealed text not null
  )`
  // `key_id` repeats what `sealed` says, so that keys in use can be counted.
  yield* sql`create table vault_data_keys (
    id uuid primary key,
    workspace_id uuid not null references workspaces constraint vault_data_keys_workspace_key unique,
    key_id text not null,
    sealed text not null,
    created_at timestamptz not null
  )`
  yield* sql`create index vault_data_keys_key on vault_data_keys (key_id, id)`

  // A deleted secret stays for 30 days.
  yield* sql`create table secrets (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    product_id uuid not null references products,
    name text collate "C" not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    deleted_at timestamptz
  )`
  yield* sql`create unique index secrets_name_key on secrets (workspace_id, product_id, name) where deleted_at is null`
  yield* sql`create index secrets_name on secrets (workspace_id, name) where deleted_at is null`
  yield* sql`create index secrets_deleted on secrets (deleted_at) where deleted_at is not null`
  // The current version of each environment; where nothing was ever set there is no row.
  yield* sql`create table secret_values (
    workspace_id uuid not null,
    secret_id uuid not null references secrets,
    environment_id uuid not null references environments,
    version integer not null check (version > 0),
    constraint secret_values_key primary key (secret_id, environment_id)
  )`
  yield* sql`create index secret_values_environment on secret_values (environment_id)`
  // Every version; one that cleared has no sealed value.
  yield* sql`create table secret_versions (
    workspace_id uuid not null,
    secret_id uuid not null references secrets,
    environment_id uuid not null references environments,
    version integer not null check (version > 0),
    source text not null check (source in ('edit', 'assignment', 'generation')),
    sealed bytea,
    actor_kind text not null check (actor_kind in ('user', 'apiKey')),
    actor_id uuid not null,
    created_at timestamptz not null,
    constraint secret_versions_key primary key (secret_id, environment_id, version)
  )`

  // What a request with a requestId wrote: versions, never values.
  yield* sql`create table vault_requests (
    workspace_id uuid not null references workspaces,
    actor_kind text not null check (actor_kind in ('user', 'apiKey')),
    actor_id uuid not null,
    operation text not null check (operation in ('create', 'update', 'assign', 'generate')),
    request_id text collate "C" not null,
    fingerprint text not null,
    written jsonb,
    created_at timestamptz not null,
    constraint vault_requests_key primary key (workspace_id, actor_kind, actor_id, operation, request_id)
  )`
  yield* sql`create index vault_requests_created on vault_requests (created_at)`
  // Who read or wrote which versions. Rows outlive what they name.
  yield* sql`create table vault_audit (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    action text not null check (action in ('read', 'create', 'update', 'delete', 'assign', 'generate')),
    actor_kind text not null check (actor_kind in ('user', 'apiKey')),
    actor_id uuid not null,
    name text not null,
    new_name text,
    entries jsonb not null,
    request_id text not null,
    created_at timestamptz not null
  )`
  yield* sql`create index vault_audit_workspace on vault_audit (workspace_id, created_at desc, id desc)`

  // Whether a pair was ever deployed: its deleted deployments too.
  yield* sql`create index deployments_pair on deployments (workspace_id, product_id, environment_id)`
})
