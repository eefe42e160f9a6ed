import { templateStatuses } from "@delivery/domain/planning/TicketStatus"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"

// oxlint-disable-next-line max-lines-per-function -- A migration is history, and stays as it was released.
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  yield* sql`create table teams (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    key text not null,
    name text not null,
    visibility text not null check (visibility in ('open', 'private')),
    last_ticket_number integer not null default 0,
    archived_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint teams_key_key unique (workspace_id, key)
  )`
  yield* sql`create table team_members (
    workspace_id uuid not null references workspaces,
    team_id uuid not null references teams,
    person_id uuid not null references persons,
    added_at timestamptz not null,
    constraint team_members_key primary key (team_id, person_id)
  )`
  yield* sql`create index team_members_person on team_members (workspace_id, person_id)`

  // Without a team: the workspace's template. name_key is the name in the case that names are compared in.
  yield* sql`create table ticket_statuses (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    team_id uuid references teams,
    name text not null,
    name_key text not null,
    category text not null check (category in ('backlog', 'unstarted', 'started', 'completed', 'canceled')),
    position integer not null,
    is_default boolean not null check (not is_default or category in ('backlog', 'unstarted')),
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint ticket_statuses_name_key unique nulls not distinct (workspace_id, team_id, name_key)
      deferrable initially immediate,
    constraint ticket_statuses_position_key unique nulls not distinct (workspace_id, team_id, category, position)
      deferrable initially immediate,
    constraint ticket_statuses_default_key exclude ((coalesce(team_id, workspace_id)) with =) where (is_default)
      deferrable initially immediate
  )`

  yield* sql`create table projects (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    slug text not null,
    name text not null,
    summary text,
    status text not null check (status in ('planned', 'active', 'paused', 'completed', 'canceled')),
    lead_id uuid references persons,
    target_date date,
    document text,
    rank text collate "C" not null,
    last_milestone_number integer not null default 0,
    archived_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint projects_slug_key unique (workspace_id, slug),
    constraint projects_name_key unique (workspace_id, name),
    constraint projects_rank_key unique (workspace_id, rank) deferrable initially immediate
  )`
  yield* sql`create table project_teams (
    workspace_id uuid not null references workspaces,
    project_id uuid not null references projects,
    team_id uuid not null references teams,
    constraint project_teams_key primary key (workspace_id, project_id, team_id)
  )`
  yield* sql`create index project_teams_team on project_teams (workspace_id, team_id, project_id)`
  yield* sql`create table project_products (
    workspace_id uuid not null references workspaces,
    project_id uuid not null references projects,
    product_id uuid not null references products,
    constraint project_products_key primary key (workspace_id, project_id, product_id)
  )`
  yield* sql`create index project_products_product on project_products (workspace_id, product_id, project_id)`
  yield* sql`create table milestones (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    project_id uuid not null references projects,
    number integer not null,
    name text not null,
    summary text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint milestones_number_key unique (project_id, number)
  )`

  yield* sql`create table tickets (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    team_id uuid not null references teams,
    number integer not null,
    title text not null,
    description text,
    plan text,
    status_id uuid not null references ticket_statuses,
    rank text collate "C" not null,
    owner_kind text check (owner_kind in ('user', 'agent')),
    owner_id uuid,
    project_id uuid references projects,
    milestone_id uuid references milestones,
    creator_kind text not null check (creator_kind in ('user', 'agent', 'apiKey')),
    creator_id uuid not null,
    started_at timestamptz,
    completed_at timestamptz,
    canceled_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint tickets_number_key unique (team_id, number),
    constraint tickets_rank_key unique (team_id, rank) deferrable initially immediate,
    constraint tickets_owner check ((owner_kind is null) = (owner_id is null)),
    constraint tickets_milestone check (milestone_id is null or project_id is not null),
    constraint tickets_project_team foreign key (workspace_id, project_id, team_id) references project_teams
  )`
  yield* sql`create index tickets_team on tickets (workspace_id, team_id, status_id, rank)`
  yield* sql`create index tickets_status on tickets (workspace_id, status_id)`
  yield* sql`create index tickets_project on tickets (workspace_id, project_id, team_id, status_id)
    where project_id is not null`
  yield* sql`create index tickets_milestone on tickets (milestone_id) where milestone_id is not null`
  yield* sql`create index tickets_owner on tickets (workspace_id, owner_id) where owner_id is not null`
  // Every identifier a ticket ever had, since one that moved to another team keeps answering to its old ones.
  yield* sql`create table ticket_identifiers (
    workspace_id uuid not null references workspaces,
    team_id uuid not null references teams,
    number integer not null,
    ticket_id uuid not null references tickets on delete cascade,
    constraint ticket_identifiers_key primary key (team_id, number)
  )`
  yield* sql`create index ticket_identifiers_ticket on ticket_identifiers (ticket_id)`

  yield* sql`create table comments (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    ticket_id uuid not null references tickets on delete cascade,
    body text not null,
    author_kind text not null check (author_kind in ('user', 'agent', 'apiKey')),
    author_id uuid not null,
    created_at timestamptz not null,
    edited_at timestamptz
  )`
  yield* sql`create index comments_ticket on comments (ticket_id, created_at, id)`
  yield* sql`create table comment_mentions (
    workspace_id uuid not null references workspaces,
    comment_id uuid not null references comments on delete cascade,
    kind text not null check (kind in ('user', 'agent')),
    subject_id uuid not null,
    -- Null where an edit took the mention out: the agent had its message.
    position integer,
    constraint comment_mentions_key primary key (comment_id, kind, subject_id)
  )`

  // Without a team: for the whole workspace.
  yield* sql`create table tags (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    team_id uuid references teams,
    name text not null,
    name_key text not null,
    color text not null,
    created_at timestamptz not null
  )`
  yield* sql`create unique index tags_name_key on tags (workspace_id, team_id, name_key) nulls not distinct`
  yield* sql`create table ticket_tags (
    workspace_id uuid not null references workspaces,
    ticket_id uuid not null references tickets on delete cascade,
    tag_id uuid not null references tags on delete cascade,
    constraint ticket_tags_key primary key (ticket_id, tag_id)
  )`
  yield* sql`create index ticket_tags_tag on ticket_tags (tag_id)`

  yield* sql`create table views (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    team_id uuid references teams,
    project_id uuid references projects,
    name text not null,
    filters jsonb not null,
    layout text not null check (layout in ('board', 'list')),
    is_default boolean not null,
    rank text collate "C" not null,
    creator_kind text not null check (creator_kind in ('user', 'agent', 'apiKey')),
    creator_id uuid not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    scope_id uuid not null generated always as (coalesce(team_id, project_id, workspace_id)) stored,
    constraint views_scope check (team_id is null or project_id is null),
    constraint views_rank_key unique (workspace_id, scope_id, rank) deferrable initially immediate
  )`

  const workspaces = yield* sql<{ id: string }>`select id from workspaces`
  for (const { id } of workspaces) {
    for (const status of templateStatuses) {
      yield* sql`insert into ticket_statuses (id, workspace_id, name, name_key, category, position, is_default,
          created_at, updated_at)
        values (${yield* random.uuidV7()}, ${id}, ${status.name}, ${status.name.toLowerCase()}, ${status.category},
          0, ${status.isDefault}, now(), now())`
    }
  }
}).pipe(Effect.provide(SecureRandom.layerWebCrypto))
