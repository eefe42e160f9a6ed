import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, readerOf, type SelectedRow } from "../storage/Table.ts"
import { makingRoom } from "./EarlierTexts.ts"
import { namesTicket } from "./TicketRefs.ts"
import { type TicketTextDetails, ticketTexts, TicketTextsRepo } from "./TicketTextsRepo.ts"
import { seesTeam } from "./Visibility.ts"

export const layer = Layer.effect(
  TicketTextsRepo,
  Effect.map(PgClient.PgClient, (sql) => TicketTextsRepo.of({ keep: keep(sql), list: list(sql) }))
)

type Repo = TicketTextsRepo["Service"]

const keep =
  (sql: PgClient.PgClient): Repo["keep"] =>
  ({ authorId, authorKind, field, replacedAt, text, ticketId, workspaceId }) =>
    sql`${makingRoom(sql, { table: "ticket_texts", of: "ticket_id", id: ticketId }, text)}
      insert into ticket_texts (workspace_id, ticket_id, number, field, text, author_kind, author_id, replaced_at)
      select ${workspaceId}::uuid, ${ticketId}::uuid, coalesce((select max(number) from held), 0) + 1, ${field}::text,
        ${text}::text, ${authorKind}::text, ${authorId}::uuid, ${date(replacedAt)}::timestamptz`.pipe(
      Effect.asVoid,
      dieOnSqlError
    )

type SelectedText = SelectedRow & ActorRow

const readText = readerOf(ticketTexts)

const list = (sql: PgClient.PgClient): Repo["list"] => {
  const columns = sql`${sql.literal(columnsOf(ticketTexts, { of: "e" }))}, ${actorColumns(sql, "e.author")}`
  const joins = actorJoins(sql, "e.author")
  return (viewer, ticketRef, { below, field, limit }) => {
    const isNamed = namesTicket(sql, viewer, ticketRef)
    return isNamed === undefined
      ? Effect.undefined
      : sql<SelectedText>`select ${columns}
          from tickets t join teams team on team.id = t.team_id
            left join lateral (
              select * from ticket_texts where ticket_id = t.id
                ${below === undefined ? sql`` : sql`and number < ${below}`}
                ${field === undefined ? sql`` : sql`and field = ${field}`}
              order by number desc limit ${limit}
            ) e on true ${joins}
          where t.workspace_id = ${viewer.workspaceId} and ${isNamed} and ${seesTeam(sql, viewer, "team")}
          order by e.number desc`.pipe(
          Effect.map((rows) =>
            // A ticket without earlier texts is one row of nulls; a ticket that is not there is none.
            rows.length === 0
              ? undefined
              : rows
                  .filter(({ number }) => number !== null)
                  .map((row): TicketTextDetails => ({ ...readText(row), author: readActor(row) }))
          ),
          dieOnSqlError
        )
  }
}
