import type { Archived } from "@delivery/domain/Doc"
import type { Person } from "@delivery/domain/identity/Actor"
import type {
  MilestoneId,
  PersonId,
  ProductId,
  ProjectId,
  TeamId,
  TicketId,
  TicketStatusId,
  WorkspaceId
} from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type {
  Milestone,
  Project,
  ProjectProduct,
  ProjectProgress,
  ProjectStatus,
  ProjectSummary
} from "@delivery/domain/planning/Project"
import type { TeamRef } from "@delivery/domain/planning/Team"
import { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { isSlug } from "@delivery/domain/Text"
import { PgClient } from "@effect/sql-pg"
import { Context, Data, Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { isListed } from "../catalog/Archivables.ts"
import { products } from "../catalog/ProductsRepo.ts"
import type { PersonRow } from "../access/ActorRows.ts"
import { texts, uuids } from "../storage/Columns.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dateOrNull, dieOnSqlError, failOnDuplicate, iso, isoOrNull, UniqueViolation } from "../storage/Sql.ts"
import { day, instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import { milestones } from "./MilestonesRepo.ts"
import type { RankedList } from "./RankedList.ts"
import { teams } from "./TeamsRepo.ts"
import { ticketStatuses } from "./TicketStatusesRepo.ts"
import { seesProject, seesTeam, type Viewer } from "./Visibility.ts"
import { seesProjectInMemory, seesTeamInMemory } from "./VisibilityMemory.ts"

/** The projects of each workspace. */
export const projects = table("projects", {
  id: uuid<ProjectId>(),
  workspaceId: uuid<WorkspaceId>(),
  slug: text(),
  name: text(),
  summary: nullable(text()),
  status: text<ProjectStatus>(),
  leadId: nullable(uuid<PersonId>()),
  targetDate: nullable(day()),
  document: nullable(text()),
  rank: text(),
  /** Counted by `MilestonesRepo`: a number is given to one milestone. */
  lastMilestoneNumber: integer(),
  archivedAt: nullable(instant()),
  createdAt: instant(),
  updatedAt: instant()
})

type StoredProject = Row<typeof projects>

export type ProjectRow = Omit<StoredProject, "lastMilestoneNumber">

/** The teams of each project. In memory by `projectLinkKey`. */
export const projectTeams = table("project_teams", {
  workspaceId: uuid<WorkspaceId>(),
  projectId: uuid<ProjectId>(),
  teamId: uuid<TeamId>()
})

/** The products of each project. In memory by `projectLinkKey`. */
export const projectProducts = table("project_products", {
  workspaceId: uuid<WorkspaceId>(),
  projectId: uuid<ProjectId>(),
  productId: uuid<ProductId>()
})

export const projectLinkKey = (projectId: ProjectId, linked: TeamId | ProductId): string => `${projectId}/${linked}`

/** What may change of a project, beside its links. */
export type ProjectChanges = Partial<Omit<ProjectRow, "id" | "workspaceId" | "createdAt">>

export interface ProjectLinks {
  readonly teams: ReadonlyArray<TeamId>
  readonly products: ReadonlyArray<ProductId>
}

/** A project that is held, with all of its teams. */
export interface HeldProject extends ProjectRow {
  readonly lead: Person | null
  readonly teams: ReadonlyArray<TeamRef & { readonly isSeen: boolean }>
  readonly products: ReadonlyArray<ProjectProduct>
}

const statusCategories = StatusCategory.literals

/** A team cannot be unlinked: the project holds tickets of it. */
export class HoldsTickets extends Data.TaggedError("HoldsTickets")<{}> {}

/**
 * Stores projects and their links; a slug, a name and a rank are used once in a workspace. Projects are found for a
 * viewer: one without a team that they see is not there, and neither are, in it, other teams and their tickets.
 */
export class ProjectsRepo extends Context.Service<
  ProjectsRepo,
  {
    readonly insert: (project: ProjectRow, links: ProjectLinks) => Effect.Effect<void, UniqueViolation>
    readonly update: (id: ProjectId, changes: ProjectChanges) => Effect.Effect<void, UniqueViolation>
    readonly link: (project: Pick<ProjectRow, "id" | "workspaceId">, links: ProjectLinks) => Effect.Effect<void>
    /** `HoldsTickets` where the project holds tickets of one of the teams, whoever may see them. */
    readonly unlink: (
      project: Pick<ProjectRow, "id" | "workspaceId">,
      links: ProjectLinks
    ) => Effect.Effect<void, HoldsTickets>
    /** In priority order; teams and products in no particular order. */
    readonly list: (
      viewer: Viewer,
      filter: {
        readonly teamId?: TeamId | undefined
        readonly productId?: ProductId | undefined
        readonly archived: Archived
      }
    ) => Effect.Effect<ReadonlyArray<ProjectSummary>>
    /** By slug; milestones in the order of their numbers, teams and products in no particular order. */
    readonly find: (viewer: Viewer, slug: string) => Effect.Effect<Project | undefined>
    /** By slug: its place, for what is moved beside it. */
    readonly findPlace: (
      viewer: Viewer,
      slug: string
    ) => Effect.Effect<Pick<ProjectRow, "id" | "rank" | "archivedAt"> | undefined>
    /** Every team of the project, whoever sees it. */
    readonly teamsOf: (id: ProjectId) => Effect.Effect<ReadonlyArray<TeamId>>
    /**
     * By slug; holds the row until the transaction ends. Whoever puts a ticket into a project holds the row `for share`
     * before they look at its teams, milestones and `archivedAt`: those change only while it is held alone.
     */
    readonly lock: (viewer: Viewer, slug: string) => Effect.Effect<HeldProject | undefined>
    /** The workspace's priority order, archived projects in it; holds it until the transaction ends. */
    readonly lockOrder: (workspaceId: WorkspaceId) => Effect.Effect<RankedList<ProjectId>>
  }
>()("@delivery/server/planning/ProjectsRepo") {
  static readonly layerSql = Layer.effect(
    ProjectsRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const person = sql.literal(`case when lead.id is not null then
        json_build_object('id', lead.id, 'name', lead.name, 'email', lead.email) end as lead`)
      const products = sql.literal(`(
        select coalesce(json_agg(json_build_object('id', d.id, 'slug', d.slug, 'name', d.name)), '[]')
        from project_products l join products d on d.id = l.product_id
        where l.workspace_id = p.workspace_id and l.project_id = p.id) as products`)
      /** The viewer's teams, as the tables `seen` of a statement. */
      const withSeen = (viewer: Viewer) => sql`with seen as materialized (
        select t.id, t.key, t.name, t.visibility from teams t
        where t.workspace_id = ${viewer.workspaceId} and ${seesTeam(sql, viewer, "t")})`
      const shown = sql.literal(`p.id, p.slug, p.name, p.summary, p.status, p.target_date::text as "targetDate",
        p.archived_at as "archivedAt", p.created_at as "createdAt", p.updated_at as "updatedAt", linked.teams`)
      const linked = sql.literal(`left join persons lead on lead.id = p.lead_id
        cross join lateral (
          select json_agg(json_build_object('id', s.id, 'key', s.key, 'name', s.name, 'visibility', s.visibility))
            as teams
          from project_teams l join seen s on s.id = l.team_id
          where l.workspace_id = p.workspace_id and l.project_id = p.id
        ) linked`)
      const counts = sql.literal(
        statusCategories
          .map((category) => `count(*) filter (where st.category = '${category}')::int as ${category}`)
          .join(", ")
      )
      const progress = sql.literal(
        `json_build_object(${statusCategories
          .map((category) => `'${category}', coalesce(progress.${category}, 0)`)
          .join(", ")}) as progress`
      )

      const columns: Record<keyof ProjectChanges, (changes: ProjectChanges) => Statement.Fragment> = {
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

      /** The end of a statement that links; a project that it makes is of use at its end. */
      const linking = ({ id, workspaceId }: Pick<ProjectRow, "id" | "workspaceId">, links: ProjectLinks) => sql`
        of_teams as (
          insert into project_teams (workspace_id, project_id, team_id)
          select ${workspaceId}::uuid, ${id}::uuid, unnest(${uuids(links.teams)})
        )
        insert into project_products (workspace_id, project_id, product_id)
        select ${workspaceId}::uuid, ${id}::uuid, unnest(${uuids(links.products)})`

      return ProjectsRepo.of({
        insert: (project, links) =>
          failOnDuplicate(
            Effect.asVoid(sql`with made as (
                insert into projects (id, workspace_id, slug, name, summary, status, lead_id, target_date, document,
                  rank, archived_at, created_at, updated_at)
                values (${project.id}, ${project.workspaceId}, ${project.slug}, ${project.name}, ${project.summary},
                  ${project.status}, ${project.leadId}, ${project.targetDate}::text::date, ${project.document},
                  ${project.rank}, ${dateOrNull(project.archivedAt)}, ${date(project.createdAt)},
                  ${date(project.updatedAt)})
              ), ${linking(project, links)}`)
          ),

        update: (id, changes) => {
          const changed = (Object.keys(columns) as ReadonlyArray<keyof ProjectChanges>).filter((key) => key in changes)
          return failOnDuplicate(
            Effect.asVoid(
              sql`update projects set ${sql.csv(changed.map((key) => columns[key](changes)))} where id = ${id}`
            )
          )
        },

        link: (project, links) => dieOnSqlError(Effect.asVoid(sql`with ${linking(project, links)}`)),

        unlink: (project, links) =>
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
          ),

        list: (viewer, { archived, productId, teamId }) =>
          sql<ShownRow>`${withSeen(viewer)}, progress as (
              select k.project_id, ${counts}
              from tickets k join seen on seen.id = k.team_id join ticket_statuses st on st.id = k.status_id
              where k.workspace_id = ${viewer.workspaceId} and k.project_id is not null
              group by k.project_id
            )
            select ${shown}, ${person}, ${products}, ${progress}
            from projects p ${linked} left join progress on progress.project_id = p.id
            where p.workspace_id = ${viewer.workspaceId} and linked.teams is not null
              ${archived === "include" ? sql.literal("") : sql.literal(`and p.archived_at is ${archived === "only" ? "not null" : "null"}`)}
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
            Effect.map((rows) => rows.map(readShown)),
            dieOnSqlError
          ),

        find: (viewer, slug) =>
          !isSlug(slug)
            ? Effect.undefined
            : sql<ShownRow & Pick<Project, "milestones" | "document">>`${withSeen(viewer)}
              select ${shown}, ${person}, ${products}, ${progress}, p.document, (
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
                Effect.map((rows) => rows.map((row) => ({ ...row, ...readShown(row) }))[0]),
                dieOnSqlError
              ),

        findPlace: (viewer, slug) =>
          !isSlug(slug)
            ? Effect.undefined
            : sql<{ id: ProjectId; rank: string; archivedAt: Date | null }>`
              select p.id, p.rank, p.archived_at as "archivedAt" from projects p
              where p.workspace_id = ${viewer.workspaceId} and p.slug = ${slug} and ${seesProject(sql, viewer, "p")}`.pipe(
                Effect.map((rows) => rows.map((row) => ({ ...row, archivedAt: isoOrNull(row.archivedAt) }))[0]),
                dieOnSqlError
              ),

        teamsOf: (id) =>
          sql<{ id: TeamId }>`select l.team_id as id from projects p
            join project_teams l on l.workspace_id = p.workspace_id and l.project_id = p.id where p.id = ${id}`.pipe(
            Effect.map((rows) => rows.map(({ id }) => id)),
            dieOnSqlError
          ),

        lock: (viewer, slug) =>
          Effect.gen(function* () {
            if (!isSlug(slug)) return undefined
            // Nobody waits for what they do not see.
            const held = yield* sql<{ id: ProjectId }>`select p.id from projects p
              where p.workspace_id = ${viewer.workspaceId} and p.slug = ${slug} and ${seesProject(sql, viewer, "p")}
              for update of p`
            if (held.length === 0) return undefined
            // A statement of its own: it must see what was committed while the one before waited.
            const rows = yield* sql<HeldRow>`
              select p.id, p.workspace_id as "workspaceId", p.slug, p.name, p.summary, p.status, p.lead_id as "leadId",
                p.target_date::text as "targetDate", p.document, p.rank, p.archived_at as "archivedAt",
                p.created_at as "createdAt", p.updated_at as "updatedAt", ${person}, ${products}, (
                  select json_agg(json_build_object('id', t.id, 'key', t.key, 'name', t.name,
                    'visibility', t.visibility, 'isSeen', ${seesTeam(sql, viewer, "t")}))
                  from project_teams l join teams t on t.id = l.team_id
                  where l.workspace_id = p.workspace_id and l.project_id = p.id) as teams
              from projects p left join persons lead on lead.id = p.lead_id where p.id = ${held[0]!.id}`
            const row = rows[0]!
            return row.teams.some(({ isSeen }) => isSeen) ? readHeld(row) : undefined
          }).pipe(dieOnSqlError),

        lockOrder: (workspaceId) =>
          Effect.as(
            sql`select pg_advisory_xact_lock(hashtextextended(${`projects:${workspaceId}`}, 0))::text`,
            orderOf(workspaceId)
          ).pipe(dieOnSqlError)
      })

      function orderOf(workspaceId: WorkspaceId): RankedList<ProjectId> {
        return {
          next: (side, rank, except) =>
            sql<{ rank: string }>`select rank from projects
              where workspace_id = ${workspaceId} and id <> ${except} ${
                rank === null ? sql.literal("") : side === "above" ? sql`and rank > ${rank}` : sql`and rank < ${rank}`
              } order by rank ${sql.literal(side === "above" ? "asc" : "desc")} limit 1`.pipe(
              Effect.map((rows) => rows[0]?.rank ?? null),
              dieOnSqlError
            ),
          ids: sql<{ id: ProjectId }>`select id from projects where workspace_id = ${workspaceId} order by rank`.pipe(
            Effect.map((rows) => rows.map(({ id }) => id)),
            dieOnSqlError
          ),
          setRanks: (ranks) =>
            dieOnSqlError(
              Effect.asVoid(sql`update projects p set rank = new.rank
                from unnest(${uuids(ranks.map(([id]) => id))}, ${texts(ranks, ([, rank]) => rank)}) as new (id, rank)
                where p.id = new.id`)
            )
        }
      }
    })
  )

  static readonly layerMemory = Layer.effect(
    ProjectsRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const projectsOf = (database: MemoryDatabase) => database.table(projects)
      const teamLinks = (database: MemoryDatabase) => database.table(projectTeams)
      const productLinks = (database: MemoryDatabase) => database.table(projectProducts)

      const taken = (
        database: MemoryDatabase,
        project: Pick<ProjectRow, "id" | "workspaceId" | "slug" | "name" | "rank">
      ) => {
        const others = projectsOf(database).filter(
          (other) => other.workspaceId === project.workspaceId && other.id !== project.id
        )
        if (others.some(({ slug }) => slug === project.slug)) return "projects_slug_key"
        if (others.some(({ name }) => name === project.name)) return "projects_name_key"
        return others.some(({ rank }) => rank === project.rank) ? "projects_rank_key" : undefined
      }
      const put = (database: MemoryDatabase, project: StoredProject) => {
        const constraint = taken(database, project)
        return constraint === undefined
          ? Effect.sync(() => projectsOf(database).set(project.id, project))
          : Effect.fail(new UniqueViolation({ constraint }))
      }
      const putLinks = (
        database: MemoryDatabase,
        { id, workspaceId }: Pick<ProjectRow, "id" | "workspaceId">,
        { products, teams }: ProjectLinks
      ) => {
        for (const teamId of teams) {
          teamLinks(database).set(`${id}/${teamId}`, { workspaceId, projectId: id, teamId })
        }
        for (const productId of products) {
          productLinks(database).set(`${id}/${productId}`, { workspaceId, projectId: id, productId })
        }
      }
      const bySlug = (database: MemoryDatabase, viewer: Viewer, slug: string) => {
        const project = projectsOf(database).find(
          (project) => project.workspaceId === viewer.workspaceId && project.slug === slug
        )
        return project !== undefined && seesProjectInMemory(database, viewer, project.id) ? project : undefined
      }
      const leadOf = (database: MemoryDatabase, { leadId }: StoredProject): Person | null => {
        if (leadId === null) return null
        const { email, id, name } = database.table<PersonRow>("persons").get(leadId)!
        return { id, name, email }
      }
      const productsOf = (database: MemoryDatabase, project: StoredProject): ReadonlyArray<ProjectProduct> =>
        productLinks(database)
          .filter((link) => link.projectId === project.id)
          .map(({ productId }) => {
            const { id, name, slug } = database.table(products).get(productId)!
            return { id, slug, name }
          })

      /** The given projects as the viewer sees them. */
      const shownIn = (
        database: MemoryDatabase,
        viewer: Viewer,
        projects: ReadonlyArray<StoredProject>
      ): ReadonlyArray<ProjectSummary> => {
        const seenTeams = new Map(
          database
            .table(teams)
            .filter((team) => seesTeamInMemory(database, viewer, team))
            .map(({ id, key, name, visibility }) => [id, { id, key, name, visibility }])
        )
        const links = Map.groupBy(teamLinks(database).values(), ({ projectId }) => projectId)
        const tickets = Map.groupBy(database.table<MemoryTicket>("tickets").values(), ({ projectId }) => projectId)
        const statuses = database.table(ticketStatuses)
        return projects.flatMap((project) => {
          const seen = (links.get(project.id) ?? []).flatMap(({ teamId }) => seenTeams.get(teamId) ?? [])
          if (seen.length === 0) return []
          const categories = (tickets.get(project.id) ?? [])
            .filter(({ teamId }) => seenTeams.has(teamId))
            .map(({ statusId }) => statuses.get(statusId)!.category)
          return [
            {
              id: project.id,
              slug: project.slug,
              name: project.name,
              summary: project.summary,
              status: project.status,
              lead: leadOf(database, project),
              targetDate: project.targetDate,
              teams: seen,
              products: productsOf(database, project),
              progress: Object.fromEntries(
                statusCategories.map((category) => [category, categories.filter((each) => each === category).length])
              ) as unknown as ProjectProgress,
              archivedAt: project.archivedAt,
              createdAt: project.createdAt,
              updatedAt: project.updatedAt
            }
          ]
        })
      }

      return ProjectsRepo.of({
        insert: (project, links) =>
          memory.write((database) =>
            Effect.tap(put(database, { ...project, lastMilestoneNumber: 0 }), () =>
              Effect.sync(() => putLinks(database, project, links))
            )
          ),
        update: (id, changes) =>
          memory.write((database) => put(database, { ...projectsOf(database).get(id)!, ...changes })),
        link: (project, links) => memory.write((database) => Effect.sync(() => putLinks(database, project, links))),
        unlink: ({ id }, { products, teams }) =>
          memory.write((database) => {
            const holds = database
              .table<MemoryTicket>("tickets")
              .find(({ projectId, teamId }) => projectId === id && teams.includes(teamId))
            if (holds !== undefined) return Effect.fail(new HoldsTickets())
            return Effect.sync(() => {
              for (const teamId of teams) teamLinks(database).delete(`${id}/${teamId}`)
              for (const productId of products) productLinks(database).delete(`${id}/${productId}`)
            })
          }),
        list: (viewer, { archived, productId, teamId }) =>
          memory.read((database) =>
            shownIn(
              database,
              viewer,
              projectsOf(database)
                .filter(
                  (project) =>
                    project.workspaceId === viewer.workspaceId &&
                    isListed(archived)(project) &&
                    (teamId === undefined || teamLinks(database).get(`${project.id}/${teamId}`) !== undefined) &&
                    (productId === undefined || productLinks(database).get(`${project.id}/${productId}`) !== undefined)
                )
                .toSorted((a, b) => compare(a.rank, b.rank))
            )
          ),
        find: (viewer, slug) =>
          memory.read((database) => {
            const project = bySlug(database, viewer, slug)
            if (project === undefined) return undefined
            const [shown] = shownIn(database, viewer, [project])
            const ofProject: ReadonlyArray<Milestone> = database
              .table(milestones)
              .filter(({ projectId }) => projectId === project.id)
              .toSorted((a, b) => a.number - b.number)
              .map(({ id, name, number, summary }) => ({ id, number, name, summary }))
            return { ...shown!, milestones: ofProject, document: project.document }
          }),
        findPlace: (viewer, slug) =>
          memory.read((database) => {
            const project = bySlug(database, viewer, slug)
            return project && { id: project.id, rank: project.rank, archivedAt: project.archivedAt }
          }),
        teamsOf: (id) =>
          memory.read((database) =>
            teamLinks(database)
              .filter(({ projectId }) => projectId === id)
              .map(({ teamId }) => teamId)
          ),
        lock: (viewer, slug) =>
          memory.read((database) => {
            const project = bySlug(database, viewer, slug)
            if (project === undefined) return undefined
            const { lastMilestoneNumber: _, ...row } = project
            return {
              ...row,
              lead: leadOf(database, project),
              teams: teamLinks(database)
                .filter(({ projectId }) => projectId === project.id)
                .map(({ teamId }) => {
                  const team = database.table(teams).get(teamId)!
                  const { id, key, name, visibility } = team
                  return { id, key, name, visibility, isSeen: seesTeamInMemory(database, viewer, team) }
                }),
              products: productsOf(database, project)
            }
          }),
        lockOrder: (workspaceId) => {
          const inOrder = (database: MemoryDatabase) =>
            projectsOf(database)
              .filter((project) => project.workspaceId === workspaceId)
              .toSorted((a, b) => compare(a.rank, b.rank))
          return Effect.succeed({
            next: (side, rank, except) =>
              memory.read((database) => {
                const others = inOrder(database).filter(({ id }) => id !== except)
                const found =
                  side === "above"
                    ? others.find((other) => rank === null || other.rank > rank)
                    : others.findLast((other) => rank === null || other.rank < rank)
                return found?.rank ?? null
              }),
            ids: memory.read((database) => inOrder(database).map(({ id }) => id)),
            setRanks: (ranks) =>
              memory.write((database) =>
                Effect.sync(() => {
                  const rows = projectsOf(database)
                  for (const [id, rank] of ranks) rows.set(id, { ...rows.get(id)!, rank })
                })
              )
          })
        }
      })
    })
  )
}

/** What progress needs of tickets and statuses. */
interface MemoryTicket {
  readonly id: TicketId
  readonly teamId: TeamId
  readonly statusId: TicketStatusId
  readonly projectId: ProjectId | null
  readonly milestoneId: MilestoneId | null
}

type ShownRow = Omit<ProjectSummary, "archivedAt" | "createdAt" | "updatedAt"> & {
  readonly archivedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

const readShown = (row: ShownRow): ProjectSummary => ({
  ...row,
  archivedAt: isoOrNull(row.archivedAt),
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt)
})

type HeldRow = Omit<HeldProject, "archivedAt" | "createdAt" | "updatedAt"> & {
  readonly archivedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

const readHeld = (row: HeldRow): HeldProject => ({
  ...row,
  archivedAt: isoOrNull(row.archivedAt),
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt)
})
