import type { WebhookDeliveryId, WebhookId, WorkspaceId } from "@delivery/domain/Ids"
import type { WebhookAttempt } from "@delivery/domain/webhooks/Webhook"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, insertInto, partReaderOf, readerOf, type SelectedRow, updateById } from "../storage/Table.ts"
import {
  type DeliveryRow,
  foundColumns,
  type FoundWebhook,
  type MadeWebhook,
  webhookDeliveries,
  webhooks,
  WebhooksRepo
} from "./WebhooksRepo.ts"
import { isBlocked, withAttempt } from "./WebhookStatements.ts"

export const layer = Layer.effect(
  WebhooksRepo,
  Effect.map(PgClient.PgClient, (sql) => {
    const insert = insertInto(sql, webhooks)
    const update = updateById(sql, webhooks, [
      "url",
      "kinds",
      "format",
      "secret",
      "previousSecret",
      "previousUntil",
      "updatedAt"
    ])
    return WebhooksRepo.of({
      insert: (webhook) => dieOnSqlError(insert(webhook)),
      update: (webhook) => dieOnSqlError(update(webhook)),
      takeOver: (id, { createdById, createdByKind, makerId }, slowUntil) =>
        dieOnSqlError(
          Effect.asVoid(sql`update webhooks set created_by_kind = ${createdByKind}, created_by_id = ${createdById},
            maker_id = ${makerId}, maker_ended_at = null, slow_until = ${date(slowUntil)} where id = ${id}`)
        ),
      activate: activate(sql),
      delete: (id) => dieOnSqlError(Effect.asVoid(sql`delete from webhooks where id = ${id}`)),
      list: list(sql),
      find: find(sql, sql.literal("")),
      lock: find(sql, sql.literal("for update of w")),
      deliveries: deliveries(sql),
      findDelivery: findDelivery(sql),
      insertDelivery: insertDelivery(sql),
      addAttempt: addAttempt(sql),
      endMakers: endMakers(sql),
      erase: erase(sql)
    })
  })
)

const readOwn = partReaderOf(webhooks, foundColumns)

type Selected = SelectedRow & ActorRow & Pick<FoundWebhook, "team" | "isBlocked">

const readRow = (row: Selected): FoundWebhook => ({
  ...readOwn(row),
  createdBy: readActor(row),
  team: row.team,
  isBlocked: row.isBlocked
})

const selectWebhooks = (sql: PgClient.PgClient): Statement.Fragment =>
  sql`select ${sql.literal(columnsOf(webhooks, { of: "w", only: foundColumns }))},
    ${actorColumns(sql, "w.created_by")},
    case when t.id is not null then json_build_object('id', t.id, 'key', t.key, 'name', t.name) end as team,
    ${sql.literal(isBlocked)} as "isBlocked"
    from webhooks w left join teams t on t.id = w.team_id ${actorJoins(sql, "w.created_by")}`

const activate = (sql: PgClient.PgClient) => (id: WebhookId) =>
  dieOnSqlError(
    Effect.asVoid(sql`with going as (
        update webhooks set state = 'active', due_at = case when delivery_id is not null then clock_timestamp() end
        where id = ${id} and state = 'parked' returning delivery_id
      )
      update webhook_deliveries d set state = 'pending', tries = 0, next_attempt_at = clock_timestamp()
        from going where d.id = going.delivery_id`)
  )

const list = (sql: PgClient.PgClient) => {
  const select = selectWebhooks(sql)
  return (workspaceId: WorkspaceId) =>
    sql<Selected>`${select} where w.workspace_id = ${workspaceId} order by w.id desc`.pipe(
      Effect.map((rows) => rows.map(readRow)),
      dieOnSqlError
    )
}

const find = (sql: PgClient.PgClient, locking: Statement.Fragment) => {
  const select = selectWebhooks(sql)
  return (workspaceId: WorkspaceId, id: WebhookId) =>
    sql<Selected>`${select} where w.workspace_id = ${workspaceId} and w.id = ${id} ${locking}`.pipe(
      Effect.map((rows) => rows.map(readRow)[0]),
      dieOnSqlError
    )
}

