import type { WebhookDeliveryId, WebhookId, WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { compare } from "@delivery/domain/Order"
import { Clock, Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { resolveActor } from "../access/Actors.ts"
import { isBlocked } from "../identity/BlocksRepo.ts"
import { teams } from "../planning/TeamsRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import {
  type ChangedWebhook,
  type DeliveryRow,
  type FoundWebhook,
  keptAttempts,
  webhookDeliveries,
  type WebhookRow,
  webhooks,
  WebhooksRepo
} from "./WebhooksRepo.ts"

export const layer = Layer.effect(
  WebhooksRepo,
  Effect.map(MemoryStorage, (memory) =>
    WebhooksRepo.of({
      insert: (webhook) =>
        memory.write((database) => Effect.sync(() => database.table(webhooks).set(webhook.id, webhook))),
      update: update(memory),
      takeOver: takeOver(memory),
      activate: activate(memory),
      delete: remove(memory),
      list: list(memory),
      find: find(memory),
      lock: find(memory),
      deliveries: deliveries(memory),
      findDelivery: findDelivery(memory),
      insertDelivery: insertDelivery(memory),
      addAttempt: addAttempt(memory),
      endMakers: endMakers(memory),
      erase: erase(memory)
    })
  )
)

type Memory = MemoryStorage["Service"]

const present = (database: MemoryDatabase, row: WebhookRow): FoundWebhook => {
  const {
    createdById,
    createdByKind,
    dueAt: _,
    leaseHolder: __,
    leaseUntil: ___,
    position: ____,
    servedAt: _____,
    slowUntil: ______,
    ...own
  } = row
  const team = row.teamId === null ? undefined : database.table(teams).get(row.teamId)
  return {
    ...own,
    createdBy: resolveActor(database, { kind: createdByKind, id: createdById } as ActorRef),
    team: team === undefined ? null : { id: team.id, key: team.key, name: team.name },
    isBlocked: isBlocked(database, row.workspaceId, row.makerId)
  }
}

const update =
  (memory: Memory) =>
  ({ format, id, kinds, previousSecret, previousUntil, secret, updatedAt, url }: ChangedWebhook) =>
    memory.write((database) =>
      Effect.sync(() => {
        const row = database.table(webhooks).get(id)
        if (row === undefined) return
        const changed = { ...row, url, kinds, format, secret, previousSecret, previousUntil, updatedAt }
        database.table(webhooks).set(id, changed)
      })
    )

const takeOver =
  (memory: Memory): WebhooksRepo["Service"]["takeOver"] =>
  (id, by, slowUntil) =>
    memory.write((database) =>
      Effect.sync(() => {
        const row = database.table(webhooks).get(id)
        if (row !== undefined) database.table(webhooks).set(id, { ...row, ...by, makerEndedAt: null, slowUntil })
      })
    )

const activate = (memory: Memory) => (id: WebhookId) =>
  memory.write((database) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const row = database.table(webhooks).get(id)
      if (row === undefined || row.state !== "parked") return
      const at = timestamp(now)
      database.table(webhooks).set(id, { ...row, state: "active", dueAt: row.deliveryId === null ? null : at })
      const delivery = row.deliveryId === null ? undefined : database.table(webhookDeliveries).get(row.deliveryId)
      if (delivery === undefined) return
      const going = { ...delivery, state: "pending" as const, tries: 0, nextAttemptAt: at }
      database.table(webhookDeliveries).set(delivery.id, going)
    })
  )

const remove = (memory: Memory) => (id: WebhookId) =>
  memory.write((database) =>
    Effect.sync(() => {
      database.table(webhooks).delete(id)
      database.table(webhookDeliveries).deleteWhere(({ webhookId }) => webhookId === id)
    })
  )

const list = (memory: Memory) => (workspaceId: WorkspaceId) =>
  memory.read((database) =>
    database
      .table(webhooks)
      .filter((row) => row.workspaceId === workspaceId)
      .toSorted((a, b) => compare(b.id, a.id))
      .map((row) => present(database, row))
  )

const find = (memory: Memory) => (workspaceId: WorkspaceId, id: WebhookId) =>
  memory.read((database) => {
    const row = database.table(webhooks).get(id)
    return row?.workspaceId === workspaceId ? present(database, row) : undefined
  })

const deliveries = (memory: Memory) => (id: WebhookId, before: string | undefined, limit: number) =>
  memory.read((database) =>
    database
      .table(webhookDeliveries)
      .filter((row) => row.webhookId === id && (before === undefined || row.id < before))
      .toSorted((a, b) => compare(b.id, a.id))
      .slice(0, limit)
  )

const findDelivery = (memory: Memory) => (id: WebhookId, delivery: WebhookDeliveryId) =>
  memory.read((database) => {
    const row = database.table(webhookDeliveries).get(delivery)
    return row?.webhookId === id ? row : undefined
  })

const insertDelivery = (memory: Memory) => (delivery: DeliveryRow) =>
  memory.write((database) =>
    Effect.sync(() => {
      if (database.table(webhooks).get(delivery.webhookId) === undefined) return false
      database.table(webhookDeliveries).set(delivery.id, delivery)
      return true
    })
  )

const addAttempt =
  (memory: Memory): WebhooksRepo["Service"]["addAttempt"] =>
  ({ id, webhookId }, attempt, isDelivered) =>
    memory.write((database) =>
      Effect.sync(() => {
        const [all, rows] = [database.table(webhooks), database.table(webhookDeliveries)]
        const [webhook, row] = [all.get(webhookId), rows.get(id)]
        if (row === undefined) return undefined
        if (isDelivered && webhook?.deliveryId === id) all.set(webhookId, { ...webhook, deliveryId: null, dueAt: null })
        const attempts = [...row.attempts, attempt].slice(-keptAttempts)
        const tried = isDelivered
          ? { ...row, attempts, state: "delivered" as const, nextAttemptAt: null }
          : { ...row, attempts }
        rows.set(id, tried)
        return tried
      })
    )

const endMakers =
  (memory: Memory): WebhooksRepo["Service"]["endMakers"] =>
  (of, at) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(webhooks)
        const ended = rows.filter(
          (row) =>
            row.makerEndedAt === null &&
            ("makers" in of
              ? row.makerId !== null && of.makers.includes(row.makerId)
              : row.workspaceId === of.workspaceId && row.createdByKind === "user" && row.createdById === of.member)
        )
        for (const row of ended) rows.set(row.id, { ...row, makerEndedAt: at })
        return ended.map(({ id, makerId, url, workspaceId }) => ({ id, workspaceId, url, makerId }))
      })
    )

const erase = (memory: Memory) => (before: string, limit: number) =>
  memory.write((database) =>
    Effect.sync(() => {
      const waiting = new Set([...database.table(webhooks).values()].map(({ deliveryId }) => deliveryId))
      const rows = database.table(webhookDeliveries)
      const old = rows.filter(({ createdAt, id }) => createdAt < before && !waiting.has(id)).slice(0, limit)
      for (const { id } of old) rows.delete(id)
      return old.length
    })
  )
