import type { Statement } from "./Database.ts"

/**
 * The statements of the peer, which `pgbench` runs too. Where the service's SQL is the best that there is, it is the
 * same; JSON comes as `text`, which both drivers send as it is.
 */
const statement = (name: string, text: string): Statement => ({ name, text: text.replaceAll(/\s+/g, " ").trim() })

/** $1 token hash, $2 workspace. */
export const authenticate = statement(
  "authenticate",
  `select k.id as "keyId", p.id as "personId", p.name as "personName", p.email, w.id as "workspaceId", w.slug,
    case when k.person_id is not null then m.role when k.workspace_id = w.id then k.role end as role
  from api_keys k
  left join persons p on p.id = k.person_id
  left join workspaces w on w.slug = $2
  left join members m on m.workspace_id = w.id and m.person_id = k.person_id and m.active
  where k.token_hash = $1 and k.revoked_at is null`
)

/** $1 key ids, $2 instants. */
export const touchKeys = statement(
  "touchKeys",
  `update api_keys k set last_used_at = greatest(k.last_used_at, u.at)
  from unnest($1::uuid[], $2::timestamptz[]) as u (id, at) where k.id = u.id`
)

const deploymentColumns = `d.id, p.id as "productId", p.slug as "productSlug", p.name as "productName",
  p.type as "productType", p.archived_at as "productArchivedAt", e.id as "environmentId",
  e.slug as "environmentSlug", e.name as "environmentName", e.class as "environmentClass",
  e.emoji as "environmentEmoji", e.archived_at as "environmentArchivedAt", d.base_url as "baseUrl",
  d.fixture_url as "fixtureUrl", d.version, d.version_updated_at as "versionUpdatedAt",
  d.created_at as "createdAt", d.updated_at as "updatedAt"`

/** $1 workspace, $2 product, $3 environment. */
export const deployment = statement(
  "deployment",
  `select ${deploymentColumns} from products p
  join environments e on e.workspace_id = $1 and e.slug = $3
  left join deployments d
    on d.workspace_id = $1 and d.product_id = p.id and d.environment_id = e.id and d.deleted_at is null
  where p.workspace_id = $1 and p.slug = $2`
)

/** $1 workspace. */
export const deployments = statement(
  "deployments",
  `select ${deploymentColumns}
  from deployments d join products p on p.id = d.product_id join environments e on e.id = d.environment_id
  where d.workspace_id = $1 and d.deleted_at is null`
)

/** $1 deployment, $2 version, $3 now, $4 `updatedAt` before; the event: $5 id, $6 workspace, $7 actor, $8 label, $9 path, $10 changes. */
export const changeVersion = statement(
  "changeVersion",
  `with changed as (
    update deployments set version = $2, version_updated_at = $3, updated_at = $3, release = release + 1
    where id = $1 and deleted_at is null and updated_at = $4
    returning id, workspace_id, product_id, environment_id, release
  ), released as (
    insert into deployment_releases (workspace_id, deployment_id, number, product_id, environment_id, version,
      actor_kind, actor_id, at)
    select workspace_id, id, release, product_id, environment_id, $2, 'user', $7::uuid, $3 from changed
  ), stored_event as (
    insert into events (id, workspace_id, kind, actor_kind, actor_id, subject_type, subject_id, subject_label,
      subject_path, changes, created_at)
    select $5::uuid, $6::uuid, 'deployment_updated', 'user', $7::uuid, 'deployment', changed.id::text, $8, $9,
      $10::text::jsonb, $3 from changed
  )
  select id from changed`
)

const runColumns = `r.id, r.number, r.state, r.result, r.gate_result as "gateResult", r.error, r.total, r.passed, r.flaky, r.failed, r.skipped,
  r.pass_rate as "passRate", r.first_attempt_pass_rate as "firstAttemptPassRate", p.slug as "productSlug",
  p.name as "productName", e.slug as "environmentSlug", e.name as "environmentName", e.class as "environmentClass",
  r.base_url as "baseUrl", r.deployment_base_url as "deploymentBaseUrl", r.deployment_version as "deploymentVersion",
  r.git_branch as "gitBranch", r.git_sha as "gitSha", r.git_dirty as "gitDirty", r.git_subject as "gitSubject",
  r.ci_url as "ciUrl", r.shard_total as "shardTotal", r.shards_started as "shardsStarted",
  r.shards_finished as "shardsFinished", r.hostname, r.platform, r.coverage, r.fixture_scope as "fixtureScope", r.cleanup_status as "cleanupStatus",
  r.cleanup_deleted as "cleanupDeleted", r.cleanup_remaining as "cleanupRemaining", r.duration_ms as "durationMs",
  r.started_at as "startedAt", r.expires_at as "expiresAt", r.finished_at as "finishedAt", r.release, r.locked,
  r.selection <> '{"folders":[],"caseIds":[]}' as "partOfTests",
  coalesce(r.deployment_changed, exists (select 1 from deployment_releases next
    where next.deployment_id = r.deployment_id and next.number = coalesce(r.release, 0) + 1
      and next.at < coalesce(r.finished_at, r.expires_at)) or exists (select 1 from deployments d
    where d.id = r.deployment_id and d.deleted_at < coalesce(r.finished_at, r.expires_at))) as "deploymentChanged",
  r.publisher_kind as "publisherKind", r.publisher_id as "publisherId",
  coalesce(initcap(a.client), u.name, k.name) as "publisherName", u.email as "publisherEmail"`
