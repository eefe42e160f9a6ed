import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Releases: the changes of each deployment's version. Servers of before the migration may run beside newer ones. They
 * number no release, so triggers do it for them, at the end of their transactions, when their event is stored, too.
 */
// oxlint-disable-next-line max-lines-per-function -- A migration is history, and stays as it was released.
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table deployments add column release integer not null default 0,
    add column locks integer not null default 0`
  yield* sql`create table deployment_releases (
    workspace_id uuid not null references workspaces,
    deployment_id uuid not null references deployments,
    number integer not null,
    product_id uuid not null,
    environment_id uuid not null,
    version text,
    actor_kind text,
    actor_id uuid,
    at timestamptz not null,
    constraint deployment_releases_key primary key (deployment_id, number)
  )`
  yield* sql`create table version_commits (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    product_id uuid not null,
    version text not null,
    sha text not null,
    subject text not null,
    author text,
    at timestamptz,
    constraint version_commits_key unique (workspace_id, product_id, version, sha)
  )`
  yield* sql`create table commit_mentions (
    workspace_id uuid not null,
    commit_id uuid not null references version_commits on delete cascade,
    team_key text not null,
    number integer not null,
    constraint commit_mentions_key primary key (commit_id, team_key, number)
  )`
  yield* sql`create index commit_mentions_ticket on commit_mentions (workspace_id, team_key, number)`

  // Null for runs that started before, and for those that servers of before start. Null while a run is running, too.
  yield* sql`alter table test_runs add column deployment_id uuid, add column release integer,
    add column deployment_changed boolean, add column locked boolean not null default false`
  yield* sql`create index test_runs_locks on test_runs ((case when locked and state = 'running' then deployment_id end))
    where case when locked and state = 'running' then deployment_id end is not null`
  yield* sql`create index test_runs_version on test_runs (workspace_id, product_id, deployment_version, number desc)
    where deployment_version is not null`

  // What happened before: the events tell each change, and the first of them what was there before it.
  yield* sql`insert into deployment_releases
    with changes as (
      select d.id as deployment_id, e.created_at, e.id as event_id, e.actor_kind, e.actor_id,
        change ->> 'from' as version_before, change ->> 'to' as version
      from events e join deployments d on d.workspace_id = e.workspace_id and d.id::text = e.subject_id
        cross join jsonb_array_elements(e.changes) as change
      where e.kind = 'deployment_updated' and e.subject_type = 'deployment' and change ->> 'field' = 'version'
    ), firsts as (
      select d.id as deployment_id,
        case when exists (select 1 from changes c where c.deployment_id = d.id)
          then (select c.version_before from changes c where c.deployment_id = d.id
            order by c.created_at, c.event_id limit 1)
          else d.version end as version
      from deployments d
    ), releases as (
      select f.deployment_id, d.created_at, null::uuid as event_id, made.actor_kind, made.actor_id, f.version
      from firsts f join deployments d on d.id = f.deployment_id
        left join lateral (select e.actor_kind, e.actor_id from events e
          where e.workspace_id = d.workspace_id and e.created_at between d.created_at - interval '1 minute'
            and d.created_at + interval '1 minute' and e.kind = 'deployment_created' and e.subject_id = d.id::text
          limit 1) as made on true
      where f.version is not null
      union all
      select deployment_id, created_at, event_id, actor_kind, actor_id, version from changes
    )
    select d.workspace_id, d.id,
      row_number() over (partition by d.id order by r.event_id is not null, r.created_at, r.event_id)::integer,
      d.product_id, d.environment_id, r.version, r.actor_kind, r.actor_id, r.created_at
    from releases r join deployments d on d.id = r.deployment_id`
  // Where events were lost, the version that is there now is a release nevertheless.
  yield* sql`insert into deployment_releases
    select d.workspace_id, d.id, coalesce(last.number, 0) + 1, d.product_id, d.environment_id, d.version, null, null,
      d.version_updated_at
    from deployments d left join lateral (select r.number, r.version from deployment_releases r
      where r.deployment_id = d.id order by r.number desc limit 1) as last on true
    where last.version is distinct from d.version`
  yield* sql`update deployments d set release = last.number
    from (select deployment_id, max(number) as number from deployment_releases group by deployment_id) as last
    where last.deployment_id = d.id`
  yield* sql`create index deployment_releases_version on deployment_releases (workspace_id, product_id, version)`
  yield* sql`create index deployment_releases_versions on deployment_releases (deployment_id, version, number)`

  // What an update of a server of before leaves: another version under the number of the one before.
  yield* sql`create function number_release() returns trigger language plpgsql as $$
    declare
      numbered integer;
    begin
      update deployments set release = release + 1 where id = new.id returning release into numbered;
      insert into deployment_releases (workspace_id, deployment_id, number, product_id, environment_id, version,
        actor_kind, actor_id, at)
      select new.workspace_id, new.id, numbered, new.product_id, new.environment_id, new.version, told.actor_kind,
        told.actor_id, new.version_updated_at
      from (select 1) as one left join lateral (
        select e.actor_kind, e.actor_id from events e
        where e.workspace_id = new.workspace_id and e.subject_id = new.id::text
          and e.kind in ('deployment_created', 'deployment_updated')
          and e.created_at between new.version_updated_at - interval '1 minute'
            and new.version_updated_at + interval '1 minute'
        order by e.created_at desc, e.id desc limit 1) as told on true;
      return null;
    end
  $$`
  yield* sql`create constraint trigger deployments_made_unnumbered after insert on deployments
    deferrable initially deferred for each row when (new.version is not null and new.release = 0)
    execute function number_release()`
  yield* sql`create constraint trigger deployments_changed_unnumbered after update of version on deployments
    deferrable initially deferred for each row
    when (new.version is distinct from old.version and new.release = old.release)
    execute function number_release()`
})