const deliveryColumns = (sql: PgClient.PgClient): Statement.Fragment =>
  sql.literal(`${columnsOf(webhookDeliveries, { of: "d", only: ownOfDelivery })}, d.position::float8 as position`)

const ownOfDelivery = [
  "id",
  "workspaceId",
  "webhookId",
  "eventId",
  "kind",
  "state",
  "tries",
  "attempts",
  "nextAttemptAt",
  "createdAt"
] as const

const readDelivery = readerOf(webhookDeliveries)

const deliveries = (sql: PgClient.PgClient) => {
  const columns = deliveryColumns(sql)
  return (id: WebhookId, before: string | undefined, limit: number) =>
    sql<SelectedRow>`select ${columns} from webhook_deliveries d where d.webhook_id = ${id}
        ${before === undefined ? sql.literal("") : sql`and d.id < ${before}`} order by d.id desc limit ${limit}`.pipe(
      Effect.map((rows) => rows.map(readDelivery)),
      dieOnSqlError
    )
}

const findDelivery = (sql: PgClient.PgClient) => {
  const columns = deliveryColumns(sql)
  return (id: WebhookId, delivery: WebhookDeliveryId) =>
    sql<SelectedRow>`select ${columns} from webhook_deliveries d
        where d.webhook_id = ${id} and d.id = ${delivery}`.pipe(
      Effect.map((rows) => rows.map(readDelivery)[0]),
      dieOnSqlError
    )
}

const insertDelivery = (sql: PgClient.PgClient) => {
  const insert = insertInto(sql, webhookDeliveries)
  return (delivery: DeliveryRow) =>
    Effect.gen(function* () {
      // Locked, so that it is not deleted meanwhile.
      const found = yield* sql`select 1 from webhooks where id = ${delivery.webhookId} for key share`
      if (found.length === 0) return false
      yield* insert(delivery)
      return true
    }).pipe(sql.withTransaction, dieOnSqlError)
}

const addAttempt = (sql: PgClient.PgClient) => {
  const columns = deliveryColumns(sql)
  return ({ id, webhookId }: DeliveryRow, attempt: WebhookAttempt, isDelivered: boolean) =>
    Effect.gen(function* () {
      // In the order in which the queue locks them.
      if (isDelivered) {
        yield* sql`update webhooks set delivery_id = null, due_at = null
          where id = ${webhookId} and delivery_id = ${id}`
      }
      const rows = yield* sql<SelectedRow>`update webhook_deliveries d
        set attempts = ${withAttempt(sql, "d.attempts", attempt)}
          ${isDelivered ? sql.literal(", state = 'delivered', next_attempt_at = null") : sql.literal("")}
        where d.id = ${id} and d.webhook_id = ${webhookId} returning ${columns}`
      return rows.map(readDelivery)[0]
    }).pipe(sql.withTransaction, dieOnSqlError)
}

const endMakers =
  (sql: PgClient.PgClient): WebhooksRepo["Service"]["endMakers"] =>
  (of, at) =>
    sql<MadeWebhook>`update webhooks set maker_ended_at = ${date(at)}
      where maker_ended_at is null and ${
        "makers" in of
          ? sql`maker_id = any(${uuids(of.makers)})`
          : sql`workspace_id = ${of.workspaceId} and created_by_kind = 'user' and created_by_id = ${of.member}`
      } returning id, workspace_id as "workspaceId", url, maker_id as "makerId"`.pipe(dieOnSqlError)

const erase = (sql: PgClient.PgClient) => (before: string, limit: number) =>
  sql`delete from webhook_deliveries where id in (
      select d.id from webhook_deliveries d where d.created_at < ${date(before)}
        and not exists (select 1 from webhooks w where w.id = d.webhook_id and w.delivery_id = d.id)
      limit ${limit}) returning 1`.pipe(
    Effect.map((rows) => rows.length),
    dieOnSqlError
  )