const runJoins = `join products p on p.id = r.product_id join environments e on e.id = r.environment_id
  left join agents a on r.publisher_kind = 'agent' and a.id = r.publisher_id
  left join persons u on u.id = case r.publisher_kind when 'user' then r.publisher_id else a.person_id end
  left join api_keys k on r.publisher_kind = 'apiKey' and k.id = r.publisher_id`

/** $1 workspace. */
export const runs = statement(
  "runs",
  `select ${runColumns}
  from (select id from test_runs where workspace_id = $1 order by number desc limit 51) page
  join test_runs r on r.id = page.id ${runJoins}
  order by r.number desc`
)

/** $1 workspace, $2 number. */
export const run = statement(
  "run",
  `select ${runColumns} from test_runs r ${runJoins} where r.workspace_id = $1 and r.number = $2`
)

/**
 * $1 workspace, $2 number: a run with its retries and tests, all as of one instant since they come in one statement.
 * Attempts of retries would be a join more.
 */
export const runWithTests = statement(
  "runWithTests",
  `select ${runColumns}, r.mutes, (
    select coalesce(json_agg(json_build_object('number', t.number, 'state', t.state) order by t.number), '[]')
    from test_run_retries t where t.run_id = r.id) as retries, (
    select coalesce(json_agg(json_build_array(t.case_id, t.title, t.file, t.coverage, t.test_kind, t.priority,
      t.status, t.files, t.attempt_status, t.attempt_duration_ms, t.attempt_started_at, t.attempt_error_message,
      t.attempt_error_stack, t.attempt_files)), '[]')
    from test_run_tests t where t.run_id = r.id) as tests
  from test_runs r ${runJoins} where r.workspace_id = $1 and r.number = $2`
)

/** $1 workspace, $2 sees private teams, $3 person. */
export const projects = statement(
  "projects",
  `with seen as materialized (
    select t.id, t.key, t.name, t.visibility from teams t
    where t.workspace_id = $1 and ($2::boolean or t.visibility = 'open' or exists (
      select 1 from team_members viewer where viewer.team_id = t.id and viewer.person_id = $3::uuid))
  ), progress as (
    select k.project_id, count(*) filter (where st.category = 'backlog')::int as backlog,
      count(*) filter (where st.category = 'unstarted')::int as unstarted,
      count(*) filter (where st.category = 'started')::int as started,
      count(*) filter (where st.category = 'completed')::int as completed,
      count(*) filter (where st.category = 'canceled')::int as canceled
    from tickets k join seen on seen.id = k.team_id join ticket_statuses st on st.id = k.status_id
    where k.workspace_id = $1 and k.project_id is not null
    group by k.project_id
  )
  select p.id, p.slug, p.name, p.summary, p.status, p.target_date::text as "targetDate",
    p.archived_at as "archivedAt", p.created_at as "createdAt", p.updated_at as "updatedAt", linked.teams,
    case when lead.id is not null then
      json_build_object('id', lead.id, 'name', lead.name, 'email', lead.email) end as lead,
    (select coalesce(json_agg(json_build_object('id', d.id, 'slug', d.slug, 'name', d.name)), '[]')
      from project_products l join products d on d.id = l.product_id
      where l.workspace_id = p.workspace_id and l.project_id = p.id) as products,
    json_build_object('backlog', coalesce(progress.backlog, 0), 'unstarted', coalesce(progress.unstarted, 0),
      'started', coalesce(progress.started, 0), 'completed', coalesce(progress.completed, 0),
      'canceled', coalesce(progress.canceled, 0)) as progress
  from projects p left join persons lead on lead.id = p.lead_id
  cross join lateral (
    select json_agg(json_build_object('id', s.id, 'key', s.key, 'name', s.name, 'visibility', s.visibility)) as teams
    from project_teams l join seen s on s.id = l.team_id
    where l.workspace_id = p.workspace_id and l.project_id = p.id
  ) linked
  left join progress on progress.project_id = p.id
  where p.workspace_id = $1 and linked.teams is not null and p.archived_at is null
  order by p.rank`
)

