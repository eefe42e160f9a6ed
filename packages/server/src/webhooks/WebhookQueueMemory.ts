import { compare } from "@delivery/domain/Order"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { eventsTable } from "../events/EventsRepo.ts"
import { isBlocked } from "../identity/BlocksRepo.ts"
import { workspaces } from "../identity/WorkspacesRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { type HeldWebhook, leaseMillis, slowMillis, WebhookQueue } from "./WebhookQueue.ts"
import { keptAttempts, webhookDeliveries, type WebhookRow, webhooks } from "./WebhooksRepo.ts"

/** One process alone has this storage; a lease holds all the same. */
export const layer = Layer.effect(
  WebhookQueue,
  Effect.map(MemoryStorage, (memory) =>
    WebhookQueue.of({
      isInUse: memory.read(
        (database) => database.table(webhooks).find(({ state }) => state === "active") !== undefined
      ),
      claim: claim(memory),
      pending: ({ deliveryId }) =>
        memory.read((database) =>
          deliveryId === null ? undefined : database.table(webhookDeliveries).get(deliveryId)
        ),
      pass: pass(memory),
      store: store(memory),
      release: release(memory),
      lag: lag(memory)
    })
  )
)

type Memory = MemoryStorage["Service"]

const heldOf = (database: MemoryDatabase, row: WebhookRow, millis: number): HeldWebhook => {
  const { dueAt: _, leaseHolder, leaseUntil: __, servedAt: ___, slowUntil: ____, ...own } = row
  const { slug } = database.table(workspaces).get(row.workspaceId)!
  return { ...own, holder: leaseHolder!, slug, isSlow: isSlowAt(row, millis) }
}

const isSlowAt = ({ slowUntil }: WebhookRow, millis: number): boolean =>
  slowUntil !== null && slowUntil > timestamp(millis)

const hasEvents = (database: MemoryDatabase, { position, workspaceId }: WebhookRow, upTo: number): boolean =>
  database
    .table(eventsTable)
    .find((event) => event.workspaceId === workspaceId && event.position > position && event.position <= upTo) !==
  undefined

const claim =
  (memory: Memory): WebhookQueue["Service"]["claim"] =>
  ({ hasNews, holder, limit, slowLimit, upTo }) =>
    memory.write((database) =>
      Effect.map(Clock.currentTimeMillis, (millis) => {
        const now = timestamp(millis)
        const rows = database.table(webhooks)
        const isDue = (row: WebhookRow) =>
          row.deliveryId === null
            ? row.leaseUntil !== null || (hasNews && hasEvents(database, row, upTo))
            : row.dueAt! <= now
        const due = rows
          .filter((row) => row.state === "active" && (row.leaseUntil === null || row.leaseUntil <= now))
          .filter((row) => isDue(row) && !isBlocked(database, row.workspaceId, row.makerId))
          .toSorted(
            (a, b) =>
              Number(a.deliveryId !== null) - Number(b.deliveryId !== null) ||
              compare(a.servedAt ?? "", b.servedAt ?? "")
          )
        const slow = due.filter((row) => isSlowAt(row, millis)).slice(0, Math.min(limit, slowLimit))
        const quick = due.filter((row) => !isSlowAt(row, millis)).slice(0, limit - slow.length)
        return [...slow, ...quick].map((row) => {
          const leaseUntil = timestamp(millis + leaseMillis)
          const held = { ...row, leaseHolder: holder, leaseUntil, servedAt: now }
          rows.set(row.id, held)
          return heldOf(database, held, millis)
        })
      })
    )

/** Changes the webhook where it is still held and waits for what its holder knows of. */
const change = (
  memory: Memory,
  held: HeldWebhook,
  make: (database: MemoryDatabase, row: WebhookRow, millis: number) => WebhookRow
) =>
  memory.write((database) =>
    Effect.map(Clock.currentTimeMillis, (millis) => {
      const row = database.table(webhooks).get(held.id)
      const isHeld =
        row?.leaseHolder === held.holder &&
        row.leaseUntil! > timestamp(millis) &&
        row.state === "active" &&
        row.deliveryId === held.deliveryId &&
        !isBlocked(database, row.workspaceId, row.makerId)
      if (!isHeld) return undefined
      const changed = { ...make(database, row, millis), leaseUntil: timestamp(millis + leaseMillis) }
      database.table(webhooks).set(row.id, changed)
      return heldOf(database, changed, millis)
    })
  )

const pass =
  (memory: Memory): WebhookQueue["Service"]["pass"] =>
  (held, position) =>
    change(memory, held, (database, row) => {
      if (row.deliveryId !== null) database.table(webhookDeliveries).delete(row.deliveryId)
      return { ...row, position: Math.max(row.position, position), deliveryId: null, dueAt: null }
    })

const store =
  (memory: Memory): WebhookQueue["Service"]["store"] =>
  (held, { attempt, delivery, isSlow, state, waitMillis }) =>
    change(memory, held, (database, row, millis) => {
      const rows = database.table(webhookDeliveries)
      const attempts = [...(rows.get(delivery.id)?.attempts ?? []), attempt].slice(-keptAttempts)
      const dueAt = state === "pending" ? timestamp(millis + waitMillis) : null
      rows.set(delivery.id, { ...delivery, attempts, state, nextAttemptAt: dueAt })
      return {
        ...row,
        position: Math.max(row.position, delivery.position!),
        deliveryId: state === "delivered" ? null : delivery.id,
        dueAt,
        ...(isSlow ? { slowUntil: timestamp(millis + slowMillis) } : {}),
        ...(state === "parked" ? { state, updatedAt: timestamp(millis) } : {})
      }
    })

const release =
  (memory: Memory): WebhookQueue["Service"]["release"] =>
  ({ holder, id }) =>
    memory.write((database) =>
      Effect.sync(() => {
        const row = database.table(webhooks).get(id)
        if (row?.leaseHolder === holder) {
          database.table(webhooks).set(id, { ...row, leaseHolder: null, leaseUntil: null })
        }
      })
    )

const lag = (memory: Memory): WebhookQueue["Service"]["lag"] =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    memory.read((database) => {
      const waits = database
        .table(webhooks)
        .filter(({ state }) => state === "active")
        .map(({ deliveryId, kinds, position, workspaceId }) => {
          const waiting = database
            .table(eventsTable)
            .filter((event) => event.workspaceId === workspaceId && (kinds === null || kinds.includes(event.kind)))
            .filter((event) => (deliveryId === null ? event.position > position : event.position >= position))
            .map(({ createdAt }) => now - Date.parse(createdAt))
          return Math.max(0, ...waiting)
        })
      return Math.max(0, ...waits) / 1_000
    })
  )
