import type { Actor } from "@delivery/domain/identity/Actor"
import type { EventId, PersonId, TeamId, WebhookDeliveryId, WebhookId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import type { Webhook, WebhookAttempt, WebhookDelivery, WebhookFormat } from "@delivery/domain/webhooks/Webhook"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { bytes, instant, integer, json, long, nullable, type Row, table, text, uuid } from "../storage/Table.ts"

/** Addresses that are sent what happens in a workspace. */
export const webhooks = table("webhooks", {
  id: uuid<WebhookId>(),
  workspaceId: uuid<WorkspaceId>(),
  url: text(),
  /** Null: all. */
  kinds: nullable(json<ReadonlyArray<string>>()),
  format: text<WebhookFormat>(),
  /** The team whose events alone are sent; null for what everybody in the workspace sees. */
  teamId: nullable(uuid<TeamId>()),
  state: text<Webhook["state"]>(),
  /** Sealed under the workspace's data key. */
  secret: bytes(),
  /** The one before it, which signs too until a time. */
  previousSecret: nullable(bytes()),
  previousUntil: nullable(instant()),
  createdByKind: text<ActorRef["kind"]>(),
  createdById: uuid<ActorRef["id"]>(),
  /** The credential that it was made with; null for what is none that may end, such as an agent's. */
  makerId: nullable(uuid()),
  makerEndedAt: nullable(instant()),
  /** Of the last event that was taken on: it was delivered, was not for the webhook, or is `deliveryId`. */
  position: long(),
  /** The delivery that the others wait for; null where there is none. */
  deliveryId: nullable(uuid<WebhookDeliveryId>()),
  /** When that one is tried next, by the clock of the database. */
  dueAt: nullable(instant()),
  /** Who sends its events at present, and until when: by the clock of the database. */
  leaseHolder: nullable(uuid()),
  leaseUntil: nullable(instant()),
  /** When somebody last began to. Who waits longest is next. */
  servedAt: nullable(instant()),
  /** Until when it counts as slow, by the clock of the database. Null: it does not. */
  slowUntil: nullable(instant()),
  createdAt: instant(),
  updatedAt: instant()
})

export type WebhookRow = Row<typeof webhooks>

/** What webhooks were sent. */
export const webhookDeliveries = table("webhook_deliveries", {
  id: uuid<WebhookDeliveryId>(),
  workspaceId: uuid<WorkspaceId>(),
  webhookId: uuid<WebhookId>(),
  /** Null for a test. */
  eventId: nullable(uuid<EventId>()),
  kind: text(),
  /** The event's place; null for a test. */
  position: nullable(long()),
  state: text<WebhookDelivery["state"]>(),
  /** How often the server has tried it by itself since it was last taken on. */
  tries: integer(),
  /** The newest, oldest first. */
  attempts: json<ReadonlyArray<WebhookAttempt>>(),
  nextAttemptAt: nullable(instant()),
  createdAt: instant()
})

export type DeliveryRow = Row<typeof webhookDeliveries>

/** How many attempts of a delivery are kept. */
export const keptAttempts = 30

/** What everybody must know of a webhook who shows it or sends its events. */
export const foundColumns = [
  "id",
  "workspaceId",
  "url",
  "kinds",
  "format",
  "teamId",
  "state",
  "secret",
  "previousSecret",
  "previousUntil",
  "makerId",
  "makerEndedAt",
  "deliveryId",
  "createdAt",
  "updatedAt"
] as const satisfies ReadonlyArray<keyof WebhookRow>

/** What people may see and change of a webhook. */
export interface FoundWebhook extends Pick<WebhookRow, (typeof foundColumns)[number]> {
  readonly createdBy: Actor
  readonly team: Webhook["team"]
  /** Whether the workspace has blocked the credential that it was made with. */
  readonly isBlocked: boolean
}

/** What a change of a webhook stores. */
export type ChangedWebhook = Pick<
  WebhookRow,
  "id" | "url" | "kinds" | "format" | "secret" | "previousSecret" | "previousUntil" | "updatedAt"
>

/** Who made a webhook, and with which credential. */
export type WebhookMaker = Pick<WebhookRow, "createdByKind" | "createdById" | "makerId">

/** A webhook whose maker ends, as the audit names it. */
export type MadeWebhook = Pick<WebhookRow, "id" | "workspaceId" | "url" | "makerId">

/** Stores webhooks, and what they were sent. */
export class WebhooksRepo extends Context.Service<
  WebhooksRepo,
  {
    readonly insert: (webhook: WebhookRow) => Effect.Effect<void>
    readonly update: (webhook: ChangedWebhook) => Effect.Effect<void>
    /** Whose it is from now on: of whoever has its events sent elsewhere. */
    readonly takeOver: (id: WebhookId, by: WebhookMaker, slowUntil: Timestamp) => Effect.Effect<void>
    /** Has a parked webhook go on, with its delivery at once. */
    readonly activate: (id: WebhookId) => Effect.Effect<void>
    /** With its deliveries. */
    readonly delete: (id: WebhookId) => Effect.Effect<void>
    /** Newest first. */
    readonly list: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<FoundWebhook>>
    readonly find: (workspaceId: WorkspaceId, id: WebhookId) => Effect.Effect<FoundWebhook | undefined>
    /** Locks the row until the transaction ends. */
    readonly lock: (workspaceId: WorkspaceId, id: WebhookId) => Effect.Effect<FoundWebhook | undefined>
    /** Newest first; `before` is exclusive. */
    readonly deliveries: (
      id: WebhookId,
      before: string | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<DeliveryRow>>
    readonly findDelivery: (id: WebhookId, delivery: WebhookDeliveryId) => Effect.Effect<DeliveryRow | undefined>
    /** Stores a delivery that somebody asked for; false where the webhook is gone. */
    readonly insertDelivery: (delivery: DeliveryRow) => Effect.Effect<boolean>
    /**
     * Adds an attempt that somebody asked for. One that delivers what the webhook waits for lets it go on. The delivery as
     * it is then; undefined where it is gone.
     */
    readonly addAttempt: (
      delivery: DeliveryRow,
      attempt: WebhookAttempt,
      isDelivered: boolean
    ) => Effect.Effect<DeliveryRow | undefined>
    /** Marks the webhooks made with one of the credentials, or in the workspace by a member, whose maker had not ended. */
    readonly endMakers: (
      of: { readonly makers: ReadonlyArray<string> } | { readonly workspaceId: WorkspaceId; readonly member: PersonId },
      at: Timestamp
    ) => Effect.Effect<ReadonlyArray<MadeWebhook>>
    /** Erases some deliveries of before an instant that nothing waits for; how many. */
    readonly erase: (before: Timestamp, limit: number) => Effect.Effect<number>
  }
>()("@delivery/server/webhooks/WebhooksRepo") {}
