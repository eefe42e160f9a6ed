import type { Actor, Person } from "@delivery/domain/identity/Actor"
import { isAtLeast, type Role } from "@delivery/domain/identity/Role"
import type {
  AgentId,
  MilestoneId,
  PersonId,
  ProjectId,
  TagId,
  TeamId,
  TicketId,
  TicketStatusId,
  WorkspaceId
} from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { TeamRef, TeamVisibility } from "@delivery/domain/planning/Team"
import type { TicketDates } from "@delivery/domain/planning/StatusTimes"
import { parseTicketIdentifier, type TicketOwner } from "@delivery/domain/planning/Ticket"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { isId, isSlug } from "@delivery/domain/Text"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { insertEvent } from "../events/EventStatements.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import type { ActorRef } from "../access/Access.ts"
import { actorColumns, actorJoins, readActor, resolveActor } from "../access/Actors.ts"
import type { AgentRow, PersonRow } from "../access/ActorRows.ts"
import type { MemberRow } from "../identity/MembersRepo.ts"
import { texts, uuids } from "../storage/Columns.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dateOrNull, dieOnSqlError, iso, isoOrNull } from "../storage/Sql.ts"
import type { MilestoneRow } from "./MilestonesRepo.ts"
import type { ProjectRow } from "./ProjectsRepo.ts"
import type { RankedList } from "./RankedList.ts"
import type { TagRow } from "./TagsRepo.ts"
import type { TeamRow } from "./TeamsRepo.ts"
import type { TicketStatusRow } from "./TicketStatusesRepo.ts"
import { seesProject, seesProjectInMemory, seesTeam, seesTeamInMemory, type Viewer } from "./Visibility.ts"

export type OwnerRef =
  | { readonly kind: "user"; readonly id: PersonId }
  | { readonly kind: "agent"; readonly id: AgentId }

