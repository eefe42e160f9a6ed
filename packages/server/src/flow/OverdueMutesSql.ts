import type { TicketId } from "@delivery/domain/Ids"
import { ticketIdentifier } from "@delivery/domain/planning/Ticket"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { seesTeam } from "../planning/Visibility.ts"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"
import { OverdueMutes } from "./OverdueMutes.ts"

export const layer = Layer.effect(
  OverdueMutes,
  Effect.map(PgClient.PgClient, (sql) =>
    OverdueMutes.of({ find: find(sql), nextEnd: nextEnd(sql), noted: noted(sql), note: note(sql), forget: forget(sql) })
  )
)

type Repo = OverdueMutes["Service"]

interface Selected {
  readonly caseId: string
  readonly until: Date
  readonly id: TicketId
  readonly key: string
  readonly number: number
  readonly title: string
  readonly isSeen: boolean
}

/** Also those that nobody has ended yet. */
const find =
  (sql: PgClient.PgClient): Repo["find"] =>
  (viewer, product, now) =>
    sql<Selected>`select cases.id as "caseId", late.until, t.id, team.key, t.number, t.title,
        ${seesTeam(sql, viewer, "team")} as "isSeen"
      from (
          select ticket_id, case_ids, until from overdue_product_mutes
          where workspace_id = ${viewer.workspaceId} and product_id = ${product}
          union all
          select id, mute->'cases', (mute->>'until')::timestamptz from tickets
          where workspace_id = ${viewer.workspaceId} and mute is not null and mute->>'productId' = ${product}
            and (mute->>'until')::timestamptz <= ${date(now)}
        ) late
        join tickets t on t.id = late.ticket_id join teams team on team.id = t.team_id
        join ticket_statuses s on s.id = t.status_id and s.category not in ('completed', 'canceled')
        cross join lateral jsonb_array_elements_text(late.case_ids) as cases (id)
      order by late.until, t.id, cases.id`.pipe(
      Effect.map((rows) =>
        rows.map(({ caseId, id, isSeen, key, number, title, until }) => ({
          caseId,
          until: iso(until),
          ticket: isSeen ? { id, identifier: ticketIdentifier(key, number), title } : null
        }))
      ),
      dieOnSqlError
    )

const nextEnd =
  (sql: PgClient.PgClient): Repo["nextEnd"] =>
  ({ workspaceId }, product, now) =>
    sql<{ readonly until: Date | null }>`select min((mute->>'until')::timestamptz) as until from tickets
      where workspace_id = ${workspaceId} and mute is not null and mute->>'productId' = ${product}
        and (mute->>'until')::timestamptz > ${date(now)}`.pipe(
      Effect.map(([row]) => (row === undefined || row.until === null ? null : iso(row.until))),
      dieOnSqlError
    )

const noted =
  (sql: PgClient.PgClient): Repo["noted"] =>
  (ticket, productId) =>
    sql<{ readonly cases: ReadonlyArray<string>; readonly until: Date }>`select case_ids as cases, until
      from overdue_product_mutes where ticket_id = ${ticket} and product_id = ${productId}`.pipe(
      Effect.map(([row]) => row && { productId, cases: row.cases, until: iso(row.until) }),
      dieOnSqlError
    )

const note =
  (sql: PgClient.PgClient): Repo["note"] =>
  (ticket, workspace, { cases, productId, until }) =>
    sql`insert into overdue_product_mutes (ticket_id, workspace_id, product_id, case_ids, until)
      values (${ticket}, ${workspace}, ${productId}, ${PgTypes.json(cases)}, ${date(until)})
      on conflict (ticket_id, product_id) do update set case_ids = excluded.case_ids, until = excluded.until`.pipe(
      Effect.asVoid,
      dieOnSqlError
    )

const forget =
  (sql: PgClient.PgClient): Repo["forget"] =>
  (ticket, product) =>
    sql`delete from overdue_product_mutes where ticket_id = ${ticket} and product_id = ${product}`.pipe(
      Effect.asVoid,
      dieOnSqlError
    )
