import type { TagId, TicketId } from "@delivery/domain/Ids"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import type { StoredEvent } from "../events/EventsRepo.ts"
import { insertEvent } from "../events/EventStatements.ts"
import { uuids } from "../storage/Columns.ts"
import { date, dateOrNull, dieOnSqlError } from "../storage/Sql.ts"
import { nearest, rankedList } from "./RankedListSql.ts"
import { storeWords } from "./TicketWordsSql.ts"
import { type TicketRow, tickets, type TicketsRepo } from "./TicketsRepo.ts"

/** What `TicketsRepo` writes over SQL, and the order of a team's tickets. A ticket is stored in one statement. */

type Repo = TicketsRepo["Service"]

export const takeNumber =
  (sql: PgClient.PgClient): Repo["takeNumber"] =>
  (teamId) =>
    sql<{ readonly number: number }>`update teams set last_ticket_number = last_ticket_number + 1
      where id = ${teamId} returning last_ticket_number as number`.pipe(
      Effect.map((rows) => rows[0]!.number),
      dieOnSqlError
    )

export const insert =
  (sql: PgClient.PgClient): Repo["insert"] =>
  (ticket, tagIds, event) =>
    sql`with inserted as (
        insert into tickets (id, workspace_id, team_id, number, title, description, plan, status_id, rank,
          owner_kind, owner_id, project_id, milestone_id, cases, mute, completion, passes, past_owners, blocks, creator_kind, creator_id, started_at, completed_at,
          canceled_at, created_at, updated_at, wording)
        values (${ticket.id}, ${ticket.workspaceId}, ${ticket.teamId}, ${ticket.number}, ${ticket.title},
          ${ticket.description}, ${ticket.plan}, ${ticket.statusId}, ${ticket.rank},
          ${ticket.ownerKind}, ${ticket.ownerId}, ${ticket.projectId}, ${ticket.milestoneId},
          ${jsonOrNull(ticket.cases)}::jsonb, ${jsonOrNull(ticket.mute)}::jsonb, ${ticket.completion},
          ${ticket.passes}, ${jsonOrNull(ticket.pastOwners)}::jsonb, ${ticket.blocks},
          ${ticket.creatorKind}, ${ticket.creatorId}, ${dateOrNull(ticket.startedAt)},
          ${dateOrNull(ticket.completedAt)}, ${dateOrNull(ticket.canceledAt)}, ${date(ticket.createdAt)},
          ${date(ticket.updatedAt)}, 1)
        returning id
      ), identified as (
        insert into ticket_identifiers (workspace_id, team_id, number, ticket_id)
        values (${ticket.workspaceId}, ${ticket.teamId}, ${ticket.number}, ${ticket.id})
      ), worded as (${storeWords(sql, [ticket])}
      ), tagged as (${insertTags(sql, ticket, tagIds, "inserted")}), ${joined(sql, insertedEvents(sql, [event]))}
      select id from inserted`.pipe(Effect.asVoid, dieOnSqlError)

export const update =
  (sql: PgClient.PgClient): Repo["update"] =>
  (ticket, tagIds, events, isReworded) =>
    sql`with changed as (
        update tickets set team_id = ${ticket.teamId}, number = ${ticket.number}, title = ${ticket.title},
          description = ${ticket.description}, plan = ${ticket.plan}, status_id = ${ticket.statusId},
          rank = ${ticket.rank}, owner_kind = ${ticket.ownerKind}, owner_id = ${ticket.ownerId},
          project_id = ${ticket.projectId}, milestone_id = ${ticket.milestoneId},
          cases = ${jsonOrNull(ticket.cases)}::jsonb, mute = ${jsonOrNull(ticket.mute)}::jsonb,
          completion = ${ticket.completion}, passes = ${ticket.passes},
          past_owners = ${jsonOrNull(ticket.pastOwners)}::jsonb,
          blocks = ${ticket.blocks},
          started_at = ${dateOrNull(ticket.startedAt)}, completed_at = ${dateOrNull(ticket.completedAt)},
          canceled_at = ${dateOrNull(ticket.canceledAt)}, updated_at = ${date(ticket.updatedAt)}
          ${isReworded ? sql`, wording = wording + 1` : sql``}
        where id = ${ticket.id}
        returning id
      ), identified as (
        insert into ticket_identifiers (workspace_id, team_id, number, ticket_id)
        values (${ticket.workspaceId}, ${ticket.teamId}, ${ticket.number}, ${ticket.id}) on conflict do nothing
      ) ${isReworded ? sql`, worded as (${storeWords(sql, [ticket])})` : sql``} ${
        tagIds === undefined
          ? sql``
          : sql`, untagged as (
              delete from ticket_tags where ticket_id = ${ticket.id} and tag_id <> all(${uuids(tagIds)})
            ), tagged as (${insertTags(sql, ticket, tagIds, "changed")})`
      } ${events.length === 0 ? sql`` : sql`, ${joined(sql, insertedEvents(sql, events))}`}
      select id from changed`.pipe(Effect.asVoid, dieOnSqlError)

export const remove = (sql: PgClient.PgClient) => (id: TicketId, event: StoredEvent) =>
  sql`with ${joined(sql, insertedEvents(sql, [event]))} delete from tickets where id = ${id}`.pipe(
    Effect.asVoid,
    dieOnSqlError
  )

const jsonOrNull = (value: object | null): string | null => (value === null ? null : JSON.stringify(value))

/** The statement that gives the ticket, which the CTE `from` stores, the tags that it does not have. */
const insertTags = (
  sql: PgClient.PgClient,
  { id, workspaceId }: TicketRow,
  tagIds: ReadonlyArray<TagId>,
  from: "inserted" | "changed"
): Statement.Fragment =>
  sql`insert into ticket_tags (workspace_id, ticket_id, tag_id)
    select ${workspaceId}::uuid, ${id}::uuid, tag_id
    from ${sql.literal(from)}, unnest(${uuids(tagIds)}) as tag_id on conflict do nothing`

/** A CTE for each of the events. */
const insertedEvents = (
  sql: PgClient.PgClient,
  events: ReadonlyArray<StoredEvent>
): ReadonlyArray<Statement.Fragment> =>
  events.map((event, index) => sql`${sql.literal(`event_${index}`)} as (${insertEvent(sql, event)})`)

const joined = (sql: PgClient.PgClient, ctes: ReadonlyArray<Statement.Fragment>): Statement.Fragment =>
  ctes.reduce((all, cte) => sql`${all}, ${cte}`)

export const orderOf =
  (sql: PgClient.PgClient): Repo["orderOf"] =>
  ({ id: teamId, workspaceId }) =>
    rankedList(sql, tickets, sql`workspace_id = ${workspaceId} and team_id = ${teamId}`)

export const inStatus =
  (sql: PgClient.PgClient): Repo["inStatus"] =>
  ({ statusId, teamId, workspaceId }, side, rank, except) =>
    sql<{ id: TicketId; rank: string }>`select id, rank from tickets where workspace_id = ${workspaceId}
      and team_id = ${teamId} and status_id = ${statusId} and id <> ${except} ${nearest(sql, side, rank)}`.pipe(
      Effect.map((rows): { readonly id: TicketId; readonly rank: string } | undefined => rows[0]),
      dieOnSqlError
    )
