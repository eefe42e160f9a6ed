import type { Actor } from "@delivery/domain/identity/Actor"
import type { ProjectId, TagId, TeamId, TicketStatusId, ViewId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { defaultViews, type ViewLayout, type ViewScope } from "@delivery/domain/planning/View"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { isId, nameKey } from "@delivery/domain/Text"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import { nextId } from "../ids/NextId.ts"
import type { ActorRef } from "../access/Access.ts"
import { actorColumns, actorJoins, type ActorRow, readActor, resolveActor } from "../access/Actors.ts"
import type { AgentRow } from "../access/ActorRows.ts"
import type { MemberRow } from "../identity/MembersRepo.ts"
import { column, texts, uuids } from "../storage/Columns.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"
import { boolean, instant, json, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import { projectLinkKey, type ProjectRow, projects, projectTeams } from "./ProjectsRepo.ts"
import type { RankedList } from "./RankedList.ts"
import { spreadRanks } from "./Ranks.ts"
import { followName, type NamingTeam, type StatusNameChange, type StatusNames } from "./StatusNames.ts"
import { type TeamRow, teams } from "./TeamsRepo.ts"
import { ticketStatuses } from "./TicketStatusesRepo.ts"
import { seesProject, seesTeam, type Viewer } from "./Visibility.ts"
import { seesProjectInMemory, seesTeamInMemory } from "./VisibilityMemory.ts"

/** Filters as they are stored: teams and projects by id, so that they follow a new slug. */
export interface StoredFilters extends StatusNames {
  readonly categories: ReadonlyArray<StatusCategory>
  /** Ids of persons and agents, `me` and `none`. */
  readonly owners: ReadonlyArray<string>
  readonly tags: ReadonlyArray<TagId>
  readonly teams: ReadonlyArray<TeamId>
  readonly projects: ReadonlyArray<ProjectId>
}

/** Of one team, of one project, or, with neither, of the workspace. */
export interface ScopeIds {
  readonly teamId: TeamId | null
  readonly projectId: ProjectId | null
}

/** The views of workspaces, teams and projects. */
export const views = table("views", {
  id: uuid<ViewId>(),
  workspaceId: uuid<WorkspaceId>(),
  teamId: nullable(uuid<TeamId>()),
  projectId: nullable(uuid<ProjectId>()),
  name: text(),
  filters: json<StoredFilters>(),
  layout: text<ViewLayout>(),
  isDefault: boolean(),
  rank: text(),
  creatorKind: text<ActorRef["kind"]>(),
  creatorId: uuid<ActorRef["id"]>(),
  createdAt: instant(),
  updatedAt: instant(),
  /** What views are ordered within: the team, the project or the workspace. Storages set it. */
  scopeId: uuid()
})

type StoredView = Row<typeof views>

export type ViewRow = Omit<StoredView, "scopeId">

/** A view with what its viewer sees of its filters, and whether its team or project is archived. */
export interface FoundView extends ViewRow {
  readonly scope: ViewScope
  /** The tags of the filters that are not deleted. */
  readonly tags: ReadonlyArray<{ readonly id: TagId; readonly isSeen: boolean }>
  /** Those teams and projects of the filters that the viewer sees. */
  readonly seen: {
    readonly teams: ReadonlyArray<{ readonly id: TeamId; readonly key: string }>
    readonly projects: ReadonlyArray<{ readonly id: ProjectId; readonly slug: string }>
  }
  /** What decides which names of statuses the viewer sees, by id. */
  readonly namingTeams: ReadonlyArray<NamingTeam>
  readonly isArchived: boolean
  readonly position: number
  readonly createdBy: Actor
}

/** Words of bodies that name what filters refer to. */
export interface FilterRefs {
  readonly owners: ReadonlyArray<string>
  readonly tags: ReadonlyArray<string>
  readonly teams: ReadonlyArray<string>
  readonly projects: ReadonlyArray<string>
}

/** For each field, the id behind each word that refers to something the viewer sees. */
export interface KnownRefs {
  readonly owners: ReadonlyMap<string, string>
  readonly tags: ReadonlyMap<string, TagId>
  readonly teams: ReadonlyMap<string, TeamId>
  readonly projects: ReadonlyMap<string, ProjectId>
}

/** Stores views. Those of a team or project that the viewer does not see are not there. */
export class ViewsRepo extends Context.Service<
  ViewsRepo,
  {
    readonly insert: (views: ReadonlyArray<ViewRow>) => Effect.Effect<void>
    readonly update: (
      view: Pick<ViewRow, "id" | "name" | "filters" | "layout" | "rank" | "updatedAt">
    ) => Effect.Effect<void>
    readonly delete: (id: ViewId) => Effect.Effect<void>
    /** The views of one scope, in their order. */
    readonly list: (viewer: Viewer, scope: ScopeIds) => Effect.Effect<ReadonlyArray<FoundView>>
    readonly find: (viewer: Viewer, id: string) => Effect.Effect<FoundView | undefined>
    /** Holds the row until the transaction ends. */
    readonly lock: (viewer: Viewer, id: string) => Effect.Effect<FoundView | undefined>
    /** The order of a scope's views; holds it until the transaction ends. */
    readonly lockOrder: (workspaceId: WorkspaceId, scope: ScopeIds) => Effect.Effect<RankedList<ViewId>>
    /** The ids of all teams' statuses that have one of the names, in any case. */
    readonly statusesNamed: (
      workspaceId: WorkspaceId,
      names: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<TicketStatusId>>
    readonly resolve: (viewer: Viewer, refs: FilterRefs) => Effect.Effect<KnownRefs>
    /**
     * Makes filters follow the name, in views whose scope and filter of teams let tickets of the team through. A view
     * is updated by it where all who see the view see the team.
     */
    readonly followStatus: (
      change: StatusNameChange & { readonly workspaceId: WorkspaceId; readonly at: Timestamp }
    ) => Effect.Effect<void>
  }
>()("@delivery/server/planning/ViewsRepo") {
  static readonly layerSql = Layer.effect(
    ViewsRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const scoped = sql.literal(`left join teams team on team.id = v.team_id
        left join projects project on project.id = v.project_id`)
      const isSeen = (viewer: Viewer) => sql`v.workspace_id = ${viewer.workspaceId}
        and (v.team_id is null or ${seesTeam(sql, viewer, "team")})
        and (v.project_id is null or ${seesProject(sql, viewer, "project")})`
      // Whether the view shows tickets of the team; whether all who see the view see the team.
      const letsThrough = sql.literal(`((v.team_id is null or v.team_id = t.id)
        and (v.project_id is null or exists (select 1 from project_teams l
          where l.workspace_id = v.workspace_id and l.project_id = v.project_id and l.team_id = t.id))
        and (v.filters->'teams' = '[]' or v.filters->'teams' ? t.id::text))`)
      const isSeenByAll = sql.literal("(t.visibility = 'open' or t.id is not distinct from v.team_id)")
      const isFollowed = sql.literal(
        "coalesce(v.filters->'followed' @> jsonb_build_array(jsonb_build_object('teamId', t.id)), false)"
      )
      // Filters of before names were followed for each team have no such list.
      const filters = sql.literal(`('{"followed": []}' || v.filters) as filters`)

      const found = (viewer: Viewer) => sql`
        select v.id, v.workspace_id as "workspaceId", v.team_id as "teamId", v.project_id as "projectId", v.name,
          ${filters}, v.layout, v.is_default as "isDefault", v.rank, v.created_at as "createdAt", v.updated_at as "updatedAt",
          coalesce(team.key, project.slug) as "scopeKey",
          coalesce(team.archived_at, project.archived_at) is not null as "isArchived",
          (select count(*)::int from views o
            where o.workspace_id = v.workspace_id and o.scope_id = v.scope_id and o.rank < v.rank) as position,
          (select coalesce(json_agg(json_build_object('id', g.id,
              'isSeen', g.team_id is null or ${seesTeam(sql, viewer, "of_tag")}) order by f.at), '[]')
            from jsonb_array_elements_text(v.filters->'tags') with ordinality f (id, at)
            join tags g on g.id = f.id::uuid left join teams of_tag on of_tag.id = g.team_id) as tags,
          (select coalesce(json_agg(json_build_object('id', t.id, 'key', t.key) order by f.at), '[]')
            from jsonb_array_elements_text(v.filters->'teams') with ordinality f (id, at)
            join teams t on t.id = f.id::uuid where ${seesTeam(sql, viewer, "t")}) as teams,
          (select coalesce(json_agg(json_build_object('id', p.id, 'slug', p.slug) order by f.at), '[]')
            from jsonb_array_elements_text(v.filters->'projects') with ordinality f (id, at)
            join projects p on p.id = f.id::uuid where ${seesProject(sql, viewer, "p")}) as projects,
          (select coalesce(json_agg(json_build_object('id', t.id, 'isSeen', ${seesTeam(sql, viewer, "t")},
              'isSeenByAll', ${isSeenByAll}, 'has', of_team.names) order by t.id), '[]')
            from teams t cross join lateral (
              select coalesce(json_agg(st.name_key), '[]') as names, count(*) as count from ticket_statuses st
              where st.workspace_id = v.workspace_id and st.team_id = t.id and ${letsThrough} and st.name_key in
                (select f->>'from' from jsonb_array_elements(v.filters->'followed') f)) of_team
            where t.workspace_id = v.workspace_id and v.filters->'followed' <> '[]'
              and (of_team.count > 0 or ${isFollowed})) as "namingTeams",
          ${actorColumns(sql, "v.creator")}
        from views v ${scoped} ${actorJoins(sql, "v.creator")} where ${isSeen(viewer)}`

      const one = (viewer: Viewer, id: string) =>
        sql<SqlRow>`${found(viewer)} and v.id = ${id}`.pipe(Effect.map((rows) => rows.map(readRow)[0]))

      return ViewsRepo.of({
        insert: (views) =>
          dieOnSqlError(
            Effect.asVoid(sql`insert into views (id, workspace_id, team_id, project_id, name, filters, layout,
                is_default, rank, creator_kind, creator_id, created_at, updated_at)
              select id, workspace_id, team_id, project_id, name, filters::jsonb, layout, is_default, rank,
                creator_kind, creator_id, created_at, updated_at
              from unnest(${uuids(views.map(({ id }) => id))}, ${uuids(views.map(({ workspaceId }) => workspaceId))},
                ${column(views, PgTypes.OID.uuid, ({ teamId }) => teamId)},
                ${column(views, PgTypes.OID.uuid, ({ projectId }) => projectId)}, ${texts(views, ({ name }) => name)},
                ${texts(views, ({ filters }) => JSON.stringify(filters))}, ${texts(views, ({ layout }) => layout)},
                ${column(views, PgTypes.OID.bool, ({ isDefault }) => isDefault)}, ${texts(views, ({ rank }) => rank)},
                ${texts(views, ({ creatorKind }) => creatorKind)}, ${uuids(views.map(({ creatorId }) => creatorId))},
                ${column(views, PgTypes.OID.timestamptz, ({ createdAt }) => date(createdAt))},
                ${column(views, PgTypes.OID.timestamptz, ({ updatedAt }) => date(updatedAt))})
                as t (id, workspace_id, team_id, project_id, name, filters, layout, is_default, rank, creator_kind,
                  creator_id, created_at, updated_at)`)
          ),
        update: (view) =>
          dieOnSqlError(
            Effect.asVoid(sql`update views set name = ${view.name}, filters = ${sql.json(view.filters)},
              layout = ${view.layout}, rank = ${view.rank}, updated_at = ${date(view.updatedAt)}
            where id = ${view.id}`)
          ),
        delete: (id) => dieOnSqlError(Effect.asVoid(sql`delete from views where id = ${id}`)),
        list: (viewer, scope) =>
          sql<SqlRow>`${found(viewer)} and v.scope_id = ${scopeId(viewer.workspaceId, scope)} order by v.rank`.pipe(
            Effect.map((rows) => rows.map(readRow)),
            dieOnSqlError
          ),
        find: (viewer, id) => (isId(id) ? dieOnSqlError(one(viewer, id)) : Effect.undefined),
        lock: (viewer, id) =>
          !isId(id)
            ? Effect.undefined
            : // Two statements: the second must see what was committed while the first waited. Nobody waits for what
              // they do not see.
              sql`select 1 from views v ${scoped} where v.id = ${id} and ${isSeen(viewer)} for update of v`.pipe(
                Effect.andThen(one(viewer, id)),
                dieOnSqlError
              ),
        lockOrder: (workspaceId, scope) => {
          const of = scopeId(workspaceId, scope)
          const order: RankedList<ViewId> = {
            next: (side, rank, except) =>
              sql<{ rank: string }>`select rank from views
                where workspace_id = ${workspaceId} and scope_id = ${of} and id <> ${except} ${
                  rank === null ? sql.literal("") : side === "above" ? sql`and rank > ${rank}` : sql`and rank < ${rank}`
                } order by rank ${sql.literal(side === "above" ? "asc" : "desc")} limit 1`.pipe(
                Effect.map((rows) => rows[0]?.rank ?? null),
                dieOnSqlError
              ),
            ids: sql<{ id: ViewId }>`select id from views
              where workspace_id = ${workspaceId} and scope_id = ${of} order by rank`.pipe(
              Effect.map((rows) => rows.map(({ id }) => id)),
              dieOnSqlError
            ),
            setRanks: (ranks) =>
              dieOnSqlError(
                Effect.asVoid(sql`update views v set rank = new.rank
                  from unnest(${uuids(ranks.map(([id]) => id))}, ${texts(ranks, ([, rank]) => rank)}) as new (id, rank)
                  where v.id = new.id`)
              )
          }
          return Effect.as(sql`select pg_advisory_xact_lock(hashtextextended(${`views:${of}`}, 0))::text`, order).pipe(
            dieOnSqlError
          )
        },
        statusesNamed: (workspaceId, names) =>
          sql<{ id: TicketStatusId }>`select id from ticket_statuses
            where workspace_id = ${workspaceId} and team_id is not null
              and name_key = any(${texts(names, nameKey)})`.pipe(
            Effect.map((rows) => rows.map(({ id }) => id)),
            dieOnSqlError
          ),
        resolve: (viewer, refs) => {
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
                and ${seesProject(sql, viewer, "p")}`.pipe(
            Effect.map((rows) => {
              const of = <Id extends string>(field: keyof KnownRefs) =>
                new Map(rows.filter((row) => row.field === field).map(({ id, ref }) => [ref, id as Id]))
              return {
                owners: of("owners"),
                tags: of<TagId>("tags"),
                teams: of<TeamId>("teams"),
                projects: of<ProjectId>("projects")
              }
            }),
            dieOnSqlError
          )
        },
        followStatus: ({ at, workspaceId, ...change }) =>
          Effect.gen(function* () {
            const views = yield* sql<{ id: ViewId; filters: StoredFilters; isInScope: boolean; isUpdated: boolean }>`
              select v.id, ${filters}, ${letsThrough} as "isInScope", ${isSeenByAll} as "isUpdated"
              from views v cross join (select id, visibility from teams where id = ${change.teamId}) t
              where v.workspace_id = ${workspaceId}
                and (v.filters->'statuses' <> '[]' and ${letsThrough} or ${isFollowed})
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
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    ViewsRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const viewsOf = (database: MemoryDatabase) => database.table(views)
      const inOrder = (database: MemoryDatabase, scope: string) =>
        viewsOf(database)
          .filter((view) => view.scopeId === scope)
          .toSorted((a, b) => compare(a.rank, b.rank))

      const isTagSeen = (database: MemoryDatabase, viewer: Viewer, tag: MemoryTag) => {
        const team = tag.teamId === null ? undefined : database.table(teams).get(tag.teamId)
        return (
          tag.workspaceId === viewer.workspaceId && (team === undefined || seesTeamInMemory(database, viewer, team))
        )
      }

      const letsThrough = (database: MemoryDatabase, view: ViewRow, team: TeamId) =>
        (view.teamId === null || view.teamId === team) &&
        (view.projectId === null ||
          database.table(projectTeams).get(projectLinkKey(view.projectId, team)) !== undefined) &&
        (view.filters.teams.length === 0 || view.filters.teams.includes(team))
      const isSeenByAll = (view: ViewRow, team: TeamRow) => team.visibility === "open" || team.id === view.teamId

      const namingTeams = (database: MemoryDatabase, viewer: Viewer, view: ViewRow): ReadonlyArray<NamingTeam> => {
        const { followed } = view.filters
        if (followed.length === 0) return []
        const names = new Set(followed.map(({ from }) => from))
        const statuses = database
          .table(ticketStatuses)
          .filter(({ nameKey, workspaceId }) => workspaceId === view.workspaceId && names.has(nameKey))
        return database
          .table(teams)
          .filter(({ workspaceId }) => workspaceId === view.workspaceId)
          .map((team) => ({
            id: team.id,
            isSeen: seesTeamInMemory(database, viewer, team),
            isSeenByAll: isSeenByAll(view, team),
            has: letsThrough(database, view, team.id)
              ? statuses.filter(({ teamId }) => teamId === team.id).map(({ nameKey }) => nameKey)
              : []
          }))
          .filter(({ has, id }) => has.length > 0 || followed.some(({ teamId }) => teamId === id))
          .toSorted((a, b) => compare(a.id, b.id))
      }

      const foundIn = (database: MemoryDatabase, viewer: Viewer, row: StoredView): FoundView | undefined => {
        const { scopeId, ...view } = row
        const team = view.teamId === null ? undefined : database.table(teams).get(view.teamId)!
        const project = view.projectId === null ? undefined : database.table(projects).get(view.projectId)!
        const isSeen =
          view.workspaceId === viewer.workspaceId &&
          (team === undefined || seesTeamInMemory(database, viewer, team)) &&
          (project === undefined || seesProjectInMemory(database, viewer, project.id))
        if (!isSeen) return undefined
        const { filters } = view
        return {
          ...view,
          scope:
            team !== undefined
              ? { kind: "team", key: team.key }
              : project !== undefined
                ? { kind: "project", key: project.slug }
                : { kind: "workspace" },
          tags: filters.tags.flatMap((id) => {
            const tag = database.table<MemoryTag>("tags").get(id)
            return tag === undefined ? [] : [{ id, isSeen: isTagSeen(database, viewer, tag) }]
          }),
          seen: {
            teams: filters.teams.flatMap((id) => {
              const team = database.table(teams).get(id)!
              return seesTeamInMemory(database, viewer, team) ? [{ id, key: team.key }] : []
            }),
            projects: filters.projects.flatMap((id) =>
              seesProjectInMemory(database, viewer, id) ? [{ id, slug: database.table(projects).get(id)!.slug }] : []
            )
          },
          namingTeams: namingTeams(database, viewer, view),
          isArchived: (team ?? project ?? { archivedAt: null }).archivedAt !== null,
          position: inOrder(database, scopeId).findIndex(({ id }) => id === view.id),
          createdBy: resolveActor(database, { kind: view.creatorKind, id: view.creatorId } as ActorRef)
        }
      }
      const find = (viewer: Viewer, id: string) =>
        memory.read((database) => {
          const view = viewsOf(database).get(id)
          return view && foundIn(database, viewer, view)
        })

      return ViewsRepo.of({
        insert: (added) =>
          memory.write((database) =>
            Effect.sync(() => {
              for (const view of added) {
                viewsOf(database).set(view.id, { ...view, scopeId: scopeId(view.workspaceId, view) })
              }
            })
          ),
        update: ({ filters, id, layout, name, rank, updatedAt }) =>
          memory.write((database) =>
            Effect.sync(() => {
              const view = viewsOf(database).get(id)!
              viewsOf(database).set(id, { ...view, name, filters, layout, rank, updatedAt })
            })
          ),
        delete: (id) => memory.write((database) => Effect.sync(() => viewsOf(database).delete(id))),
        list: (viewer, scope) =>
          memory.read((database) =>
            inOrder(database, scopeId(viewer.workspaceId, scope)).flatMap(
              (view) => foundIn(database, viewer, view) ?? []
            )
          ),
        find,
        lock: find,
        lockOrder: (workspaceId, scope) => {
          const of = scopeId(workspaceId, scope)
          return Effect.succeed({
            next: (side, rank, except) =>
              memory.read((database) => {
                const others = inOrder(database, of).filter(({ id }) => id !== except)
                const found =
                  side === "above"
                    ? others.find((other) => rank === null || other.rank > rank)
                    : others.findLast((other) => rank === null || other.rank < rank)
                return found?.rank ?? null
              }),
            ids: memory.read((database) => inOrder(database, of).map(({ id }) => id)),
            setRanks: (ranks) =>
              memory.write((database) =>
                Effect.sync(() => {
                  const rows = viewsOf(database)
                  for (const [id, rank] of ranks) rows.set(id, { ...rows.get(id)!, rank })
                })
              )
          })
        },
        statusesNamed: (workspaceId, names) =>
          memory.read((database) => {
            const keys = new Set(names.map(nameKey))
            return database
              .table(ticketStatuses)
              .filter(
                (status) => status.workspaceId === workspaceId && status.teamId !== null && keys.has(status.nameKey)
              )
              .map(({ id }) => id)
          }),
        resolve: (viewer, refs) =>
          memory.read((database) => {
            const { workspaceId } = viewer
            const owners = refs.owners.filter(
              (id) =>
                database.table<MemberRow>("members").get(`${workspaceId}/${id}`) !== undefined ||
                database.table<AgentRow>("agents").get(id)?.workspaceId === workspaceId
            )
            const tags = refs.tags.flatMap((id) => {
              const tag = database.table<MemoryTag>("tags").get(id)
              return tag !== undefined && isTagSeen(database, viewer, tag) ? [tag.id] : []
            })
            const named = database
              .table(teams)
              .filter((team) => refs.teams.includes(team.key) && seesTeamInMemory(database, viewer, team))
            const namedProjects = database
              .table(projects)
              .filter(
                (project) =>
                  project.workspaceId === workspaceId &&
                  refs.projects.includes(project.slug) &&
                  seesProjectInMemory(database, viewer, project.id)
              )
            return {
              owners: new Map(owners.map((id) => [id, id])),
              tags: new Map(tags.map((id) => [id, id])),
              teams: new Map(named.map(({ id, key }) => [key, id])),
              projects: new Map(namedProjects.map(({ id, slug }) => [slug, id]))
            }
          }),
        followStatus: ({ workspaceId, ...change }) =>
          memory.write((database) =>
            Effect.gen(function* () {
              const team = database.table(teams).get(change.teamId)!
              for (const view of viewsOf(database).filter((view) => view.workspaceId === workspaceId)) {
                const names = followName(view.filters, change, letsThrough(database, view, team.id))
                if (names === undefined) continue
                const updatedAt = isSeenByAll(view, team) ? yield* nextUpdate(view) : view.updatedAt
                viewsOf(database).set(view.id, { ...view, filters: { ...view.filters, ...names }, updatedAt })
              }
            })
          )
      })
    })
  )
}

/** Views are ordered within what this names. */
const scopeId = (workspaceId: WorkspaceId, { projectId, teamId }: ScopeIds): string =>
  teamId ?? projectId ?? workspaceId

/** The views that a new project begins with. */
export const defaultViewsOf = (
  project: Pick<ProjectRow, "id" | "workspaceId" | "createdAt">,
  creator: ActorRef
): Effect.Effect<ReadonlyArray<ViewRow>, never, SecureRandom.SecureRandom> => {
  const ranks = spreadRanks(defaultViews.length)
  return Effect.forEach(defaultViews, ({ categories, name }, i) =>
    Effect.map(nextId<ViewId>(), (id) => ({
      id,
      workspaceId: project.workspaceId,
      teamId: null,
      projectId: project.id,
      name,
      filters: { categories, statuses: [], followed: [], owners: [], tags: [], teams: [], projects: [] },
      layout: "list" as const,
      isDefault: true,
      rank: ranks[i]!,
      creatorKind: creator.kind,
      creatorId: creator.id,
      createdAt: project.createdAt,
      updatedAt: project.createdAt
    }))
  )
}

interface MemoryTag {
  readonly id: TagId
  readonly workspaceId: WorkspaceId
  readonly teamId: TeamId | null
}

interface SqlRow extends Omit<ViewRow, "creatorKind" | "creatorId" | "createdAt" | "updatedAt">, ActorRow {
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly scopeKey: string | null
  readonly isArchived: boolean
  readonly position: number
  readonly tags: FoundView["tags"]
  readonly teams: FoundView["seen"]["teams"]
  readonly projects: FoundView["seen"]["projects"]
  readonly namingTeams: FoundView["namingTeams"]
}

const readRow = (row: SqlRow): FoundView => ({
  id: row.id,
  workspaceId: row.workspaceId,
  teamId: row.teamId,
  projectId: row.projectId,
  name: row.name,
  filters: row.filters,
  layout: row.layout,
  isDefault: row.isDefault,
  rank: row.rank,
  creatorKind: row.actorKind,
  creatorId: row.actorId as ActorRef["id"],
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt),
  scope:
    row.scopeKey === null
      ? { kind: "workspace" }
      : { kind: row.teamId === null ? "project" : "team", key: row.scopeKey },
  tags: row.tags,
  seen: { teams: row.teams, projects: row.projects },
  namingTeams: row.namingTeams,
  isArchived: row.isArchived,
  position: row.position,
  createdBy: readActor(row)
})
