import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Tokens of deployments, and what products have read with them. Nothing is changed of what servers of before the migration
 * use: they give entries of the audit the count of one.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table deployment_tokens (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    deployment_id uuid not null references deployments,
    name text not null,
    token_hash text not null constraint deployment_tokens_token_hash_key unique,
    token_prefix text not null,
    last_four text not null,
    allowed_addresses jsonb,
    created_by_id uuid not null references persons,
    created_at timestamptz not null,
    expires_at timestamptz,
    last_used_at timestamptz,
    last_used_from text,
    revoked_at timestamptz,
    replaced_by uuid,
    maker_id uuid
  )`
  yield* sql`create index deployment_tokens_deployment on deployment_tokens (workspace_id, deployment_id)
    where revoked_at is null`
  yield* sql`create index deployment_tokens_maker on deployment_tokens (maker_id)
    where maker_id is not null and revoked_at is null`
  yield* sql`create index deployment_tokens_expiry on deployment_tokens (expires_at) where revoked_at is null`
  // The networks that a token came from.
  yield* sql`create table deployment_token_networks (
    workspace_id uuid not null,
    token_id uuid not null references deployment_tokens,
    network text not null,
    first_used_at timestamptz not null,
    constraint deployment_token_networks_key primary key (token_id, network)
  )`
  // The last entry of the audit about each thing that a token asks for from an address.
  yield* sql`create table deployment_token_reads (
    workspace_id uuid not null,
    token_id uuid not null references deployment_tokens,
    address text not null,
    subject_id uuid not null,
    fingerprint text not null,
    entry_id uuid not null,
    began_at timestamptz not null,
    constraint deployment_token_reads_key primary key (token_id, address, subject_id)
  )`
  // Which versions a product has: the last that were read in its deployment, by the id of the secret.
  yield* sql`create table deployment_loads (
    workspace_id uuid not null,
    deployment_id uuid primary key references deployments,
    loaded_at timestamptz not null,
    versions jsonb not null
  )`
  yield* sql`alter table audit_entries add column secrets jsonb, add column count integer not null default 1`
  // Rows of before are right, and not looked at again.
  yield* sql`alter table events drop constraint events_actor_kind_check`
  yield* sql`alter table events add constraint events_actor_kind_check
    check (actor_kind in ('user', 'agent', 'apiKey', 'deploymentToken')) not valid`
})
