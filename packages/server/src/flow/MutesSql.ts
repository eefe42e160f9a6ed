import type { ProductId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import { ticketIdentifier } from "@delivery/domain/planning/Ticket"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { ownerOf } from "../planning/TicketOwners.ts"
import { seesTeam } from "../planning/Visibility.ts"
import { actorColumns, actorJoins, type ActorRow, actorRows, readActor } from "../access/Actors.ts"
import { batched } from "../storage/Batched.ts"
import { column, texts, uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"
import { type FoundListedMute, type FoundMute, type MutingTicket, MutesRepo, type TicketAbout } from "./MutesRepo.ts"
import { isAbout } from "./TestRulesSql.ts"

export const layer = Layer.effect(
  MutesRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    MutesRepo.of({
      ofProduct: ofProduct(sql),
      countOthers: countOthers(sql),
      list: list(sql),
      over: over(sql),
      isInForce: isInForce(sql),
      ofOwners: ofOwners(sql),
      identifiers: identifiers(sql),
      about: about(sql)
    })
  )
)

type Repo = MutesRepo["Service"]

/** Whether the ticket `t` is open. */
const isOpen = `exists (select 1 from ticket_statuses s where s.id = t.status_id
  and s.category not in ('completed', 'canceled'))`

/** Whether the ticket `t` has an owner who is there. */
const isOwned = `exists (select 1 from members m where m.workspace_id = t.workspace_id and m.active
  and m.person_id = case t.owner_kind when 'user' then t.owner_id
    else (select a.person_id from agents a where a.id = t.owner_id and a.revoked_at is null) end)`

/** Whether the mute of the ticket `t` is in force. Timestamps of the contract have one length and compare as texts. */
const inForce = (sql: PgClient.PgClient, now: Statement.Fragment): Statement.Fragment =>
  sql`(t.mute->>'until') collate "C" > ${now} and ${sql.literal(isOpen)} and ${sql.literal(isOwned)}`

interface Asked {
  readonly workspaceId: WorkspaceId
  readonly productId: ProductId
  readonly now: Timestamp
}

/** Every run that starts asks: those of a moment ask together. */
const ofProduct = (sql: PgClient.PgClient): Repo["ofProduct"] => {
  const askAll = (asked: ReadonlyArray<Asked>) =>
    sql<FoundMute & { readonly place: number }>`select wanted.place::integer, t.id as "ticketId", t.mute
      from unnest(${column(asked, PgTypes.OID.uuid, ({ workspaceId }) => workspaceId)},
        ${texts(asked, ({ productId }) => productId)}, ${texts(asked, ({ now }) => now)})
        with ordinality as wanted (workspace_id, product_id, now, place)
      join tickets t on t.workspace_id = wanted.workspace_id and t.mute is not null
        and t.mute->>'productId' = wanted.product_id
      where ${inForce(sql, sql`wanted.now`)}`.pipe(
      Effect.map((rows) => {
        const byPlace = Map.groupBy(rows, ({ place }) => place)
        return asked.map((_, index): ReadonlyArray<FoundMute> => byPlace.get(index + 1) ?? [])
      }),
      dieOnSqlError
    )
  const ask = batched(sql, askAll, { running: 2 })
  return (workspaceId, productId, now) => ask({ workspaceId, productId, now })
}

/** What tickets of a workspace mute, and what is over of it. */
const storedIn = (sql: PgClient.PgClient, workspaceId: WorkspaceId): Statement.Fragment =>
  sql`select ticket_id, product_id, case_ids as cases, until from overdue_product_mutes
    where workspace_id = ${workspaceId}
    union all
    select id, (mute->>'productId')::uuid, mute->'cases', (mute->>'until')::timestamptz from tickets
    where workspace_id = ${workspaceId} and mute is not null`

const countOthers =
  (sql: PgClient.PgClient): Repo["countOthers"] =>
  (workspaceId, productId, except) =>
    sql<{ readonly count: number }>`select coalesce(sum(jsonb_array_length(muted.cases)), 0)::int as count
      from (${storedIn(sql, workspaceId)}) muted join tickets t on t.id = muted.ticket_id
      where muted.product_id = ${productId} and t.id <> ${except} and ${sql.literal(isOpen)}`.pipe(
      Effect.map((rows) => rows[0]!.count),
      dieOnSqlError
    )

interface ListedRow extends Omit<ActorRow, "actorKind">, Pick<FoundListedMute, "productId" | "product" | "cases"> {
  readonly actorKind: ActorRow["actorKind"] | null
  readonly until: Date
  readonly id: TicketId
  readonly key: string
  readonly number: number
  readonly title: string
  readonly isSeen: boolean
}

/** Also those that nobody has ended yet. */
const list =
  (sql: PgClient.PgClient): Repo["list"] =>
  (viewer, product, now) =>
    sql<ListedRow>`select p.id as "productId", p.slug as product, m.cases, m.until, t.id, team.key, t.number, t.title,
        ${actorColumns(sql, "t.owner")}, ${seesTeam(sql, viewer, "team")} as "isSeen"
      from (${storedIn(sql, viewer.workspaceId)}) m
        join tickets t on t.id = m.ticket_id join teams team on team.id = t.team_id
        join products p on p.id = m.product_id
        ${actorJoins(sql, "t.owner")}
      where ${sql.literal(isOpen)} and (m.until <= ${date(now)} or ${sql.literal(isOwned)})
        ${product === undefined ? sql`` : sql`and p.id = ${product}`}
      order by m.until, t.id, p.id`.pipe(
      Effect.map((rows) =>
        rows.map((row) => ({
          productId: row.productId,
          product: row.product,
          cases: row.cases,
          until: iso(row.until),
          ticket: row.isSeen ? listedTicket(row) : null
        }))
      ),
      dieOnSqlError
    )

const listedTicket = ({ actorKind, id, key, number, title, ...actor }: ListedRow) => ({
  id,
  identifier: ticketIdentifier(key, number),
  title,
  owner: actorKind === null ? null : ownerOf(readActor({ ...actor, actorKind }))
})

const over =
  (sql: PgClient.PgClient): Repo["over"] =>
  (now, limit) =>
    sql<MutingTicket>`select t.id, t.workspace_id as "workspaceId" from tickets t
      where t.mute is not null and not (${inForce(sql, sql`${now}`)})
      order by t.id limit ${limit}`.pipe(dieOnSqlError)

const isInForce =
  (sql: PgClient.PgClient): Repo["isInForce"] =>
  (ticket, now) =>
    sql`select 1 from tickets t where t.id = ${ticket} and t.mute is not null and ${inForce(sql, sql`${now}`)}`.pipe(
      Effect.map((rows) => rows.length > 0),
      dieOnSqlError
    )

const ofOwners =
  (sql: PgClient.PgClient): Repo["ofOwners"] =>
  (workspaceId, owners) =>
    sql<MutingTicket>`select t.id, t.workspace_id as "workspaceId" from tickets t
      where t.workspace_id = ${workspaceId} and t.mute is not null
        and (t.owner_kind, t.owner_id) in (select * from ${actorRows(sql, owners)})
      order by t.id`.pipe(dieOnSqlError)

const identifiers =
  (sql: PgClient.PgClient): Repo["identifiers"] =>
  (viewer, tickets) =>
    sql<{ readonly id: TicketId; readonly key: string; readonly number: number }>`
      select t.id, team.key, t.number from tickets t join teams team on team.id = t.team_id
      where t.workspace_id = ${viewer.workspaceId} and t.id = any(${uuids(tickets)})
        and ${seesTeam(sql, viewer, "team")}`.pipe(
      Effect.map((rows) => new Map(rows.map(({ id, key, number }) => [id, ticketIdentifier(key, number)]))),
      dieOnSqlError
    )

const about =
  (sql: PgClient.PgClient): Repo["about"] =>
  (viewer, productId, caseIds) =>
    sql<Omit<TicketAbout, "identifier"> & { readonly key: string; readonly number: number }>`
      select t.id, team.key, t.number, t.title, t.cases->'caseIds' as "caseIds"
      from tickets t join teams team on team.id = t.team_id
      where t.cases is not null and ${isAbout(sql, caseIds)}
        and t.workspace_id = ${viewer.workspaceId} and t.cases->>'productId' = ${productId}
        and ${sql.literal(isOpen)} and ${seesTeam(sql, viewer, "team")}
      order by t.id`.pipe(
      Effect.map((rows) =>
        rows.map(({ key, number, ...ticket }) => ({ ...ticket, identifier: ticketIdentifier(key, number) }))
      ),
      dieOnSqlError
    )
