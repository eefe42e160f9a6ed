import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table persons (
    id uuid primary key,
    name text not null,
    email text not null constraint persons_email_key unique,
    created_at timestamptz not null
  )`
  yield* sql`create table workspaces (
    id uuid primary key,
    slug text not null constraint workspaces_slug_key unique,
    name text not null,
    last_run_number integer not null default 0,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`
  yield* sql`create table members (
    workspace_id uuid not null references workspaces,
    person_id uuid not null references persons,
    role text not null check (role in ('viewer', 'member', 'admin', 'owner')),
    active boolean not null,
    joined_at timestamptz not null,
    constraint members_key primary key (workspace_id, person_id)
  )`
  yield* sql`create index members_person on members (person_id)`
  yield* sql`create table api_keys (
    id uuid primary key,
    person_id uuid references persons,
    workspace_id uuid references workspaces,
    role text check (role in ('viewer', 'member', 'admin')),
    name text not null,
    token_hash text not null constraint api_keys_token_hash_key unique,
    token_prefix text not null,
    last_four text not null,
    created_at timestamptz not null,
    last_used_at timestamptz,
    revoked_at timestamptz,
    constraint api_keys_kind check (
      (person_id is not null and workspace_id is null and role is null) or
      (person_id is null and workspace_id is not null and role is not null)
    )
  )`
  yield* sql`create index api_keys_person on api_keys (person_id, created_at desc) where revoked_at is null`
  yield* sql`create index api_keys_workspace on api_keys (workspace_id, created_at desc) where revoked_at is null`
  yield* sql`create table invites (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    email text not null,
    role text not null check (role in ('viewer', 'member', 'admin', 'owner')),
    token_hash text not null constraint invites_token_hash_key unique,
    inviter_kind text not null check (inviter_kind in ('user', 'apiKey')),
    inviter_id uuid not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    accepted_at timestamptz,
    revoked_at timestamptz
  )`
  yield* sql`create index invites_workspace on invites (workspace_id, created_at desc)`
  yield* sql`create table events (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    kind text not null,
    actor_kind text not null check (actor_kind in ('user', 'apiKey')),
    actor_id uuid not null,
    subject_type text not null,
    subject_id text not null,
    subject_label text not null,
    subject_path text not null,
    changes jsonb not null,
    created_at timestamptz not null
  )`
  yield* sql`create index events_workspace on events (workspace_id, created_at desc, id desc)`
})
