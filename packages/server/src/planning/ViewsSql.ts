import type {
  MilestoneId,
  PersonId,
  ProjectId,
  TagId,
  TeamId,
  TicketStatusId,
  ViewId,
  WorkspaceId
} from "@delivery/domain/Ids"
import { isId, nameKey } from "@delivery/domain/Text"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { column, texts, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, type SelectedRow, updateById } from "../storage/Table.ts"
import { rankedList } from "./RankedListSql.ts"
import { followName } from "./StatusNames.ts"
import {
  type FilterRefs,
  type FoundView,
  type KnownRefs,
  type ScopeIds,
  scopeIdOf,
  type StoredFilters,
  type ViewRow,
  views,
  ViewsRepo
} from "./ViewsRepo.ts"
import type { Viewer } from "./Viewer.ts"
import { seesProject, seesTeam } from "./Visibility.ts"

export const layer = Layer.effect(
  ViewsRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const update = updateById(sql, views, [
      "personId",
      "name",
      "filters",
      "layout",
      "groupedBy",
      "sortedBy",
      "rank",
      "updatedAt"
    ])
    return ViewsRepo.of({
      insert: insert(sql),
      update: (view) => dieOnSqlError(update(view)),
      delete: (id) => dieOnSqlError(Effect.asVoid(sql`delete from views where id = ${id}`)),
      list: list(sql),
      find: find(sql),
      lock: lock(sql),
      lockOrder: lockOrder(sql),
      count: count(sql),
      statusesNamed: statusesNamed(sql),
      resolve: resolve(sql),
      followStatus: followStatus(sql)
    })
  })
)

const insert = (sql: PgClient.PgClient) => (views: ReadonlyArray<ViewRow>) =>
  dieOnSqlError(
    Effect.asVoid(sql`insert into views (id, workspace_id, team_id, project_id, person_id, name, filters, layout,
        grouped_by, sorted_by, is_default, rank, creator_kind, creator_id, created_at, updated_at)
      select id, workspace_id, team_id, project_id, person_id, name, filters::jsonb, layout, grouped_by, sorted_by,
        is_default, rank, creator_kind, creator_id, created_at, updated_at
      from unnest(${uuids(views.map(({ id }) => id))}, ${uuids(views.map(({ workspaceId }) => workspaceId))},
        ${column(views, PgTypes.OID.uuid, ({ teamId }) => teamId)},
        ${column(views, PgTypes.OID.uuid, ({ projectId }) => projectId)},
        ${column(views, PgTypes.OID.uuid, ({ personId }) => personId)}, ${texts(views, ({ name }) => name)},
        ${texts(views, ({ filters }) => JSON.stringify(filters))}, ${texts(views, ({ layout }) => layout)},
        ${texts(views, ({ groupedBy }) => groupedBy)},
        ${column(views, PgTypes.OID.text, ({ sortedBy }) => sortedBy)},
        ${column(views, PgTypes.OID.bool, ({ isDefault }) => isDefault)}, ${texts(views, ({ rank }) => rank)},
        ${texts(views, ({ creatorKind }) => creatorKind)}, ${uuids(views.map(({ creatorId }) => creatorId))},
        ${column(views, PgTypes.OID.timestamptz, ({ createdAt }) => date(createdAt))},
        ${column(views, PgTypes.OID.timestamptz, ({ updatedAt }) => date(updatedAt))})
        as t (id, workspace_id, team_id, project_id, person_id, name, filters, layout, grouped_by, sorted_by, is_default, rank,
          creator_kind, creator_id, created_at, updated_at)`)
  )

/** The team or project that the view `v` is of. */
const scopeTables = `left join teams team on team.id = v.team_id
  left join projects project on project.id = v.project_id`

/** The condition that the view is shared, or the viewer's own. */
const isNobodyElses = (sql: PgClient.PgClient, { personId }: Viewer, view: string) =>
  personId === null
    ? sql.literal(`${view}.person_id is null`)
    : sql`(${sql.literal(view)}.person_id is null or ${sql.literal(view)}.person_id = ${personId})`

