import type { WebhookAttempt, WebhookDelivery } from "@delivery/domain/webhooks/Webhook"
import { Context, type Effect } from "effect"
import type { DeliveryRow, WebhookRow } from "./WebhooksRepo.ts"

/** Milliseconds for which a lease of a webhook holds, by the clock of the database. Each stored try begins it anew. */
export const leaseMillis = 30_000

/** Milliseconds from which on an answer is slow. */
export const slowAnswerMillis = 1_000

/** Milliseconds for which a webhook counts as slow: after a slow answer, and while its receiver is new. */
export const slowMillis = 600_000

/** A webhook whose events this process alone may send, until the lease ends. */
export interface HeldWebhook extends Omit<
  WebhookRow,
  "leaseHolder" | "leaseUntil" | "servedAt" | "dueAt" | "slowUntil"
> {
  readonly holder: string
  /** The slug of its workspace. */
  readonly slug: string
  readonly isSlow: boolean
}

/** What became of the delivery of an event, to be stored. */
export interface Tried {
  readonly delivery: Omit<DeliveryRow, "state" | "attempts" | "nextAttemptAt">
  /** Added to those that the delivery has. */
  readonly attempt: WebhookAttempt
  readonly state: WebhookDelivery["state"]
  /** Milliseconds until the next try, where it is pending. */
  readonly waitMillis: number
  /** Whether the answer was slow. The webhook counts as slow for a while then. */
  readonly isSlow: boolean
}

/**
 * Gives the webhooks that have something to be sent to servers, each to one at a time. What the holder of a lease stores
 * answers undefined, and changes nothing, once it is no longer the holder: the lease is over, or the webhook was deleted.
 */
export class WebhookQueue extends Context.Service<
  WebhookQueue,
  {
    /** Whether there may be something to claim at all. */
    readonly isInUse: Effect.Effect<boolean>
    /**
     * Takes webhooks that nobody holds and whose delivery is due, or that have events up to a position: at most `limit`, of
     * them at most `slowLimit` that are slow. Those whose last try failed come last, since they may hold up whoever serves
     * them; of the others, those first that wait longest. Without `hasNews` it does not look for events.
     */
    readonly claim: (options: {
      readonly holder: string
      readonly limit: number
      readonly slowLimit: number
      readonly upTo: number
      readonly hasNews: boolean
    }) => Effect.Effect<ReadonlyArray<HeldWebhook>>
    /** The delivery that the webhook waits for. */
    readonly pending: (held: HeldWebhook) => Effect.Effect<DeliveryRow | undefined>
    /** Nothing up to the position is for the webhook, or nothing that is left; what it waited for may no longer be sent. */
    readonly pass: (held: HeldWebhook, position: number) => Effect.Effect<HeldWebhook | undefined>
    /** Stores a try. The webhook is then at the event's position; it waits for it unless that was delivered. */
    readonly store: (held: HeldWebhook, tried: Tried) => Effect.Effect<HeldWebhook | undefined>
    readonly release: (held: HeldWebhook) => Effect.Effect<void>
    /** Seconds for which the oldest event has waited that an active webhook is yet to be sent. */
    readonly lag: Effect.Effect<number>
  }
>()("@delivery/server/webhooks/WebhookQueue") {}
