import type { Archived } from "@delivery/domain/Archived"
import type { Person } from "@delivery/domain/identity/Actor"
import type { ProductId, ProjectId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import type { Project, ProjectProduct, ProjectProgress, ProjectSummary } from "@delivery/domain/planning/Project"
import type { TeamRef } from "@delivery/domain/planning/Team"
import { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { isSlug } from "@delivery/domain/Text"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { uuids } from "../storage/Columns.ts"
import { date, dateOrNull, dieOnSqlError, failOnDuplicate } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import {
  type LockedProject,
  HoldsTickets,
  type ProjectChanges,
  type ProjectLinks,
  type ProjectRow,
  projects,
  ProjectsRepo
} from "./ProjectsRepo.ts"
import { rankedList } from "./RankedListSql.ts"
import type { Viewer } from "./Viewer.ts"
import { seesProject, seesTeam } from "./Visibility.ts"

export const layer = Layer.effect(
  ProjectsRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return ProjectsRepo.of({
      insert: insert(sql),
      update: update(sql),
      link: (project, links) => dieOnSqlError(Effect.asVoid(sql`with ${linking(sql, project, links)}`)),
      unlink: unlink(sql),
      list: list(sql),
      find: find(sql),
      findPlace: findPlace(sql),
      teamsOf: teamsOf(sql),
      lock: lock(sql),
      lockOrder: lockOrder(sql)
    })
  })
)

const insert = (sql: PgClient.PgClient) => (project: ProjectRow, links: ProjectLinks) =>
  failOnDuplicate(
    Effect.asVoid(sql`with made as (
        insert into projects (id, workspace_id, slug, name, summary, status, lead_id, target_date, document,
          rank, archived_at, created_at, updated_at)
        values (${project.id}, ${project.workspaceId}, ${project.slug}, ${project.name}, ${project.summary},
          ${project.status}, ${project.leadId}, ${project.targetDate}::text::date, ${project.document},
          ${project.rank}, ${dateOrNull(project.archivedAt)}, ${date(project.createdAt)},
          ${date(project.updatedAt)})
      ), ${linking(sql, project, links)}`)
  )

const update = (sql: PgClient.PgClient) => {
  const assignments: Record<keyof ProjectChanges, (changes: ProjectChanges) => Statement.Fragment> = {
    slug: ({ slug }) => sql`slug = ${slug!}`,
    name: ({ name }) => sql`name = ${name!}`,
    summary: ({ summary }) => sql`summary = ${summary!}`,
    status: ({ status }) => sql`status = ${status!}`,
    leadId: ({ leadId }) => sql`lead_id = ${leadId!}`,
    targetDate: ({ targetDate }) => sql`target_date = ${targetDate!}::text::date`,
    document: ({ document }) => sql`document = ${document!}`,
    rank: ({ rank }) => sql`rank = ${rank!}`,
    archivedAt: ({ archivedAt }) => sql`archived_at = ${dateOrNull(archivedAt!)}`,
    updatedAt: ({ updatedAt }) => sql`updated_at = ${date(updatedAt!)}`
  }
  const properties = Object.keys(assignments) as ReadonlyArray<keyof ProjectChanges>
  return (id: ProjectId, changes: ProjectChanges) => {
    const changed = properties.filter((property) => property in changes)
    return failOnDuplicate(
      Effect.asVoid(
        sql`update projects set ${sql.csv(changed.map((property) => assignments[property](changes)))} where id = ${id}`
      )
    )
  }
}

/** The end of a statement that links. The project may be inserted by the same statement. */
const linking = (
  sql: PgClient.PgClient,
  { id, workspaceId }: Pick<ProjectRow, "id" | "workspaceId">,
  links: ProjectLinks
) => sql`
  of_teams as (
    insert into project_teams (workspace_id, project_id, team_id)
    select ${workspaceId}::uuid, ${id}::uuid, unnest(${uuids(links.teams)})
  )
  insert into project_products (workspace_id, project_id, product_id)
  select ${workspaceId}::uuid, ${id}::uuid, unnest(${uuids(links.products)})`

const unlink = (sql: PgClient.PgClient) => (project: Pick<ProjectRow, "id" | "workspaceId">, links: ProjectLinks) =>
  sql`with of_products as (
      delete from project_products
      where workspace_id = ${project.workspaceId} and project_id = ${project.id}
        and product_id = any(${uuids(links.products)})
    )
    delete from project_teams where workspace_id = ${project.workspaceId} and project_id = ${project.id}
      and team_id = any(${uuids(links.teams)})`.pipe(
    Effect.asVoid,
    // A ticket refers to the link of its project and its team.
    Effect.catchReason("SqlError", "ConstraintError", () => Effect.fail(new HoldsTickets())),
    dieOnSqlError
  )

