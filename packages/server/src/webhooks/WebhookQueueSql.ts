import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, partReaderOf, readerOf, type SelectedRow } from "../storage/Table.ts"
import { type HeldWebhook, leaseMillis, slowMillis, type Tried, WebhookQueue } from "./WebhookQueue.ts"
import { foundColumns, webhookDeliveries, webhooks } from "./WebhooksRepo.ts"
import { isBlocked, withAttempt } from "./WebhookStatements.ts"

export const layer = Layer.effect(
  WebhookQueue,
  Effect.map(PgClient.PgClient, (sql) =>
    WebhookQueue.of({
      isInUse: sql`select 1 from webhooks where state = 'active' limit 1`.pipe(
        Effect.map((rows) => rows.length > 0),
        dieOnSqlError
      ),
      claim: claim(sql),
      pending: pending(sql),
      pass: pass(sql),
      store: store(sql),
      release: release(sql),
      lag: lag(sql)
    })
  )
)

const properties = [...foundColumns, "createdByKind", "createdById"] as const

const readOwn = partReaderOf(webhooks, properties)

const readHeld = (row: SelectedRow): HeldWebhook => ({
  ...readOwn(row),
  position: row["position"] as number,
  holder: row["holder"] as string,
  isSlow: row["isSlow"] as boolean,
  slug: row["slug"] as string
})

/** Of the webhook `w`. */
const isSlow = "coalesce(w.slow_until > clock_timestamp(), false)"

/** The columns of a `HeldWebhook`, over the webhook `w` and its workspace `s`. */
const heldColumns = (sql: PgClient.PgClient): Statement.Fragment =>
  sql.literal(`${columnsOf(webhooks, { of: "w", only: properties })}, w.position::float8 as position,
    w.lease_holder as holder, s.slug, ${isSlow} as "isSlow"`)

const leaseEnd = (sql: PgClient.PgClient): Statement.Fragment =>
  sql.literal(`clock_timestamp() + interval '${leaseMillis} milliseconds'`)

const claim = (sql: PgClient.PgClient): WebhookQueue["Service"]["claim"] => {
  const [columns, end] = [heldColumns(sql), leaseEnd(sql)]
  return ({ hasNews, holder, limit, slowLimit, upTo }) => {
    const due = sql`select w.id from webhooks w
      where w.state = 'active' and (w.lease_until is null or w.lease_until <= clock_timestamp())
        and case when w.delivery_id is not null then w.due_at <= clock_timestamp()
          else w.lease_until is not null or (${hasNews} and exists (select 1 from events e
            where e.workspace_id = w.workspace_id and e.position > w.position and e.position <= ${upTo})) end
        and not ${sql.literal(isBlocked)}`
    const next = sql.literal("order by w.delivery_id is not null, w.served_at nulls first")
    return sql<SelectedRow>`with slow as (
        ${due} and ${sql.literal(isSlow)} ${next} limit ${Math.min(limit, slowLimit)} for update of w skip locked
      ), quick as (
        ${due} and not ${sql.literal(isSlow)} ${next} limit ${limit} - (select count(*) from slow)
          for update of w skip locked
      )
      update webhooks w set lease_holder = ${holder}, lease_until = ${end}, served_at = clock_timestamp()
        from (select id from slow union all select id from quick) due, workspaces s
        where w.id = due.id and s.id = w.workspace_id
        returning ${columns}`.pipe(
      Effect.map((rows) => rows.map(readHeld)),
      dieOnSqlError
    )
  }
}

const readDelivery = readerOf(webhookDeliveries)

const pending = (sql: PgClient.PgClient): WebhookQueue["Service"]["pending"] => {
  const columns = sql.literal(
    columnsOf(webhookDeliveries)
      .split(", ")
      .map((column) => (column === "position" ? "position::float8 as position" : column))
      .join(", ")
  )
  return ({ deliveryId, id }) =>
    sql<SelectedRow>`select ${columns} from webhook_deliveries where id = ${deliveryId} and webhook_id = ${id}`.pipe(
      Effect.map((rows) => rows.map(readDelivery)[0]),
      dieOnSqlError
    )
}