export interface TicketRow extends TicketDates {
  readonly id: TicketId
  readonly workspaceId: WorkspaceId
  readonly teamId: TeamId
  readonly number: number
  readonly title: string
  readonly description: string | null
  readonly plan: string | null
  readonly statusId: TicketStatusId
  readonly rank: string
  readonly owner: OwnerRef | null
  readonly projectId: ProjectId | null
  readonly milestoneId: MilestoneId | null
  readonly creator: ActorRef
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/** A status of a team, as tickets need it. */
export interface TeamStatus {
  readonly id: TicketStatusId
  readonly name: string
  readonly category: StatusCategory
  readonly position: number
  readonly isDefault: boolean
}

export interface TagPart {
  readonly id: TagId
  readonly name: string
  readonly color: string
  /** Null for tags of the whole workspace. */
  readonly teamId: TeamId | null
}

export interface ProjectPart {
  readonly id: ProjectId
  readonly slug: string
  readonly name: string
}

export interface MilestonePart {
  readonly id: MilestoneId
  readonly number: number
  readonly name: string
}

/** A ticket and all that a list shows of it. */
export interface ListedTicket extends TicketDates {
  readonly id: TicketId
  readonly number: number
  readonly title: string
  readonly description: string | null
  readonly team: TeamRef
  readonly status: Omit<TeamStatus, "isDefault">
  readonly rank: string
  readonly owner: TicketOwner | null
  readonly project: ProjectPart | null
  readonly milestone: MilestonePart | null
  readonly tags: ReadonlyArray<TagPart>
  readonly commentCount: number
  readonly creator: ActorRef
  readonly createdBy: Actor
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export interface ShownTicket extends ListedTicket {
  readonly plan: string | null
}

/** Which tickets a list holds. What is absent or empty does not restrict. */
export interface TicketSelection {
  readonly teamIds?: ReadonlyArray<TeamId>
  readonly projectIds?: ReadonlyArray<ProjectId>
  /** Null: those that nobody owns. */
  readonly owners?: ReadonlyArray<PersonId | AgentId | null>
  readonly categories?: ReadonlyArray<StatusCategory>
  readonly statusIds?: ReadonlyArray<TicketStatusId>
  /** Tickets that have one of them. */
  readonly tagIds?: ReadonlyArray<TagId>
}

/** Where a ticket is: what its locks are taken by. */
export interface TicketPlace {
  readonly id: TicketId
  readonly teamId: TeamId
  readonly projectId: ProjectId | null
}

/** A team that the transaction holds. */
export interface HeldTeam extends TeamRef {
  readonly archived: boolean
}

/** A project that the transaction holds. */
export interface HeldProject extends ProjectPart {
  readonly archived: boolean
}

/** What a change of a ticket names, to be looked up in the ticket's team. */
export interface Wanted {
  readonly workspaceId: WorkspaceId
  readonly teamId: TeamId
  /** The id or email address of a member, or the id of an agent. */
  readonly owner?: string | undefined
  readonly projectId?: ProjectId | undefined
  /** Of that project. */
  readonly milestone?: number | undefined
  readonly tags?: ReadonlyArray<string> | undefined
}

/** What there is of it. */
export interface Found {
  /** All of the team, in no particular order. */
  readonly statuses: ReadonlyArray<TeamStatus>
  readonly lastRank: string | null
  readonly owner: FoundOwner | undefined
  /** Whether the project is linked to the team. */
  readonly isLinked: boolean
  readonly milestone: MilestonePart | undefined
  /** Those of the team and of the workspace; held until the transaction ends. */
  readonly tags: ReadonlyArray<TagPart>
}

export interface FoundOwner {
  readonly owner: TicketOwner
  /** False for those who are no active member, and for agents that were revoked. */
  readonly active: boolean
  /** Whether they would see the team, were it private. */
  readonly seesPrivateTeam: boolean
}

/**
 * Stores tickets. Everything is found for a viewer: a ticket of a team that they do not see is not there.
 *
 * A writing transaction takes locks in this order, and no other: teams by id (`holdTeams`), one project (`holdProject`),
 * the ticket (`lock`), its tags (`find`). Numbers and ranks of a team are given only by who holds it alone.
 */
export class TicketsRepo extends Context.Service<
  TicketsRepo,
  {
    /** In no particular order. */
    readonly list: (viewer: Viewer, selection: TicketSelection) => Effect.Effect<ReadonlyArray<ListedTicket>>
    /** By id, or by an identifier, in any case, of a team that the viewer sees too. */
    readonly find: (viewer: Viewer, ref: string) => Effect.Effect<ShownTicket | undefined>
    /** Like `find`, but only where the ticket is. */
    readonly locate: (viewer: Viewer, ref: string) => Effect.Effect<TicketPlace | undefined>
    /**
     * Holds teams, by id, until the transaction ends: `alone`, or `shared` with others that change neither numbers nor
     * ranks nor statuses nor the teams themselves.
     */
    readonly holdTeams: (
      ids: ReadonlyArray<TeamId>,
      how: "alone" | "shared"
    ) => Effect.Effect<ReadonlyMap<TeamId, HeldTeam>>
    /** A project by slug or id; one of no team that the viewer sees is not there. */
    readonly findProject: (viewer: Viewer, ref: string) => Effect.Effect<HeldProject | undefined>
    /** Like `findProject`, and holds it shared until the transaction ends. */
    readonly holdProject: (viewer: Viewer, ref: string) => Effect.Effect<HeldProject | undefined>
    /** Holds the ticket until the transaction ends, and says where it is now. */
    readonly lock: (id: TicketId) => Effect.Effect<TicketPlace | undefined>
    /** In one look-up: what a change names. */
    readonly look: (wanted: Wanted) => Effect.Effect<Found>
    /** The member, active or not, or the agent, revoked or not, that a list's filter names by id or email address. */
    readonly findOwner: (workspaceId: WorkspaceId, ref: string) => Effect.Effect<OwnerRef | undefined>
    /** The next number of the team, which the transaction holds alone: it is given again if the transaction fails. */
    readonly takeNumber: (teamId: TeamId) => Effect.Effect<number>
    readonly insert: (ticket: TicketRow, tagIds: ReadonlyArray<TagId>, event: StoredEvent) => Effect.Effect<void>
    /** Stores a changed ticket, its identifier if it is new, and its tags if they change; it keeps its former identifiers. */
    readonly update: (
      ticket: TicketRow,
      tagIds: ReadonlyArray<TagId> | undefined,
      events: ReadonlyArray<StoredEvent>
    ) => Effect.Effect<void>
    /** With its identifiers, tags and comments. */
    readonly delete: (id: TicketId, event: StoredEvent) => Effect.Effect<void>
    /** The order of the team's tickets, which the transaction holds alone. */
    readonly orderOf: (team: { readonly id: TeamId; readonly workspaceId: WorkspaceId }) => RankedList<TicketId>
    /** The first ticket of the team in the status, but for `except`; with `rank`, the nearest above or below it. */
    readonly inStatus: (
      at: Pick<TicketRow, "workspaceId" | "teamId" | "statusId">,
      side: "above" | "below",
      rank: string | null,
      except: TicketId
    ) => Effect.Effect<{ readonly id: TicketId; readonly rank: string } | undefined>
  }
>()("@delivery/server/planning/TicketsRepo") {
  static readonly layerSql = Layer.effect(
    TicketsRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const listed = sql`t.id, t.number, t.title, t.description, t.rank, t.started_at as "startedAt",
        t.completed_at as "completedAt", t.canceled_at as "canceledAt", t.created_at as "createdAt",
        t.updated_at as "updatedAt", team.id as "teamId", team.key as "teamKey", team.name as "teamName",
        team.visibility as "teamVisibility", s.id as "statusId", s.name as "statusName",
        s.category as "statusCategory", s.position as "statusPosition", p.id as "projectId", p.slug as "projectSlug",
        p.name as "projectName", m.id as "milestoneId", m.number as "milestoneNumber", m.name as "milestoneName",
        (select count(*)::int from comments c where c.ticket_id = t.id) as "commentCount",
        (select json_agg(json_build_object('id', g.id, 'name', g.name, 'color', g.color, 'teamId', g.team_id))
          from ticket_tags tt join tags g on g.id = tt.tag_id where tt.ticket_id = t.id) as tags,
        ${actorColumns(sql, "t.owner", "owner")}, ${actorColumns(sql, "t.creator", "creator")}`
      const joined = sql`from tickets t
        join teams team on team.id = t.team_id
        join ticket_statuses s on s.id = t.status_id
        left join projects p on p.id = t.project_id
        left join milestones m on m.id = t.milestone_id
        ${actorJoins(sql, "t.owner", "owner")}
        ${actorJoins(sql, "t.creator", "creator")}`

      const any = (column: string, ids: ReadonlyArray<string>) => sql`${sql.literal(column)} = any(${uuids(ids)})`
      const conditions = (selection: TicketSelection): ReadonlyArray<Statement.Fragment> => {
        const { categories = [], owners = [], projectIds = [], statusIds = [], tagIds = [], teamIds = [] } = selection
        const conditions: Array<Statement.Fragment> = []
        if (teamIds.length > 0) conditions.push(any("t.team_id", teamIds))
        if (projectIds.length > 0) conditions.push(any("t.project_id", projectIds))
        if (statusIds.length > 0) conditions.push(any("t.status_id", statusIds))
        if (categories.length > 0) conditions.push(sql`s.category = any(${texts(categories, (category) => category)})`)
        if (owners.length > 0) {
          const owned = any(
            "t.owner_id",
            owners.filter((id) => id !== null)
          )
          conditions.push(owners.includes(null) ? sql`(${owned} or t.owner_id is null)` : owned)
        }
        if (tagIds.length > 0) {
          conditions.push(sql`exists (select 1 from ticket_tags tt where tt.ticket_id = t.id
            and ${any("tt.tag_id", tagIds)})`)
        }
        return conditions
      }

      /** Members and agents that `ref` names, as rows of one JSON column. */
      const owners = (workspaceId: WorkspaceId, ref: string, teamId: TeamId | null): Statement.Fragment => {
        const about = sql`'role', m.role, 'isTeamMember', exists (select 1 from team_members tm
          where tm.team_id = ${teamId}::uuid and tm.person_id = p.id)`
        const members = sql`select json_build_object('kind', 'user', 'id', p.id, 'name', p.name, 'email', p.email,
            'active', m.active, ${about}) as owner
          from members m join persons p on p.id = m.person_id where m.workspace_id = ${workspaceId}`
        if (!isId(ref)) return sql`${members} and p.email = ${ref.toLowerCase()}`
        return sql`${members} and p.id = ${ref}
          union all
          select json_build_object('kind', 'agent', 'id', a.id, 'name', initcap(a.client), 'person',
              json_build_object('id', p.id, 'name', p.name, 'email', p.email),
              'active', m.active and a.revoked_at is null, ${about}) as owner
            from agents a join persons p on p.id = a.person_id
              join members m on m.workspace_id = a.workspace_id and m.person_id = p.id
            where a.workspace_id = ${workspaceId} and a.id = ${ref}`
      }

      /** The nearest to a rank on a side; of null, the first above or the last below all. */
      const nearest = (side: "above" | "below", rank: string | null) => {
        const [beyond, order] = side === "above" ? [">", "asc"] : ["<", "desc"]
        return sql`${rank === null ? sql`` : sql`and rank ${sql.literal(beyond)} ${rank}`}
          order by rank ${sql.literal(order)} limit 1`
      }

      const project = (viewer: Viewer, ref: string, lock: string) =>
        isId(ref) || isSlug(ref)
          ? sql<HeldProject>`select p.id, p.slug, p.name, p.archived_at is not null as archived from projects p
              where p.workspace_id = ${viewer.workspaceId} and ${isId(ref) ? sql`p.id = ${ref}` : sql`p.slug = ${ref}`}
                and ${seesProject(sql, viewer, "p")}
              ${sql.literal(lock)}`.pipe(
              Effect.map((rows) => rows[0]),
              dieOnSqlError
            )
          : Effect.undefined

      const untouched = sql``
      const ctes = (parts: ReadonlyArray<Statement.Fragment>): Statement.Fragment =>
        parts.reduce((all, part) => sql`${all}, ${part}`)
      const tagged = ({ id, workspaceId }: TicketRow, tagIds: ReadonlyArray<TagId>, from: string) =>
        sql`insert into ticket_tags (workspace_id, ticket_id, tag_id)
          select ${workspaceId}::uuid, ${id}::uuid, tag_id
          from ${sql.literal(from)}, unnest(${uuids(tagIds)}) as tag_id on conflict do nothing`
      const told = (events: ReadonlyArray<StoredEvent>) =>
        events.map((event, i) => sql`${sql.literal(`told_${i}`)} as (${insertEvent(sql, event)})`)
      const place = (rows: ReadonlyArray<TicketPlace>): TicketPlace | undefined => rows[0]

      return TicketsRepo.of({
        list: (viewer, selection) =>
          sql<SqlTicket>`select ${listed} ${joined}
            where ${sql.and([
              sql`t.workspace_id = ${viewer.workspaceId}`,
              seesTeam(sql, viewer, "team"),
              ...conditions(selection)
            ])}`.pipe(
            Effect.map((rows) => rows.map(readListed)),
            dieOnSqlError
          ),

        find: (viewer, ref) => {
          const isNamed = namesTicket(sql, viewer, ref)
          return isNamed === undefined
            ? Effect.undefined
            : sql<SqlTicket & { readonly plan: string | null }>`select ${listed}, t.plan ${joined}
                where t.workspace_id = ${viewer.workspaceId} and ${isNamed} and ${seesTeam(sql, viewer, "team")}`.pipe(
                Effect.map((rows) => rows.map((row) => ({ ...readListed(row), plan: row.plan }))[0]),
                dieOnSqlError
              )
        },

        locate: (viewer, ref) => {
          const isNamed = namesTicket(sql, viewer, ref)
          return isNamed === undefined
            ? Effect.undefined
            : sql<TicketPlace>`select t.id, t.team_id as "teamId", t.project_id as "projectId"
                from tickets t join teams team on team.id = t.team_id
                where t.workspace_id = ${viewer.workspaceId} and ${isNamed} and ${seesTeam(sql, viewer, "team")}`.pipe(
                Effect.map(place),
                dieOnSqlError
              )
        },

        holdTeams: (ids, how) =>
          sql<HeldTeam>`select id, key, name, visibility, archived_at is not null as archived from teams
            where id = any(${uuids(ids)}) order by id
            ${sql.literal(how === "alone" ? "for no key update" : "for share")}`.pipe(
            Effect.map((rows) => new Map(rows.map((team) => [team.id, team]))),
            dieOnSqlError
          ),

        findProject: (viewer, ref) => project(viewer, ref, ""),
        holdProject: (viewer, ref) => project(viewer, ref, "for share of p"),

        lock: (id) =>
          sql<TicketPlace>`select id, team_id as "teamId", project_id as "projectId" from tickets where id = ${id}
            for no key update`.pipe(Effect.map(place), dieOnSqlError),

        look: ({ milestone, owner, projectId, tags = [], teamId, workspaceId }) =>
          sql<SqlFound>`with held_tags as materialized (
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
              ${owner === undefined ? sql`null` : sql`(${owners(workspaceId, owner, teamId)})`} as owner,
              exists (select 1 from project_teams pt
                where pt.project_id = ${projectId ?? null}::uuid and pt.team_id = ${teamId}) as "isLinked",
              (select json_build_object('id', m.id, 'number', m.number, 'name', m.name) from milestones m
                where m.project_id = ${projectId ?? null}::uuid and m.number = ${milestone ?? null}::int) as milestone
            `.pipe(
            Effect.map(([row]) => ({
              statuses: row!.statuses ?? [],
              lastRank: row!.lastRank,
              owner: row!.owner === null ? undefined : readOwner(row!.owner),
              isLinked: row!.isLinked,
              milestone: row!.milestone ?? undefined,
              tags: row!.tags ?? []
            })),
            dieOnSqlError
          ),

        findOwner: (workspaceId, ref) =>
          sql<{ readonly owner: SqlOwner }>`${owners(workspaceId, ref, null)}`.pipe(
            Effect.map(([row]) => row && ownerRef(row.owner)),
            dieOnSqlError
          ),

        takeNumber: (teamId) =>
          sql<{ readonly number: number }>`update teams set last_ticket_number = last_ticket_number + 1
            where id = ${teamId} returning last_ticket_number as number`.pipe(
            Effect.map((rows) => rows[0]!.number),
            dieOnSqlError
          ),

        insert: (ticket, tagIds, event) =>
          sql`with inserted as (
              insert into tickets (id, workspace_id, team_id, number, title, description, plan, status_id, rank,
                owner_kind, owner_id, project_id, milestone_id, creator_kind, creator_id, started_at, completed_at,
                canceled_at, created_at, updated_at)
              values (${ticket.id}, ${ticket.workspaceId}, ${ticket.teamId}, ${ticket.number}, ${ticket.title},
                ${ticket.description}, ${ticket.plan}, ${ticket.statusId}, ${ticket.rank},
                ${ticket.owner?.kind ?? null}, ${ticket.owner?.id ?? null}, ${ticket.projectId}, ${ticket.milestoneId},
                ${ticket.creator.kind}, ${ticket.creator.id}, ${dateOrNull(ticket.startedAt)},
                ${dateOrNull(ticket.completedAt)}, ${dateOrNull(ticket.canceledAt)}, ${date(ticket.createdAt)},
                ${date(ticket.updatedAt)})
              returning id
            ), identified as (
              insert into ticket_identifiers (workspace_id, team_id, number, ticket_id)
              values (${ticket.workspaceId}, ${ticket.teamId}, ${ticket.number}, ${ticket.id})
            ), tagged as (${tagged(ticket, tagIds, "inserted")}), ${ctes(told([event]))}
            select id from inserted`.pipe(Effect.asVoid, dieOnSqlError),

        update: (ticket, tagIds, events) =>
          sql`with changed as (
              update tickets set team_id = ${ticket.teamId}, number = ${ticket.number}, title = ${ticket.title},
                description = ${ticket.description}, plan = ${ticket.plan}, status_id = ${ticket.statusId},
                rank = ${ticket.rank}, owner_kind = ${ticket.owner?.kind ?? null},
                owner_id = ${ticket.owner?.id ?? null}, project_id = ${ticket.projectId},
                milestone_id = ${ticket.milestoneId}, started_at = ${dateOrNull(ticket.startedAt)},
                completed_at = ${dateOrNull(ticket.completedAt)}, canceled_at = ${dateOrNull(ticket.canceledAt)},
                updated_at = ${date(ticket.updatedAt)}
              where id = ${ticket.id}
              returning id
            ), identified as (
              insert into ticket_identifiers (workspace_id, team_id, number, ticket_id)
              values (${ticket.workspaceId}, ${ticket.teamId}, ${ticket.number}, ${ticket.id}) on conflict do nothing
            ) ${
              tagIds === undefined
                ? untouched
                : sql`, untagged as (
                    delete from ticket_tags where ticket_id = ${ticket.id} and tag_id <> all(${uuids(tagIds)})
                  ), tagged as (${tagged(ticket, tagIds, "changed")})`
            } ${events.length === 0 ? untouched : sql`, ${ctes(told(events))}`}
            select id from changed`.pipe(Effect.asVoid, dieOnSqlError),

        delete: (id, event) =>
          sql`with ${ctes(told([event]))} delete from tickets where id = ${id}`.pipe(Effect.asVoid, dieOnSqlError),

        orderOf: ({ id: teamId, workspaceId }) => {
          const ofTeam = sql`from tickets where workspace_id = ${workspaceId} and team_id = ${teamId}`
          return {
            next: (side, rank, except) =>
              sql<{ rank: string }>`select rank ${ofTeam} and id <> ${except} ${nearest(side, rank)}`.pipe(
                Effect.map((rows) => rows[0]?.rank ?? null),
                dieOnSqlError
              ),
            ids: sql<{ id: TicketId }>`select id ${ofTeam} order by rank`.pipe(
              Effect.map((rows) => rows.map(({ id }) => id)),
              dieOnSqlError
            ),
            setRanks: (ranks) =>
              sql`update tickets t set rank = new.rank
                from unnest(${uuids(ranks.map(([id]) => id))}, ${texts(ranks, ([, rank]) => rank)}) as new (id, rank)
                where t.id = new.id`.pipe(Effect.asVoid, dieOnSqlError)
          }
        },

        inStatus: ({ statusId, teamId, workspaceId }, side, rank, except) =>
          sql<{ id: TicketId; rank: string }>`select id, rank from tickets where workspace_id = ${workspaceId}
            and team_id = ${teamId} and status_id = ${statusId} and id <> ${except} ${nearest(side, rank)}`.pipe(
            Effect.map((rows) => rows[0]),
            dieOnSqlError
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    TicketsRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage

      const put = (
        database: MemoryDatabase,
        ticket: TicketRow,
        tagIds: ReadonlyArray<TagId> | undefined,
        events: ReadonlyArray<StoredEvent>
      ) => {
        const { id: ticketId, number, teamId, workspaceId } = ticket
        ticketsOf(database).set(ticketId, ticket)
        identifiersOf(database).set(`${teamId}/${number}`, { teamId, number, ticketId })
        for (const event of events) database.table<StoredEvent>("events").set(event.id, event)
        if (tagIds === undefined) return
        const rows = database.table<TicketTagRow>("ticket_tags")
        for (const { tagId } of rows.filter((row) => row.ticketId === ticketId)) rows.delete(`${ticketId}/${tagId}`)
        for (const tagId of tagIds) rows.set(`${ticketId}/${tagId}`, { workspaceId, ticketId, tagId })
      }

      const owners = (database: MemoryDatabase, workspaceId: WorkspaceId, ref: string, teamId: TeamId | null) => {
        const persons = database.table<PersonRow>("persons")
        const agent = isId(ref) ? database.table<AgentRow>("agents").get(ref) : undefined
        const person =
          agent === undefined
            ? isId(ref)
              ? persons.get(ref)
              : persons.find(({ email }) => email === ref.toLowerCase())
            : persons.get(agent.personId)
        if (person === undefined || (agent !== undefined && agent.workspaceId !== workspaceId)) return undefined
        const member = database.table<MemberRow>("members").get(`${workspaceId}/${person.id}`)
        if (member === undefined) return undefined
        const isTeamMember =
          teamId !== null && database.table("team_members").get(`${teamId}/${person.id}`) !== undefined
        const actor = resolveActor(
          database,
          agent === undefined ? { kind: "user", id: person.id } : { kind: "agent", id: agent.id }
        )
        const { active, role } = member
        return { ...(actor as TicketOwner), active: active && (agent?.revokedAt ?? null) === null, role, isTeamMember }
      }

      const project = (viewer: Viewer, ref: string) =>
        memory.read((database): HeldProject | undefined => {
          const found = database
            .table<ProjectRow>("projects")
            .find((project) => project.workspaceId === viewer.workspaceId && [project.id, project.slug].includes(ref))
          return found !== undefined && seesProjectInMemory(database, viewer, found.id)
            ? { ...projectPart(found), archived: found.archivedAt !== null }
            : undefined
        })

      const nearest = (tickets: ReadonlyArray<TicketRow>, side: "above" | "below", rank: string | null) =>
        side === "above"
          ? tickets.find((ticket) => rank === null || ticket.rank > rank)
          : tickets.findLast((ticket) => rank === null || ticket.rank < rank)

      const inTeam = (database: MemoryDatabase, teamId: TeamId, moved?: TicketId) =>
        ticketsOf(database)
          .filter((ticket) => ticket.teamId === teamId && ticket.id !== moved)
          .toSorted((a, b) => compare(a.rank, b.rank))

      return TicketsRepo.of({
        list: (viewer, selection) =>
          memory.read((database) => {
            const {
              categories = [],
              owners = [],
              projectIds = [],
              statusIds = [],
              tagIds = [],
              teamIds = []
            } = selection
            const chosen = <A>(wanted: ReadonlyArray<A>, value: A) => wanted.length === 0 || wanted.includes(value)
            const tags = database.table<TicketTagRow>("ticket_tags")
            const teams = database.table<TeamRow>("teams")
            const statuses = database.table<TicketStatusRow>("ticket_statuses")
            const show = shower(database)
            return ticketsOf(database)
              .filter(
                (ticket) =>
                  ticket.workspaceId === viewer.workspaceId &&
                  seesTeamInMemory(database, viewer, teams.get(ticket.teamId)!) &&
                  chosen(teamIds, ticket.teamId) &&
                  (projectIds.length === 0 || (ticket.projectId !== null && projectIds.includes(ticket.projectId))) &&
                  chosen(statusIds, ticket.statusId) &&
                  chosen(categories, statuses.get(ticket.statusId)!.category) &&
                  chosen<PersonId | AgentId | null>(owners, ticket.owner?.id ?? null) &&
                  (tagIds.length === 0 || tagIds.some((tagId) => tags.get(`${ticket.id}/${tagId}`) !== undefined))
              )
              .map((ticket) => {
                const { plan: _, ...listed } = show(ticket)
                return listed
              })
          }),

        find: (viewer, ref) =>
          memory.read((database) => {
            const ticket = findTicketInMemory(database, viewer, ref)
            return ticket && shower(database)(ticket)
          }),

        locate: (viewer, ref) =>
          memory.read((database) => {
            const ticket = findTicketInMemory(database, viewer, ref)
            return ticket && placeOf(ticket)
          }),

        holdTeams: (ids) =>
          memory.read(
            (database) =>
              new Map(
                ids.map((id) => {
                  const team = database.table<TeamRow>("teams").get(id)!
                  return [id, { ...teamRef(team), archived: team.archivedAt !== null }] as const
                })
              )
          ),

        findProject: project,
        holdProject: project,

        lock: (id) =>
          memory.read((database) => {
            const ticket = ticketsOf(database).get(id)
            return ticket && placeOf(ticket)
          }),

        look: ({ milestone, owner, projectId, tags = [], teamId, workspaceId }) =>
          memory.read((database) => {
            const foundOwner = owner === undefined ? undefined : owners(database, workspaceId, owner, teamId)
            return {
              statuses: database
                .table<TicketStatusRow>("ticket_statuses")
                .filter((status) => status.workspaceId === workspaceId && status.teamId === teamId)
                .map(({ category, id, isDefault, name, position }) => ({ id, name, category, position, isDefault })),
              lastRank: inTeam(database, teamId).at(-1)?.rank ?? null,
              owner: foundOwner && readOwner(foundOwner),
              isLinked: database.table("project_teams").get(`${projectId}/${teamId}`) !== undefined,
              milestone: database
                .table<MilestoneRow>("milestones")
                .filter((row) => row.projectId === projectId && row.number === milestone)
                .map(({ id, name, number }) => ({ id, number, name }))[0],
              tags: database
                .table<TagRow>("tags")
                .filter(
                  (tag) =>
                    tag.workspaceId === workspaceId &&
                    tags.includes(tag.id) &&
                    (tag.teamId === null || tag.teamId === teamId)
                )
                .map(tagPart)
            }
          }),

        findOwner: (workspaceId, ref) =>
          memory.read((database) => {
            const found = owners(database, workspaceId, ref, null)
            return found && ownerRef(found)
          }),

        takeNumber: (teamId) =>
          memory.write((database) =>
            Effect.sync(() => {
              const numbers = database.table<number>("last_ticket_numbers")
              const number = (numbers.get(teamId) ?? 0) + 1
              numbers.set(teamId, number)
              return number
            })
          ),

        insert: (ticket, tagIds, event) =>
          memory.write((database) => Effect.sync(() => put(database, ticket, tagIds, [event]))),

        update: (ticket, tagIds, events) =>
          memory.write((database) => Effect.sync(() => put(database, ticket, tagIds, events))),

        delete: (id, event) =>
          memory.write((database) =>
            Effect.sync(() => {
              const identifiers = identifiersOf(database)
              for (const { number, teamId } of identifiers.filter(({ ticketId }) => ticketId === id)) {
                identifiers.delete(`${teamId}/${number}`)
              }
              const tags = database.table<TicketTagRow>("ticket_tags")
              for (const { tagId } of tags.filter(({ ticketId }) => ticketId === id)) tags.delete(`${id}/${tagId}`)
              const comments = database.table<CommentPart>("comments")
              for (const comment of comments.filter(({ ticketId }) => ticketId === id)) comments.delete(comment.id)
              ticketsOf(database).delete(id)
              database.table<StoredEvent>("events").set(event.id, event)
            })
          ),

        orderOf: ({ id: teamId }) => ({
          next: (side, rank, except) =>
            memory.read((database) => nearest(inTeam(database, teamId, except), side, rank)?.rank ?? null),
          ids: memory.read((database) => inTeam(database, teamId).map(({ id }) => id)),
          setRanks: (ranks) =>
            memory.write((database) =>
              Effect.sync(() => {
                const tickets = ticketsOf(database)
                for (const [id, rank] of ranks) tickets.set(id, { ...tickets.get(id)!, rank })
              })
            )
        }),

        inStatus: ({ statusId, teamId }, side, rank, except) =>
          memory.read((database) => {
            const tickets = inTeam(database, teamId, except).filter((ticket) => ticket.statusId === statusId)
            const found = nearest(tickets, side, rank)
            return found && { id: found.id, rank: found.rank }
          })
      })
    })
  )
}

/**
 * The condition that `ref`, an id or an identifier of a team that the viewer sees, names the row `t` of `tickets`;
 * undefined where it can name none.
 */
export const namesTicket = (sql: PgClient.PgClient, viewer: Viewer, ref: string): Statement.Fragment | undefined => {
  if (isId(ref)) return sql`t.id = ${ref}`
  const identifier = parseTicketIdentifier(ref)
  return (
    identifier &&
    sql`t.id = (select i.ticket_id from ticket_identifiers i join teams named on named.id = i.team_id
      where named.workspace_id = ${viewer.workspaceId} and named.key = ${identifier.teamKey}
        and i.number = ${identifier.number} and ${seesTeam(sql, viewer, "named")})`
  )
}

/** The ticket that `ref` names, where the viewer sees it, over the memory storage. */
export const findTicketInMemory = (database: MemoryDatabase, viewer: Viewer, ref: string): TicketRow | undefined => {
  const teams = database.table<TeamRow>("teams")
  const identifier = isId(ref) ? undefined : parseTicketIdentifier(ref)
  const team =
    identifier && teams.find((team) => team.key === identifier.teamKey && seesTeamInMemory(database, viewer, team))
  const id =
    identifier === undefined ? ref : team && identifiersOf(database).get(`${team.id}/${identifier.number}`)?.ticketId
  const ticket = id === undefined ? undefined : ticketsOf(database).get(id)
  return ticket !== undefined && seesTeamInMemory(database, viewer, teams.get(ticket.teamId)!) ? ticket : undefined
}

const ticketsOf = (database: MemoryDatabase) => database.table<TicketRow>("tickets")
const identifiersOf = (database: MemoryDatabase) =>
  database.table<{ readonly teamId: TeamId; readonly number: number; readonly ticketId: TicketId }>(
    "ticket_identifiers"
  )

/** What tickets need of rows that other repositories keep in memory. */
interface TicketTagRow {
  readonly workspaceId: WorkspaceId
  readonly ticketId: TicketId
  readonly tagId: TagId
}
interface CommentPart {
  readonly id: string
  readonly ticketId: TicketId
}

const teamRef = ({ id, key, name, visibility }: TeamRef): TeamRef => ({ id, key, name, visibility })
const projectPart = ({ id, name, slug }: ProjectPart): ProjectPart => ({ id, slug, name })
const milestonePart = ({ id, name, number }: MilestonePart): MilestonePart => ({ id, number, name })
const tagPart = ({ color, id, name, teamId }: TagPart): TagPart => ({ id, name, color, teamId })
const placeOf = ({ id, projectId, teamId }: TicketRow): TicketPlace => ({ id, teamId, projectId })

/** Shows tickets of the memory storage; looks what lists refer to up once for all of them. */
const shower = (database: MemoryDatabase) => {
  const comments = Map.groupBy(database.table<CommentPart>("comments").values(), ({ ticketId }) => ticketId)
  const tagged = Map.groupBy(database.table<TicketTagRow>("ticket_tags").values(), ({ ticketId }) => ticketId)
  return (ticket: TicketRow): ShownTicket => {
    const status = database.table<TicketStatusRow>("ticket_statuses").get(ticket.statusId)!
    const project = ticket.projectId && database.table<ProjectRow>("projects").get(ticket.projectId)
    const milestone = ticket.milestoneId && database.table<MilestoneRow>("milestones").get(ticket.milestoneId)
    return {
      id: ticket.id,
      number: ticket.number,
      title: ticket.title,
      description: ticket.description,
      plan: ticket.plan,
      team: teamRef(database.table<TeamRow>("teams").get(ticket.teamId)!),
      status: { id: status.id, name: status.name, category: status.category, position: status.position },
      rank: ticket.rank,
      owner: ticket.owner && ownerOf(resolveActor(database, ticket.owner)),
      project: project ? projectPart(project) : null,
      milestone: milestone ? milestonePart(milestone) : null,
      tags: (tagged.get(ticket.id) ?? []).map(({ tagId }) => tagPart(database.table<TagRow>("tags").get(tagId)!)),
      commentCount: comments.get(ticket.id)?.length ?? 0,
      creator: ticket.creator,
      createdBy: resolveActor(database, ticket.creator),
      startedAt: ticket.startedAt,
      completedAt: ticket.completedAt,
      canceledAt: ticket.canceledAt,
      createdAt: ticket.createdAt,
      updatedAt: ticket.updatedAt
    }
  }
}

/** Persons and agents are kept for ever, so an owner is never `removed`. */
const ownerOf = (actor: Actor): TicketOwner | null => (actor.kind === "user" || actor.kind === "agent" ? actor : null)

type SqlOwner = TicketOwner & {
  readonly active: boolean
  readonly role: Role
  readonly isTeamMember: boolean
}

const readOwner = ({ active, isTeamMember, role, ...owner }: SqlOwner): FoundOwner => ({
  owner,
  active,
  seesPrivateTeam: isTeamMember || isAtLeast(role, "admin")
})

const ownerRef = ({ id, kind }: SqlOwner): OwnerRef => ({ kind, id }) as OwnerRef

interface SqlFound {
  readonly statuses: ReadonlyArray<TeamStatus> | null
  readonly lastRank: string | null
  readonly owner: SqlOwner | null
  readonly isLinked: boolean
  readonly milestone: MilestonePart | null
  readonly tags: ReadonlyArray<TagPart> | null
}

interface SqlTicket {
  readonly id: TicketId
  readonly number: number
  readonly title: string
  readonly description: string | null
  readonly rank: string
  readonly startedAt: Date | null
  readonly completedAt: Date | null
  readonly canceledAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly teamId: TeamId
  readonly teamKey: string
  readonly teamName: string
  readonly teamVisibility: TeamVisibility
  readonly statusId: TicketStatusId
  readonly statusName: string
  readonly statusCategory: StatusCategory
  readonly statusPosition: number
  readonly projectId: ProjectId | null
  readonly projectSlug: string
  readonly projectName: string
  readonly milestoneId: MilestoneId | null
  readonly milestoneNumber: number
  readonly milestoneName: string
  readonly commentCount: number
  readonly tags: ReadonlyArray<TagPart> | null
  readonly ownerKind: OwnerRef["kind"] | null
  readonly ownerId: string
  readonly ownerName: string | null
  readonly ownerEmail: string | null
  readonly ownerPerson: Person | null
  readonly creatorKind: ActorRef["kind"]
  readonly creatorId: string
  readonly creatorName: string | null
  readonly creatorEmail: string | null
  readonly creatorPerson: Person | null
}

const readListed = (row: SqlTicket): ListedTicket => ({
  id: row.id,
  number: row.number,
  title: row.title,
  description: row.description,
  team: { id: row.teamId, key: row.teamKey, name: row.teamName, visibility: row.teamVisibility },
  status: { id: row.statusId, name: row.statusName, category: row.statusCategory, position: row.statusPosition },
  rank: row.rank,
  owner:
    row.ownerKind === null
      ? null
      : ownerOf(
          readActor({
            actorKind: row.ownerKind,
            actorId: row.ownerId,
            actorName: row.ownerName,
            actorEmail: row.ownerEmail,
            actorPerson: row.ownerPerson
          })
        ),
  project: row.projectId === null ? null : { id: row.projectId, slug: row.projectSlug, name: row.projectName },
  milestone:
    row.milestoneId === null ? null : { id: row.milestoneId, number: row.milestoneNumber, name: row.milestoneName },
  tags: row.tags ?? [],
  commentCount: row.commentCount,
  creator: { kind: row.creatorKind, id: row.creatorId } as ActorRef,
  createdBy: readActor({
    actorKind: row.creatorKind,
    actorId: row.creatorId,
    actorName: row.creatorName,
    actorEmail: row.creatorEmail,
    actorPerson: row.creatorPerson
  }),
  startedAt: isoOrNull(row.startedAt),
  completedAt: isoOrNull(row.completedAt),
  canceledAt: isoOrNull(row.canceledAt),
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt)
})
