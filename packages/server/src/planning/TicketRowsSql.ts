import type { Person } from "@delivery/domain/identity/Actor"
import { maxListedDescription } from "@delivery/domain/planning/Ticket"
import { maxListedCases } from "@delivery/domain/planning/TicketCases"
import type { SqlClient, Statement } from "effect/sql"
import type { ActorRef } from "../access/Access.ts"
import { actorColumns, actorJoins, readActor } from "../access/Actors.ts"
import { columnsOf, partReaderOf, type SelectedRow } from "../storage/Table.ts"
import { milestones } from "./MilestonesRepo.ts"
import { projects } from "./ProjectsRepo.ts"
import { teams } from "./TeamsRepo.ts"
import { ownerOf } from "./TicketOwners.ts"
import { type ListedTicket, type OwnerRef, type TagPart, tickets } from "./TicketsRepo.ts"
import { ticketStatuses } from "./TicketStatusesRepo.ts"

/** How SQL statements select tickets for lists. */

const plainProperties = [
  "id",
  "number",
  "title",
  "completion",
  "passes",
  "pastOwners",
  "rank",
  "blocks",
  "startedAt",
  "completedAt",
  "canceledAt",
  "createdAt",
  "updatedAt"
] as const
const ticketProperties = [...plainProperties, "description"] as const
const teamProperties = ["id", "key", "name", "visibility"] as const
const statusProperties = ["id", "name", "category", "position"] as const
const projectProperties = ["id", "slug", "name"] as const
const milestoneProperties = ["id", "number", "name"] as const

const partColumns = [
  columnsOf(tickets, { of: "t", only: plainProperties }),
  columnsOf(teams, { of: "team", as: "team", only: teamProperties }),
  columnsOf(ticketStatuses, { of: "s", as: "status", only: statusProperties }),
  columnsOf(projects, { of: "p", as: "project", only: projectProperties }),
  columnsOf(milestones, { of: "m", as: "milestone", only: milestoneProperties })
].join(", ")

const readTicket = partReaderOf(tickets, ticketProperties)
const readTeam = partReaderOf(teams, teamProperties, { as: "team" })
const readStatus = partReaderOf(ticketStatuses, statusProperties, { as: "status" })
const readProject = partReaderOf(projects, projectProperties, { as: "project" })
const readMilestone = partReaderOf(milestones, milestoneProperties, { as: "milestone" })

/** The columns of a ticket of a list, over `joinedTables`. */
export const listedColumns = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`left(t.description, ${sql.literal(String(maxListedDescription + 1))}) as description,
    ${firstTests(sql, "cases", "caseIds")}, ${firstTests(sql, "mute", "cases")}, ${ticketColumns(sql)}`

/** The columns of a `ListedTicket` with its whole description and all of its tests. */
export const wholeColumns = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`t.description, ${withProduct(sql, "cases")}, ${withProduct(sql, "mute")}, ${ticketColumns(sql)}`

const ticketColumns = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`${sql.literal(partColumns)},
    (select count(*)::int from comments c where c.ticket_id = t.id) as "commentCount",
    (select json_agg(json_build_object('id', g.id, 'name', g.name, 'color', g.color, 'teamId', g.team_id))
      from ticket_tags tt join tags g on g.id = tt.tag_id where tt.ticket_id = t.id) as tags,
    ${actorColumns(sql, "t.owner", "owner")}, ${actorColumns(sql, "t.creator", "creator")}`

const productOf = (column: string) =>
  `'product', (select tested.slug from products tested where tested.id = (t.${column}->>'productId')::uuid)`

/** A column about tests of a product, with the slug of the product. */
const withProduct = (sql: SqlClient.SqlClient, column: "cases" | "mute"): Statement.Fragment =>
  sql.literal(`case when t.${column} is not null then t.${column}
    || jsonb_build_object(${productOf(column)}) end as ${column}`)

/** The same, with the first tests alone, and how many there are. */
const firstTests = (sql: SqlClient.SqlClient, column: "cases" | "mute", ids: string): Statement.Fragment =>
  sql.literal(`case when t.${column} is not null then t.${column} || jsonb_build_object(${productOf(column)},
    '${ids}', jsonb_path_query_array(t.${column}, '$.${ids}[0 to ${maxListedCases - 1}]'),
    'count', jsonb_array_length(t.${column}->'${ids}')) end as ${column}`)

/** The tickets `t`, their teams `team`, and what else `listedColumns` needs. */
export const joinedTables = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`from tickets t
    join teams team on team.id = t.team_id
    join ticket_statuses s on s.id = t.status_id
    left join projects p on p.id = t.project_id
    left join milestones m on m.id = t.milestone_id
    ${actorJoins(sql, "t.owner", "owner")}
    ${actorJoins(sql, "t.creator", "creator")}`

/** What `listedColumns` selects beside the columns of tables. */
export interface SelectedTicket extends SelectedRow {
  readonly commentCount: number
  readonly tags: ReadonlyArray<TagPart> | null
  readonly cases: ListedTicket["cases"]
  readonly mute: ListedTicket["mute"]
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

export const readListed = (row: SelectedTicket): ListedTicket => ({
  ...readTicket(row),
  team: readTeam(row),
  status: readStatus(row),
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
  project: row["projectId"] === null ? null : readProject(row),
  milestone: row["milestoneId"] === null ? null : readMilestone(row),
  tags: row.tags ?? [],
  cases: row.cases,
  mute: row.mute,
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