/** The condition that the viewer sees the view `v`, over `scopeTables`. */
const isVisible = (sql: PgClient.PgClient, viewer: Viewer) => sql`v.workspace_id = ${viewer.workspaceId}
  and ${isNobodyElses(sql, viewer, "v")}
  and (v.team_id is null or ${seesTeam(sql, viewer, "team")})
  and (v.project_id is null or ${seesProject(sql, viewer, "project")})`

/** Whether the view `v` shows tickets of the team `t`. */
const admitsTeam = `((v.team_id is null or v.team_id = t.id)
  and (v.project_id is null or exists (select 1 from project_teams l
    where l.workspace_id = v.workspace_id and l.project_id = v.project_id and l.team_id = t.id))
  and (v.filters->'teams' = '[]' or v.filters->'teams' ? t.id::text))`

/** Whether everybody who sees the view `v` sees the team `t`. */
const isSeenByAll = "(t.visibility = 'open' or t.id is not distinct from v.team_id)"

/** Whether the filters of the view `v` follow a name in the team `t`. */
const isFollowed = "coalesce(v.filters->'followed' @> jsonb_build_array(jsonb_build_object('teamId', t.id)), false)"

/** Filters that are older than these do not have them. */
const filtersColumn = `('{"followed": [], "milestones": [], "noMilestone": false}' || v.filters) as filters`

const properties = [
  "id",
  "workspaceId",
  "teamId",
  "projectId",
  "personId",
  "name",
  "layout",
  "groupedBy",
  "sortedBy",
  "isDefault",
  "rank",
  "createdAt",
  "updatedAt"
] as const
const columns = columnsOf(views, { of: "v", only: properties })
const readFields = partReaderOf(views, properties)

type SelectedView = SelectedRow &
  ActorRow & {
    readonly filters: StoredFilters
    readonly scopeKey: string | null
    readonly isArchived: boolean
    readonly position: number
    readonly tags: FoundView["tags"]
    readonly milestones: FoundView["milestones"]
    readonly teams: FoundView["seen"]["teams"]
    readonly projects: FoundView["seen"]["projects"]
    readonly namingTeams: FoundView["namingTeams"]
  }

/** Selects the views that the viewer sees; further conditions may follow. */
const selectViews = (sql: PgClient.PgClient) => {
  const selected = sql.literal(`${columns}, ${filtersColumn}`)
  const scopes = sql.literal(scopeTables)
  const [admits, byAll, followed] = [sql.literal(admitsTeam), sql.literal(isSeenByAll), sql.literal(isFollowed)]
  const [creator, creators] = [actorColumns(sql, "v.creator"), actorJoins(sql, "v.creator")]
  return (viewer: Viewer) => sql`
    select ${selected},
      coalesce(team.key, project.slug) as "scopeKey",
      coalesce(team.archived_at, project.archived_at) is not null as "isArchived",
      (select count(*)::int from views o
        where o.workspace_id = v.workspace_id and o.scope_id = v.scope_id and o.rank < v.rank
          and ${isNobodyElses(sql, viewer, "o")}) as position,
      (select coalesce(json_agg(json_build_object('id', g.id,
          'isSeen', g.team_id is null or ${seesTeam(sql, viewer, "of_tag")}) order by f.at), '[]')
        from jsonb_array_elements_text(v.filters->'tags') with ordinality f (id, at)
        join tags g on g.id = f.id::uuid left join teams of_tag on of_tag.id = g.team_id) as tags,
      (select coalesce(json_agg(json_build_object('id', m.id, 'ref', p.slug || '/' || m.number,
          'isSeen', ${seesProject(sql, viewer, "p")}) order by f.at), '[]')
        from jsonb_array_elements_text(v.filters->'milestones') with ordinality f (id, at)
        join milestones m on m.id = f.id::uuid join projects p on p.id = m.project_id) as milestones,
      (select coalesce(json_agg(json_build_object('id', t.id, 'key', t.key) order by f.at), '[]')
        from jsonb_array_elements_text(v.filters->'teams') with ordinality f (id, at)
        join teams t on t.id = f.id::uuid where ${seesTeam(sql, viewer, "t")}) as teams,
      (select coalesce(json_agg(json_build_object('id', p.id, 'slug', p.slug) order by f.at), '[]')
        from jsonb_array_elements_text(v.filters->'projects') with ordinality f (id, at)
        join projects p on p.id = f.id::uuid where ${seesProject(sql, viewer, "p")}) as projects,
      (select coalesce(json_agg(json_build_object('id', t.id, 'isSeen', ${seesTeam(sql, viewer, "t")},
          'isSeenByAll', ${byAll}, 'has', of_team.names) order by t.id), '[]')
        from teams t cross join lateral (
          select coalesce(json_agg(st.name_key), '[]') as names, count(*) as count from ticket_statuses st
          where st.workspace_id = v.workspace_id and st.team_id = t.id and ${admits} and st.name_key in
            (select f->>'from' from jsonb_array_elements(v.filters->'followed') f)) of_team
        where t.workspace_id = v.workspace_id and v.filters->'followed' <> '[]'
          and (of_team.count > 0 or ${followed})) as "namingTeams",
      ${creator}
    from views v ${scopes} ${creators} where ${isVisible(sql, viewer)}`
}