/**
 * $1 id, $2 workspace, $3 product, $4 environment, $5 person, $6 base URL, $7 and $8 URL and version of the deployment,
 * $9 to $12 branch, SHA, dirty and subject, $13 what is searched, $14 host, $15 platform, $16 coverage, $17 selection,
 * $18 token hash, $19 key of the scope, $20 Fixture API, $21 now, $22 its end, $23 event id.
 */
export const startRun = statement(
  "startRun",
  `with counted as (
    update workspaces set last_run_number = last_run_number + 1 where id = $2 returning last_run_number as number
  ), started as (
    insert into test_runs (id, workspace_id, number, product_id, environment_id, publisher_kind, publisher_id, base_url,
      deployment_base_url, deployment_version, git_branch, git_sha, git_dirty, git_subject, search, hostname, platform,
      coverage, selection, token_hash, fixture_scope, fixture_url, cleanup_status, state, total, passed, flaky, failed,
      skipped, duration_ms, started_at, expires_at, deployment_id, release)
    select $1::uuid, $2::uuid, number, $3::uuid, $4::uuid, 'user', $5::uuid, $6, $7, $8, $9, $10, $11::boolean, $12,
      $13, $14, $15, $16, $17::text::jsonb, $18, 'run-' || number || '-' || $19::text, $20::text,
      case when $20::text is not null then 'pending' end, 'running', 0, 0, 0, 0, 0, 0, $21::timestamptz,
      $22::timestamptz, d.id, nullif(d.release, 0)
    from counted join deployments d
      on d.workspace_id = $2 and d.product_id = $3 and d.environment_id = $4 and d.deleted_at is null
    returning number, fixture_scope as scope
  ), stored_event as (
    insert into events (id, workspace_id, kind, actor_kind, actor_id, subject_type, subject_id, subject_label,
      subject_path, changes, created_at)
    select $23::uuid, $2::uuid, 'run_started', 'user', $5::uuid, 'run', $1::uuid::text, 'Run ' || number,
      'test-runs/' || number, '[]'::jsonb, $21::timestamptz
    from started
  )
  select number, scope, coalesce((select json_agg(c.id order by c.id collate "C") from tickets t
      join ticket_statuses s on s.id = t.status_id, jsonb_to_recordset(t.mute->'cases') c (id text)
    where t.workspace_id = $2 and t.mute->>'productId' = $3::uuid::text and (t.mute->>'until')::timestamptz > $21
      and s.category not in ('completed', 'canceled')), '[]') as muted from started`
)

/**
 * $1 id, $2 state, $3 result, $4 error, $5 to $9 counts, $10 and $11 rates, $12 duration, $13 now, $14 to $27 columns
 * of the tests, $28 event id, $29 person, $30 label, $31 path, $32 changes, $33 kind of event, $34 status of the
 * cleanup, $35 and $36 its counts.
 */
export const finishRun = statement(
  "finishRun",
  `with finished as (
    update test_runs set state = $2, result = $3, error = $4, total = $5, passed = $6, flaky = $7, failed = $8,
      skipped = $9, pass_rate = $10, first_attempt_pass_rate = $11, duration_ms = $12, finished_at = $13,
      cleanup_status = $34, cleanup_deleted = $35, cleanup_remaining = $36,
      deployment_changed = coalesce((select d.release <> coalesce(test_runs.release, 0) from deployments d
        where d.id = test_runs.deployment_id), false)
    where id = $1 and case when state = 'running' then expires_at > $13 end
    returning id, workspace_id, deployment_changed
  ), recorded as (
    insert into test_run_tests (workspace_id, run_id, case_id, title, file, coverage, test_kind, priority, status, files,
      attempt_status, attempt_duration_ms, attempt_started_at, attempt_error_message, attempt_error_stack,
      attempt_files)
    select finished.workspace_id, finished.id, t.a, t.b, t.c, t.d, t.e, t.f, t.g, t.h::jsonb, t.i, t.j, t.k, t.l, t.m,
      t.n::jsonb
    from finished, unnest($14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[],
      $21::text[], $22::text[], $23::float8[], $24::timestamptz[], $25::text[], $26::text[], $27::text[]
    ) as t (a, b, c, d, e, f, g, h, i, j, k, l, m, n)
  ), stored_event as (
    insert into events (id, workspace_id, kind, actor_kind, actor_id, subject_type, subject_id, subject_label,
      subject_path, changes, created_at)
    select $28::uuid, finished.workspace_id, $33, 'user', $29::uuid, 'run', finished.id::text, $30, $31,
      $32::text::jsonb, $13 from finished
  )
  select id, deployment_changed as "deploymentChanged", semaphore_end_runs(array[id]) as ended from finished`
)