/** The webhook, while it is held and waits for what its holder knows of. */
const stillHeld = (sql: PgClient.PgClient, { deliveryId, holder, id }: HeldWebhook): Statement.Fragment =>
  sql`w.id = ${id} and w.lease_holder = ${holder} and w.lease_until > clock_timestamp() and w.state = 'active'
    and w.delivery_id is not distinct from ${deliveryId}::uuid and not ${sql.literal(isBlocked)}`

const pass = (sql: PgClient.PgClient): WebhookQueue["Service"]["pass"] => {
  const [columns, end] = [heldColumns(sql), leaseEnd(sql)]
  return (held, position) =>
    sql<SelectedRow>`with passed as (delete from webhook_deliveries d using webhooks w
        where ${stillHeld(sql, held)} and d.id = w.delivery_id)
      update webhooks w set position = greatest(w.position, ${position}), delivery_id = null, due_at = null,
          lease_until = ${end}
        from workspaces s where ${stillHeld(sql, held)} and s.id = w.workspace_id returning ${columns}`.pipe(
      Effect.map((rows) => rows.map(readHeld)[0]),
      dieOnSqlError
    )
}

const store = (sql: PgClient.PgClient): WebhookQueue["Service"]["store"] => {
  const [columns, end] = [heldColumns(sql), leaseEnd(sql)]
  const slowEnd = sql.literal(`clock_timestamp() + interval '${slowMillis} milliseconds'`)
  const storeDelivery = insertTried(sql)
  return (held, tried) => {
    const { delivery, isSlow, state, waitMillis } = tried
    const wait = sql`${waitMillis} * interval '1 millisecond'`
    return Effect.gen(function* () {
      const rows = yield* sql<SelectedRow>`update webhooks w set position = greatest(w.position, ${delivery.position}),
          delivery_id = ${state === "delivered" ? null : delivery.id}::uuid,
          due_at = case when ${state === "pending"} then clock_timestamp() + ${wait} end,
          state = ${state === "parked" ? "parked" : "active"},
          updated_at = case when ${state === "parked"} then greatest(w.updated_at, clock_timestamp()) else w.updated_at end,
          slow_until = case when ${isSlow} then ${slowEnd} else w.slow_until end,
          lease_until = ${end}
        from workspaces s where ${stillHeld(sql, held)} and s.id = w.workspace_id returning ${columns}`
      const [row] = rows
      if (row === undefined) return undefined
      yield* storeDelivery(tried)
      return readHeld(row)
    }).pipe(sql.withTransaction, dieOnSqlError)
  }
}

const insertTried =
  (sql: PgClient.PgClient) =>
  ({ attempt, delivery, state, waitMillis }: Tried) => {
    const next = sql`case when ${state === "pending"} then clock_timestamp() + ${waitMillis} * interval '1 millisecond' end`
    return sql`insert into webhook_deliveries (id, workspace_id, webhook_id, event_id, kind, position, state, tries, attempts,
      next_attempt_at, created_at)
    values (${delivery.id}, ${delivery.workspaceId}, ${delivery.webhookId}, ${delivery.eventId}, ${delivery.kind},
      ${delivery.position}, ${state}, ${delivery.tries}, ${sql.json([attempt])}::jsonb, ${next}, ${date(delivery.createdAt)})
    on conflict (id) do update set state = excluded.state, tries = excluded.tries, attempts = ${withAttempt(sql, "webhook_deliveries.attempts", attempt)},
      next_attempt_at = excluded.next_attempt_at`
  }

const release =
  (sql: PgClient.PgClient): WebhookQueue["Service"]["release"] =>
  ({ holder, id }) =>
    dieOnSqlError(
      Effect.asVoid(sql`update webhooks set lease_holder = null, lease_until = null
        where id = ${id} and lease_holder = ${holder}`)
    )

const lag = (sql: PgClient.PgClient): WebhookQueue["Service"]["lag"] =>
  sql<{ readonly seconds: number }>`select coalesce(max(greatest(0,
      extract(epoch from clock_timestamp() - waiting.since))), 0)::float8 as seconds
    from webhooks w cross join lateral (
      select e.created_at as since from events e
      where e.workspace_id = w.workspace_id
        and case when w.delivery_id is null then e.position > w.position else e.position >= w.position end
        and (w.kinds is null or jsonb_exists(w.kinds, e.kind))
      order by e.position limit 1
    ) as waiting where w.state = 'active'`.pipe(
    Effect.map(([row]) => row!.seconds),
    dieOnSqlError
  )
