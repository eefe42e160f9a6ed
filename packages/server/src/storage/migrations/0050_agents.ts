import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Computers, sessions and sign-ins of agents. A sign-in that ended is no more, nor are its tokens. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table computers (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    agent_id uuid not null references agents,
    name text not null,
    created_at timestamptz not null,
    last_seen_at timestamptz not null,
    constraint computers_name_key unique (workspace_id, agent_id, name)
  )`
  yield* sql`create table sessions (
    workspace_id uuid not null references workspaces,
    computer_id uuid not null references computers,
    id text not null,
    repository text,
    branch text,
    last_seen_at timestamptz not null,
    constraint sessions_key primary key (workspace_id, computer_id, id)
  )`
  // Without a computer: made with the server URL. A generation is the number of refreshes.
  yield* sql`create table sign_ins (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    agent_id uuid not null references agents,
    computer_id uuid references computers,
    scope text not null check (scope in ('read write', 'read')),
    generation integer not null,
    refreshed_at timestamptz,
    created_at timestamptz not null
  )`
  yield* sql`create index sign_ins_agent on sign_ins (workspace_id, agent_id)`
  yield* sql`create unique index sign_ins_computer_key on sign_ins (computer_id)`
  yield* sql`create table access_tokens (
    token_hash text primary key,
    workspace_id uuid not null references workspaces,
    sign_in_id uuid not null references sign_ins on delete cascade,
    scope text not null check (scope in ('read write', 'read')),
    expires_at timestamptz not null
  )`
  yield* sql`create index access_tokens_sign_in on access_tokens (sign_in_id)`
  yield* sql`create table refresh_tokens (
    token_hash text primary key,
    workspace_id uuid not null references workspaces,
    sign_in_id uuid not null references sign_ins on delete cascade,
    generation integer not null,
    expires_at timestamptz not null,
    constraint refresh_tokens_generation_key unique (sign_in_id, generation)
  )`
})