const statusCategories = StatusCategory.literals

const leadColumn = `case when lead.id is not null then
  json_build_object('id', lead.id, 'name', lead.name, 'email', lead.email) end as lead`

const productsColumn = `(
  select coalesce(json_agg(json_build_object('id', d.id, 'slug', d.slug, 'name', d.name)), '[]')
  from project_products l join products d on d.id = l.product_id
  where l.workspace_id = p.workspace_id and l.project_id = p.id) as products`

/** Tickets `k` by the category of their status `st`. */
const ticketCounts = statusCategories
  .map((category) => `count(*) filter (where st.category = '${category}')::int as ${category}`)
  .join(", ")

const progressColumn = `json_build_object(${statusCategories
  .map((category) => `'${category}', coalesce(progress.${category}, 0)`)
  .join(", ")}) as progress`

const summaryProperties = [
  "id",
  "slug",
  "name",
  "summary",
  "status",
  "targetDate",
  "archivedAt",
  "createdAt",
  "updatedAt"
] as const
const readFields = partReaderOf(projects, summaryProperties)

/** What a summary shows of the project `p`, beside what `linkedTables` and `progress` add. */
const summaryColumns = [
  columnsOf(projects, { of: "p", only: summaryProperties }),
  "linked.teams",
  leadColumn,
  productsColumn,
  progressColumn
].join(", ")

/** The lead of the project `p`, and those of its teams that are in `seen`; null where there are none. */
const linkedTables = `left join persons lead on lead.id = p.lead_id
  cross join lateral (
    select json_agg(json_build_object('id', s.id, 'key', s.key, 'name', s.name, 'visibility', s.visibility))
      as teams
    from project_teams l join seen s on s.id = l.team_id
    where l.workspace_id = p.workspace_id and l.project_id = p.id
  ) linked`

/** The teams that the viewer sees, as the table `seen` of a statement. */
const withSeen = (sql: PgClient.PgClient, viewer: Viewer) => sql`with seen as materialized (
  select t.id, t.key, t.name, t.visibility from teams t
  where t.workspace_id = ${viewer.workspaceId} and ${seesTeam(sql, viewer, "t")})`

type SelectedSummary = SelectedRow & {
  readonly lead: Person | null
  readonly teams: ReadonlyArray<TeamRef>
  readonly products: ReadonlyArray<ProjectProduct>
  readonly progress: ProjectProgress
}

const readSummary = (row: SelectedSummary): ProjectSummary => ({
  ...readFields(row),
  lead: row.lead,
  teams: row.teams,
  products: row.products,
  progress: row.progress
})

const list = (sql: PgClient.PgClient) => {
  const [columns, linked, counts] = [sql.literal(summaryColumns), sql.literal(linkedTables), sql.literal(ticketCounts)]
  const isArchived = {
    include: sql.literal(""),
    only: sql.literal("and p.archived_at is not null"),
    exclude: sql.literal("and p.archived_at is null")
  }
  return (
    viewer: Viewer,
    {
      archived,
      productId,
      teamId
    }: {
      readonly teamId?: TeamId | undefined
      readonly productId?: ProductId | undefined
      readonly archived: Archived
    }
  ) =>
    sql<SelectedSummary>`${withSeen(sql, viewer)}, progress as (
        select k.project_id, ${counts}
        from tickets k join seen on seen.id = k.team_id join ticket_statuses st on st.id = k.status_id
        where k.workspace_id = ${viewer.workspaceId} and k.project_id is not null
        group by k.project_id
      )
      select ${columns}
      from projects p ${linked} left join progress on progress.project_id = p.id
      where p.workspace_id = ${viewer.workspaceId} and linked.teams is not null
        ${isArchived[archived]}
        ${
          teamId === undefined
            ? sql.literal("")
            : sql`and exists (select 1 from project_teams l
                where l.workspace_id = p.workspace_id and l.team_id = ${teamId} and l.project_id = p.id)`
        }
        ${
          productId === undefined
            ? sql.literal("")
            : sql`and exists (select 1 from project_products l
                where l.workspace_id = p.workspace_id and l.product_id = ${productId} and l.project_id = p.id)`
        }
      order by p.rank`.pipe(
      Effect.map((rows) => rows.map(readSummary)),
      dieOnSqlError
    )
}

