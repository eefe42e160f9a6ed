import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table products (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    slug text not null,
    name text not null,
    type text not null check (type in ('website', 'api', 'app', 'library', 'service')),
    repository text,
    archived_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint products_slug_key unique (workspace_id, slug)
  )`
  yield* sql`create table environments (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    slug text not null,
    name text not null,
    class text not null check (class in ('production', 'non-production')),
    emoji text,
    archived_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint environments_slug_key unique (workspace_id, slug)
  )`
  // A deleted deployment stays as a row, so that it is known that the pair was once deployed.
  yield* sql`create table deployments (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    product_id uuid not null references products,
    environment_id uuid not null references environments,
    base_url text,
    fixture_url text,
    version text,
    version_updated_at timestamptz not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    deleted_at timestamptz
  )`
  yield* sql`create unique index deployments_pair_key on deployments (workspace_id, product_id, environment_id)
    where deleted_at is null`
})