/** $1 token hash, $2 workspace. */
export const authenticateRun = statement(
  "authenticateRun",
  `select r.workspace_id as "workspaceId", r.id as "runId", r.number as run, holder.retry,
    holder.expires_at as "expiresAt"
  from (
    select id, null::integer as retry, expires_at from test_runs where token_hash = $1 and state = 'running'
    union all
    select run_id, number, expires_at from test_run_retries where token_hash = $1 and state = 'running'
  ) as holder
  join test_runs r on r.id = holder.id join workspaces w on w.id = r.workspace_id
  where holder.expires_at > clock_timestamp() and w.slug = $2`
)

/** $1 id, $2 workspace, $3 name, $4 capacity, $5 run, $6 its number, $7 retry, $8 end of the token, $9 milliseconds. */
export const takeLease = statement(
  "takeLease",
  `select semaphore_take($1::uuid, $2::uuid, $3::text, $4::integer, $5::uuid, $6::integer, $7::integer,
    $8::timestamptz, null::text, null::text, $9::integer, 0) as json`
)

/** $1 lease, $2 workspace, $3 name, $4 run, $5 retry. */
export const releaseLease = statement(
  "releaseLease",
  `select semaphore_release($1::uuid, $2::uuid, $3::text, $4::uuid, $5::integer) as outcome`
)

/** Has all that was written before on the disk. */
export const flush = statement("flush", "select pg_logical_emit_message(true, 'delivery', '')::text")

/** $1 workspace, $2 product, $3 name, $4 may read values, $5 audit id, $6 person, $7 request id, $8 the person as JSON. */
export const secret = statement(
  "secret",
  `with chosen as (
    select s.*, p.slug as product_slug, p.name as product_name
    from products p join secrets s on s.workspace_id = $1 and s.product_id = p.id and s.deleted_at is null
    where p.workspace_id = $1 and p.slug = $2 and s.name = $3
  ), standing as (
    select c.id as secret_id, c.product_id, e.id, e.slug, e.name, e.class, e.emoji, e.archived_at, v.version,
      d.now as deployed, h.created_at as at, h.actor_kind, h.actor_id, h.sealed is not null as has_value,
      $4::boolean and e.class <> 'production' and d.now is distinct from false as readable,
      case when $4::boolean and e.class <> 'production' and d.now is distinct from false then h.sealed end as sealed
    from chosen c join environments e on e.workspace_id = $1
    left join secret_values v on v.secret_id = c.id and v.environment_id = e.id
    left join secret_versions h
      on h.secret_id = v.secret_id and h.environment_id = v.environment_id and h.version = v.version
    left join lateral (
      select bool_or(t.deleted_at is null) as now from deployments t
      where t.workspace_id = $1 and t.product_id = c.product_id and t.environment_id = e.id
    ) d on true
    where e.archived_at is null or v.version is not null
  ), audited as (
    insert into audit_entries (id, workspace_id, action, outcome, actor_id, actor, subject_type, subject_id, subject_label,
      environments, versions, request_id)
    select $5::uuid, $1::uuid, 'secret_read', 'allowed', $6::uuid, $8::jsonb, 'secret', c.id::text,
      c.name || ' of ' || c.product_name, jsonb_agg(s.slug), jsonb_agg(s.version), $7
    from chosen c join standing s on s.secret_id = c.id where s.sealed is not null group by c.id, c.name, c.product_name
  )
  select c.id as "secretId", c.name as "secretName", c.created_at as "createdAt", c.updated_at as "updatedAt",
    c.product_id as "productId", c.product_slug as "productSlug", c.product_name as "productName", s.id, s.slug, s.name,
    s.class, s.emoji, s.archived_at as "archivedAt", s.version, coalesce(s.deployed, false) as deployed, s.at,
    s.has_value as "hasValue", s.readable, s.sealed, s.actor_kind as "actorKind", s.actor_id as "actorId",
    coalesce(u.name, k.name) as "actorName", u.email as "actorEmail"
  from chosen c left join standing s on s.secret_id = c.id
  left join persons u on s.actor_kind = 'user' and u.id = s.actor_id
  left join api_keys k on s.actor_kind = 'apiKey' and k.id = s.actor_id`
)

/** $1 workspace. */
export const dataKey = statement("dataKey", "select id, sealed from vault_data_keys where workspace_id = $1")
