import { NotFound } from "@delivery/domain/Errors"
import type { WebhookId } from "@delivery/domain/Ids"
import { isId } from "@delivery/domain/Text"
import type { Webhook, WebhookDelivery } from "@delivery/domain/webhooks/Webhook"
import { Effect } from "effect"
import type { Access } from "../access/Access.ts"
import type { DeliveryRow, FoundWebhook, WebhooksRepo } from "./WebhooksRepo.ts"

/** The webhook of the workspace; with `lock`, until the transaction ends. */
export const found = (
  { repo }: { readonly repo: WebhooksRepo["Service"] },
  { workspace }: Access,
  id: string,
  how: "find" | "lock" = "find"
) =>
  Effect.gen(function* () {
    const webhook = isId(id) ? yield* repo[how](workspace.id, id as WebhookId) : undefined
    return webhook ?? (yield* NotFound.of("webhook", id))
  })

export const present = ({
  createdAt,
  createdBy,
  format,
  id,
  isBlocked,
  kinds,
  makerEndedAt,
  state,
  team,
  updatedAt,
  url
}: FoundWebhook): Webhook => ({
  id,
  url,
  kinds,
  format,
  team,
  state,
  createdBy,
  makerEndedAt,
  blocked: isBlocked,
  createdAt,
  updatedAt
})

export const presentDelivery = ({
  attempts,
  createdAt,
  eventId,
  id,
  kind,
  nextAttemptAt,
  state
}: DeliveryRow): WebhookDelivery => ({
  id,
  event: eventId === null ? null : { id: eventId, kind },
  state,
  attempts,
  nextAttemptAt,
  createdAt
})