const readView = (row: SelectedView): FoundView => {
  const fields = readFields(row)
  return {
    ...fields,
    filters: row.filters,
    creatorKind: row.actorKind,
    creatorId: row.actorId as ActorRef["id"],
    scope:
      row.scopeKey === null
        ? { kind: "workspace" }
        : { kind: fields.teamId === null ? "project" : "team", key: row.scopeKey },
    tags: row.tags,
    milestones: row.milestones,
    seen: { teams: row.teams, projects: row.projects },
    namingTeams: row.namingTeams,
    isArchived: row.isArchived,
    position: row.position,
    createdBy: readActor(row)
  }
}

const list = (sql: PgClient.PgClient) => {
  const select = selectViews(sql)
  return (viewer: Viewer, scope: ScopeIds) =>
    sql<SelectedView>`${select(viewer)} and v.scope_id = ${scopeIdOf(viewer.workspaceId, scope)} order by v.rank`.pipe(
      Effect.map((rows) => rows.map(readView)),
      dieOnSqlError
    )
}

const findOne = (sql: PgClient.PgClient) => {
  const select = selectViews(sql)
  return (viewer: Viewer, id: string) =>
    sql<SelectedView>`${select(viewer)} and v.id = ${id}`.pipe(Effect.map((rows) => rows.map(readView)[0]))
}

const find = (sql: PgClient.PgClient) => {
  const one = findOne(sql)
  return (viewer: Viewer, id: string) => (isId(id) ? dieOnSqlError(one(viewer, id)) : Effect.undefined)
}

/** A caller does not wait for a view that they cannot see. The second statement reads what was committed meanwhile. */
const lock = (sql: PgClient.PgClient) => {
  const one = findOne(sql)
  const scopes = sql.literal(scopeTables)
  return (viewer: Viewer, id: string) =>
    isId(id)
      ? sql`select 1 from views v ${scopes} where v.id = ${id} and ${isVisible(sql, viewer)} for update of v`.pipe(
          Effect.andThen(one(viewer, id)),
          dieOnSqlError
        )
      : Effect.undefined
}

const lockOrder = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId, scope: ScopeIds) => {
  const scopeId = scopeIdOf(workspaceId, scope)
  return Effect.as(
    sql`select pg_advisory_xact_lock(hashtextextended(${`views:${scopeId}`}, 0))::text`,
    rankedList<ViewId>(sql, views, sql`workspace_id = ${workspaceId} and scope_id = ${scopeId}`)
  ).pipe(dieOnSqlError)
}

const count =
  (sql: PgClient.PgClient) =>
  (workspaceId: WorkspaceId, scope: ScopeIds, personId: PersonId | null): Effect.Effect<number> =>
    sql<{ count: number }>`select count(*)::int as count from views where workspace_id = ${workspaceId}
        and scope_id = ${scopeIdOf(workspaceId, scope)} and person_id is not distinct from ${personId} and not is_default`.pipe(
      Effect.map(([row]) => row!.count),
      dieOnSqlError
    )

