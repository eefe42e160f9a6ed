import type { MilestoneId, WorkspaceId } from "@delivery/domain/Ids"
import { parseMilestoneRef } from "@delivery/domain/planning/Project"
import { isId, isSlug } from "@delivery/domain/Text"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { texts, uuids } from "../storage/Columns.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import { projects } from "./ProjectsRepo.ts"
import { teams } from "./TeamsRepo.ts"
import { type OwnerCandidate, ownerRefOf, resolvedOwner, selectCandidate } from "./TicketOwners.ts"
import { namesTicket } from "./TicketRefs.ts"
import { joinedTables, listedColumns, readListed, type SelectedTicket, wholeColumns } from "./TicketRowsSql.ts"
import {
  type MilestonePart,
  type TagPart,
  type TeamStatus,
  type TicketPlace,
  tickets,
  type TicketSelection,
  TicketsRepo,
  wholeSelection
} from "./TicketsRepo.ts"
import { search } from "./TicketSearchSql.ts"
import { wordComments, wordTickets } from "./TicketWordsSql.ts"
import { inStatus, insert, orderOf, remove, takeNumber, update } from "./TicketWritesSql.ts"
import type { Viewer } from "./Viewer.ts"
import { seesProject, seesTeam } from "./Visibility.ts"

export const layer = Layer.effect(
  TicketsRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    TicketsRepo.of({
      list: list(sql),
      search: search(sql, (viewer, selection) => visible(sql, viewer, selection)),
      wordTickets: wordTickets(sql),
      wordComments: wordComments(sql),
      find: find(sql),
      locate: locate(sql),
      lockTeams: lockTeams(sql),
      findProject: findProject(sql, ""),
      findMilestone: findMilestone(sql),
      lockProject: findProject(sql, "for share of p"),
      lock: lock(sql),
      resolve: resolve(sql),
      findOwner: findOwner(sql),
      takeNumber: takeNumber(sql),
      insert: insert(sql),
      update: update(sql),
      delete: remove(sql),
      orderOf: orderOf(sql),
      inStatus: inStatus(sql)
    })
  )
)

type Repo = TicketsRepo["Service"]

const list = (sql: PgClient.PgClient): Repo["list"] => {
  const columns = listedColumns(sql)
  const tables = joinedTables(sql)
  return (viewer, selection) =>
    sql<SelectedTicket>`select ${columns} ${tables}
      where ${sql.and(visible(sql, viewer, selection))}`.pipe(
      Effect.map((rows) => rows.map(readListed)),
      dieOnSqlError
    )
}

const visible = (
  sql: PgClient.PgClient,
  viewer: Viewer,
  selection: TicketSelection
): ReadonlyArray<Statement.Fragment> => [
  sql`t.workspace_id = ${viewer.workspaceId}`,
  seesTeam(sql, viewer, "team"),
  ...conditionsOf(sql, selection)
]

const conditionsOf = (sql: PgClient.PgClient, selection: TicketSelection): ReadonlyArray<Statement.Fragment> => {
  const { categories, milestoneIds, owners, projectIds, statusIds, tagIds, teamIds } = wholeSelection(selection)
  const isOneOf = (column: string, ids: ReadonlyArray<string>) => sql`${sql.literal(column)} = any(${uuids(ids)})`
  const isOneOrNone = (column: string, ids: ReadonlyArray<string | null>) => {
    const isOne = isOneOf(
      column,
      ids.filter((id) => id !== null)
    )
    return ids.includes(null) ? sql`(${isOne} or ${sql.literal(column)} is null)` : isOne
  }
  const conditions: Array<Statement.Fragment> = []
  if (teamIds.length > 0) conditions.push(isOneOf("t.team_id", teamIds))
  if (projectIds.length > 0) conditions.push(isOneOf("t.project_id", projectIds))
  if (milestoneIds.length > 0) conditions.push(isOneOrNone("t.milestone_id", milestoneIds))
  if (statusIds.length > 0) conditions.push(isOneOf("t.status_id", statusIds))
  if (categories.length > 0) conditions.push(sql`s.category = any(${texts(categories, (category) => category)})`)
  if (owners.length > 0) conditions.push(isOneOrNone("t.owner_id", owners))
  if (tagIds.length > 0) {
    conditions.push(sql`exists (select 1 from ticket_tags tt where tt.ticket_id = t.id
      and ${isOneOf("tt.tag_id", tagIds)})`)
  }
  return conditions
}

const find = (sql: PgClient.PgClient): Repo["find"] => {
  const columns = wholeColumns(sql)
  const tables = joinedTables(sql)
  return (viewer, ref) => {
    const isNamed = namesTicket(sql, viewer, ref)
    return isNamed === undefined
      ? Effect.undefined
      : sql<SelectedTicket & { readonly plan: string | null }>`select ${columns}, t.plan ${tables}
          where t.workspace_id = ${viewer.workspaceId} and ${isNamed} and ${seesTeam(sql, viewer, "team")}`.pipe(
          Effect.map((rows) => rows.map((row) => ({ ...readListed(row), plan: row.plan }))[0]),
          dieOnSqlError
        )
  }
}

const placeProperties = ["id", "teamId", "projectId"] as const