const find = (sql: PgClient.PgClient) => {
  const [columns, linked, counts] = [sql.literal(summaryColumns), sql.literal(linkedTables), sql.literal(ticketCounts)]
  return (viewer: Viewer, slug: string) =>
    !isSlug(slug)
      ? Effect.undefined
      : sql<SelectedSummary & Pick<Project, "milestones" | "document">>`${withSeen(sql, viewer)}
        select ${columns}, p.document, (
          select coalesce(json_agg(json_build_object('id', m.id, 'number', m.number, 'name', m.name,
            'summary', m.summary) order by m.number), '[]')
          from milestones m where m.project_id = p.id) as milestones
        from projects p ${linked} cross join lateral (
          select ${counts}
          from tickets k join ticket_statuses st on st.id = k.status_id
          where k.workspace_id = p.workspace_id and k.project_id = p.id
            and k.team_id in (select id from seen)
        ) progress
        where p.workspace_id = ${viewer.workspaceId} and p.slug = ${slug} and linked.teams is not null`.pipe(
          Effect.map(
            (rows) =>
              rows.map((row) => ({ ...readSummary(row), milestones: row.milestones, document: row.document }))[0]
          ),
          dieOnSqlError
        )
}

const placeProperties = ["id", "rank", "archivedAt"] as const
const placeColumns = columnsOf(projects, { of: "p", only: placeProperties })
const readPlace = partReaderOf(projects, placeProperties)

const findPlace = (sql: PgClient.PgClient) => (viewer: Viewer, slug: string) =>
  !isSlug(slug)
    ? Effect.undefined
    : sql<SelectedRow>`select ${sql.literal(placeColumns)} from projects p
        where p.workspace_id = ${viewer.workspaceId} and p.slug = ${slug} and ${seesProject(sql, viewer, "p")}`.pipe(
        Effect.map((rows) => rows.map(readPlace)[0]),
        dieOnSqlError
      )

const teamsOf = (sql: PgClient.PgClient) => (id: ProjectId) =>
  sql<{ id: TeamId }>`select l.team_id as id from projects p
    join project_teams l on l.workspace_id = p.workspace_id and l.project_id = p.id where p.id = ${id}`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id)),
    dieOnSqlError
  )

const rowProperties = [...summaryProperties, "workspaceId", "leadId", "document", "rank"] as const
const rowColumns = columnsOf(projects, { of: "p", only: rowProperties })
const readRow = partReaderOf(projects, rowProperties)

type SelectedHeld = SelectedRow & Pick<LockedProject, "lead" | "products" | "teams">

const readHeld = (row: SelectedHeld): LockedProject => ({
  ...readRow(row),
  lead: row.lead,
  teams: row.teams,
  products: row.products
})

const lock = (sql: PgClient.PgClient) => {
  const columns = sql.literal([rowColumns, leadColumn, productsColumn].join(", "))
  return (viewer: Viewer, slug: string) =>
    Effect.gen(function* () {
      if (!isSlug(slug)) return undefined
      // Nobody waits for a project that they do not see.
      const held = yield* sql<{ id: ProjectId }>`select p.id from projects p
        where p.workspace_id = ${viewer.workspaceId} and p.slug = ${slug} and ${seesProject(sql, viewer, "p")}
        for update of p`
      if (held.length === 0) return undefined
      // A statement of its own: it must see what was committed while the one before waited.
      const rows = yield* sql<SelectedHeld>`
        select ${columns}, (
            select json_agg(json_build_object('id', t.id, 'key', t.key, 'name', t.name,
              'visibility', t.visibility, 'isSeen', ${seesTeam(sql, viewer, "t")}))
            from project_teams l join teams t on t.id = l.team_id
            where l.workspace_id = p.workspace_id and l.project_id = p.id) as teams
        from projects p left join persons lead on lead.id = p.lead_id where p.id = ${held[0]!.id}`
      const project = readHeld(rows[0]!)
      return project.teams.some(({ isSeen }) => isSeen) ? project : undefined
    }).pipe(dieOnSqlError)
}

const lockOrder = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId) =>
  Effect.as(
    sql`select pg_advisory_xact_lock(hashtextextended(${`projects:${workspaceId}`}, 0))::text`,
    rankedList<ProjectId>(sql, projects, sql`workspace_id = ${workspaceId}`)
  ).pipe(dieOnSqlError)