const statusesNamed = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId, names: ReadonlyArray<string>) =>
  sql<{ id: TicketStatusId }>`select id from ticket_statuses
    where workspace_id = ${workspaceId} and team_id is not null
      and name_key = any(${texts(names, nameKey)})`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id)),
    dieOnSqlError
  )

const resolve = (sql: PgClient.PgClient) => (viewer: Viewer, refs: FilterRefs) => {
  const workspace = viewer.workspaceId
  const [owners, tags] = [uuids(refs.owners.filter(isId)), uuids(refs.tags.filter(isId))]
  return sql<{ field: keyof KnownRefs; ref: string; id: string }>`
    select 'owners' as field, person_id::text as ref, person_id as id from members
      where workspace_id = ${workspace} and person_id = any(${owners})
    union all select 'owners', id::text, id from agents
      where workspace_id = ${workspace} and id = any(${owners})
    union all select 'tags', g.id::text, g.id from tags g left join teams t on t.id = g.team_id
      where g.workspace_id = ${workspace} and g.id = any(${tags})
        and (g.team_id is null or ${seesTeam(sql, viewer, "t")})
    union all select 'teams', t.key, t.id from teams t
      where t.workspace_id = ${workspace} and t.key = any(${texts(refs.teams, (key) => key)})
        and ${seesTeam(sql, viewer, "t")}
    union all select 'projects', p.slug, p.id from projects p
      where p.workspace_id = ${workspace} and p.slug = any(${texts(refs.projects, (slug) => slug)})
        and ${seesProject(sql, viewer, "p")}
    union all select 'milestones', p.slug || '/' || m.number, m.id from milestones m
      join projects p on p.id = m.project_id
      where p.workspace_id = ${workspace}
        and p.slug || '/' || m.number = any(${texts(refs.milestones, (ref) => ref)})
        and ${seesProject(sql, viewer, "p")}`.pipe(
    Effect.map((rows): KnownRefs => {
      const idsOf = <Id extends string>(field: keyof KnownRefs) =>
        new Map(rows.filter((row) => row.field === field).map(({ id, ref }) => [ref, id as Id]))
      return {
        owners: idsOf("owners"),
        tags: idsOf<TagId>("tags"),
        teams: idsOf<TeamId>("teams"),
        projects: idsOf<ProjectId>("projects"),
        milestones: idsOf<MilestoneId>("milestones")
      }
    }),
    dieOnSqlError
  )
}

/** The views are locked in the order of their ids, so that two statements cannot deadlock. */
const followStatus = (sql: PgClient.PgClient): ViewsRepo["Service"]["followStatus"] => {
  const [admits, byAll, followed] = [sql.literal(admitsTeam), sql.literal(isSeenByAll), sql.literal(isFollowed)]
  const filters = sql.literal(filtersColumn)
  return ({ at, workspaceId, ...change }) =>
    Effect.gen(function* () {
      const views = yield* sql<{ id: ViewId; filters: StoredFilters; isInScope: boolean; isUpdated: boolean }>`
        select v.id, ${filters}, ${admits} as "isInScope", ${byAll} as "isUpdated"
        from views v cross join (select id, visibility from teams where id = ${change.teamId}) t
        where v.workspace_id = ${workspaceId}
          and (v.filters->'statuses' <> '[]' and ${admits} or ${followed})
        order by v.id for update of v`
      const changed = views.flatMap(({ filters, isInScope, ...view }) => {
        const names = followName(filters, change, isInScope)
        return names === undefined ? [] : [{ ...view, filters: JSON.stringify({ ...filters, ...names }) }]
      })
      if (changed.length === 0) return
      yield* sql`update views v set filters = new.filters::jsonb,
          updated_at = case when new.is_updated
            then greatest(${date(at)}::timestamptz, v.updated_at + interval '1 millisecond')
            else v.updated_at end
        from unnest(${uuids(changed.map(({ id }) => id))}, ${texts(changed, ({ filters }) => filters)},
          ${column(changed, PgTypes.OID.bool, ({ isUpdated }) => isUpdated)}) as new (id, filters, is_updated)
        where v.id = new.id`
    }).pipe(dieOnSqlError)
}