const locate =
  (sql: PgClient.PgClient): Repo["locate"] =>
  (viewer, ref) => {
    const isNamed = namesTicket(sql, viewer, ref)
    return isNamed === undefined
      ? Effect.undefined
      : sql<TicketPlace>`select ${sql.literal(columnsOf(tickets, { of: "t", only: placeProperties }))}
          from tickets t join teams team on team.id = t.team_id
          where t.workspace_id = ${viewer.workspaceId} and ${isNamed} and ${seesTeam(sql, viewer, "team")}`.pipe(
          Effect.map((rows): TicketPlace | undefined => rows[0]),
          dieOnSqlError
        )
  }

const lock =
  (sql: PgClient.PgClient): Repo["lock"] =>
  (id) =>
    sql<TicketPlace>`select ${sql.literal(columnsOf(tickets, { only: placeProperties }))} from tickets
      where id = ${id} for no key update`.pipe(
      Effect.map((rows): TicketPlace | undefined => rows[0]),
      dieOnSqlError
    )

const teamColumns = ["id", "key", "name", "visibility", "archivedAt"] as const
const readTeam = partReaderOf(teams, teamColumns)

const lockTeams = (sql: PgClient.PgClient): Repo["lockTeams"] => {
  const columns = sql.literal(columnsOf(teams, { only: teamColumns }))
  return (ids, how) =>
    sql<SelectedRow>`select ${columns} from teams where id = any(${uuids(ids)}) order by id
      ${sql.literal(how === "exclusive" ? "for no key update" : "for share")}`.pipe(
      Effect.map((rows) => new Map(rows.map((row) => locked(readTeam(row))).map((team) => [team.id, team]))),
      dieOnSqlError
    )
}

const projectColumns = ["id", "slug", "name", "archivedAt"] as const
const readProject = partReaderOf(projects, projectColumns)

const findProject = (sql: PgClient.PgClient, lock: "" | "for share of p"): Repo["findProject"] => {
  const columns = sql.literal(columnsOf(projects, { of: "p", only: projectColumns }))
  return (viewer, ref) =>
    isId(ref) || isSlug(ref)
      ? sql<SelectedRow>`select ${columns} from projects p
          where p.workspace_id = ${viewer.workspaceId} and ${isId(ref) ? sql`p.id = ${ref}` : sql`p.slug = ${ref}`}
            and ${seesProject(sql, viewer, "p")}
          ${sql.literal(lock)}`.pipe(
          Effect.map((rows) => rows.map((row) => locked(readProject(row)))[0]),
          dieOnSqlError
        )
      : Effect.undefined
}

const findMilestone =
  (sql: PgClient.PgClient): Repo["findMilestone"] =>
  (viewer, ref) => {
    const named = parseMilestoneRef(ref)
    return named === undefined
      ? Effect.undefined
      : sql<{ readonly id: MilestoneId }>`select m.id from milestones m join projects p on p.id = m.project_id
          where p.workspace_id = ${viewer.workspaceId} and p.slug = ${named.project} and m.number = ${named.number}
            and ${seesProject(sql, viewer, "p")}`.pipe(
          Effect.map((rows): MilestoneId | undefined => rows[0]?.id),
          dieOnSqlError
        )
  }

/** What is locked, with whether it is archived in place of when. */
const locked = <Part extends { readonly archivedAt: unknown }>({ archivedAt, ...part }: Part) => ({
  ...part,
  archived: archivedAt !== null
})

interface SelectedReferences {
  readonly statuses: ReadonlyArray<TeamStatus> | null
  readonly lastRank: string | null
  readonly owner: OwnerCandidate | null
  readonly isLinked: boolean
  readonly milestone: MilestonePart | null
  readonly tags: ReadonlyArray<TagPart> | null
}

const resolve =
  (sql: PgClient.PgClient): Repo["resolve"] =>
  ({ milestone, owner, projectId, tags = [], teamId, workspaceId }) =>
    sql<SelectedReferences>`with held_tags as materialized (
        select json_build_object('id', id, 'name', name, 'color', color, 'teamId', team_id) as tag from tags
        where workspace_id = ${workspaceId} and id = any(${uuids(tags.filter(isId))})
          and (team_id is null or team_id = ${teamId})
        order by id for key share
      )
      select (select json_agg(tag) from held_tags) as tags,
        (select json_agg(json_build_object('id', s.id, 'name', s.name, 'category', s.category,
            'position', s.position, 'isDefault', s.is_default))
          from ticket_statuses s where s.workspace_id = ${workspaceId} and s.team_id = ${teamId}) as statuses,
        (select max(t.rank) from tickets t where t.team_id = ${teamId}) as "lastRank",
        ${owner === undefined ? sql`null` : sql`(${selectCandidate(sql, workspaceId, owner, teamId)})`} as owner,
        exists (select 1 from project_teams pt
          where pt.project_id = ${projectId ?? null}::uuid and pt.team_id = ${teamId}) as "isLinked",
        (select json_build_object('id', m.id, 'number', m.number, 'name', m.name) from milestones m
          where m.project_id = ${projectId ?? null}::uuid and m.number = ${milestone ?? null}::int) as milestone
      `.pipe(
      Effect.map(([row]) => ({
        statuses: row!.statuses ?? [],
        lastRank: row!.lastRank,
        owner: row!.owner === null ? undefined : resolvedOwner(row!.owner),
        isLinked: row!.isLinked,
        milestone: row!.milestone ?? undefined,
        tags: row!.tags ?? []
      })),
      dieOnSqlError
    )

const findOwner = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId, ref: string) =>
  sql<{ readonly owner: OwnerCandidate }>`${selectCandidate(sql, workspaceId, ref, null)}`.pipe(
    Effect.map(([row]) => row && ownerRefOf(row.owner)),
    dieOnSqlError
  )
