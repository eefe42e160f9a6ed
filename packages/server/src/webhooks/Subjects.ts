import type { TeamId, WebhookId } from "@delivery/domain/Ids"
import type { NewEvent } from "../events/Events.ts"

/** A webhook as events and the audit name it: by the host alone, for the rest of a URL may be a secret. */
export const webhookSubject = ({ id, url }: { readonly id: WebhookId; readonly url: string }): NewEvent["subject"] => ({
  type: "webhook",
  id,
  label: new URL(url).host,
  path: `webhooks/${id}`
})

/** An event about a webhook is seen by who sees its team. */
export const aboutWebhook = (webhook: {
  readonly id: WebhookId
  readonly url: string
  readonly teamId: TeamId | null
}): Omit<NewEvent, "kind"> => ({
  subject: webhookSubject(webhook),
  ...(webhook.teamId === null ? {} : { teams: [webhook.teamId] })
})
