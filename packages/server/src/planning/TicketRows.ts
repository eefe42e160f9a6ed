import type { Person } from "@delivery/domain/identity/Actor"
import type { MilestoneId, ProjectId, TeamId, TicketStatusId } from "@delivery/domain/Ids"
import type { TeamVisibility } from "@delivery/domain/planning/Team"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import type { SqlClient, Statement } from "effect/sql"
import type { ActorRef } from "../access/Access.ts"
import { actorColumns, actorJoins, readActor } from "../access/Actors.ts"
import { columnsOf, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import { ownerOf } from "./TicketOwners.ts"
import { type ListedTicket, type OwnerRef, type TagPart, tickets } from "./TicketsRepo.ts"

/** Tickets with all that lists say of them, as SQL statements select them. */

const properties = [
  "id",
  "number",
  "title",
  "description",
  "rank",
  "startedAt",
  "completedAt",
  "canceledAt",
  "createdAt",
  "updatedAt"
] as const

/** The columns of a `ListedTicket`, over `joinedTables`. */
export const listedColumns = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`${sql.literal(columnsOf(tickets, { of: "t", only: properties }))}, team.id as "teamId", team.key as "teamKey",
    team.name as "teamName", team.visibility as "teamVisibility", s.id as "statusId", s.name as "statusName",
    s.category as "statusCategory", s.position as "statusPosition", p.id as "projectId", p.slug as "projectSlug",
    p.name as "projectName", m.id as "milestoneId", m.number as "milestoneNumber", m.name as "milestoneName",
    (select count(*)::int from comments c where c.ticket_id = t.id) as "commentCount",
    (select json_agg(json_build_object('id', g.id, 'name', g.name, 'color', g.color, 'teamId', g.team_id))
      from ticket_tags tt join tags g on g.id = tt.tag_id where tt.ticket_id = t.id) as tags,
    ${actorColumns(sql, "t.owner", "owner")}, ${actorColumns(sql, "t.creator", "creator")}`

/** The tickets `t`, their teams `team`, and what else `listedColumns` needs. */
export const joinedTables = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`from tickets t
    join teams team on team.id = t.team_id
    join ticket_statuses s on s.id = t.status_id
    left join projects p on p.id = t.project_id
    left join milestones m on m.id = t.milestone_id
    ${actorJoins(sql, "t.owner", "owner")}
    ${actorJoins(sql, "t.creator", "creator")}`

/** What `listedColumns` selects beside the ticket's own columns. */
export interface SelectedTicket extends SelectedRow {
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

const readTicket = partReaderOf(tickets, properties)

export const readListed = (row: SelectedTicket): ListedTicket => ({
  ...readTicket(row),
  team: { id: row.teamId, key: row.teamKey, name: row.teamName, visibility: row.teamVisibility },
  status: { id: row.statusId, name: row.statusName, category: row.statusCategory, position: row.statusPosition },
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
  })
})
