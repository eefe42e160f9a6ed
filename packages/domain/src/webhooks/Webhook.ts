import { Schema } from "effect"
import { Body } from "../Body.ts"
import { Actor } from "../identity/Actor.ts"
import { EventId, PersonId, TeamId, WebhookDeliveryId, WebhookId } from "../Ids.ts"
import { TeamKey } from "../planning/Team.ts"
import { HttpUrl, OneOf, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

/** How many webhooks a workspace can have. */
export const maxWebhooks = 20

/** How many deliveries a page has. */
export const deliveriesPageSize = 100

/** How long a replaced secret signs unless the request says otherwise, and at most, in seconds. */
export const overlapSeconds = { default: 86_400, max: 604_800 } as const

/** The kind of an event that was only sent to try a webhook out. */
export const testKind = "webhook_test"

export const WebhookFormat = OneOf(["standard", "slack"]).annotate({
  identifier: "WebhookFormat",
  description:
    "What is sent. `standard`: `{type, timestamp, data}`, where `data` is the event. `slack`: `{text}`, as incoming webhooks of Slack take it.",
  examples: ["standard"]
})
export type WebhookFormat = typeof WebhookFormat.Type

const WebhookState = OneOf(["active", "parked"]).annotate({
  description:
    "`parked`: it gave up on a delivery, and sends nothing until somebody sets it to `active`. It then goes on with that delivery."
})

const kindPattern = /^[a-z_]{1,60}$/

const Kinds = Schema.Array(
  Schema.String.check(
    Schema.isPattern(kindPattern, { message: "Expected a kind of events", toJsonSchema: undocumented })
  )
).check(
  Schema.isMinLength(1, { message: "Expected at least one kind" }),
  Schema.isMaxLength(100, { message: "Expected at most 100 kinds" })
)

const kinds = Schema.NullOr(Kinds).annotate({
  description: "The kinds of events that are sent; null for all. Kinds that do not exist match nothing."
})

const TeamPart = Schema.Struct({ id: TeamId, key: Schema.String, name: Schema.String })

const example = {
  id: WebhookId.make("0197a1b2-0000-7000-8000-000000000c01"),
  url: "https://hooks.example.com/delivery",
  kinds: ["deployment_updated", "run_finished"],
  format: "standard" as const,
  team: null,
  state: "active" as const,
  createdBy: {
    kind: "user" as const,
    id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
    name: "Ana Diaz",
    email: "ana@example.com"
  },
  makerEndedAt: null,
  blocked: false,
  createdAt: "2026-11-21T09:30:00.000Z",
  updatedAt: "2026-11-21T09:30:00.000Z"
}

/** An address that is sent what happens in a workspace (docs/contract.md, Webhooks). */
export const Webhook = Schema.Struct({
  id: WebhookId,
  url: Schema.String.annotate({ description: "Where events are sent." }),
  kinds,
  format: WebhookFormat,
  team: Schema.NullOr(TeamPart).annotate({
    description: "The team whose events alone are sent; null for those of the workspace that everybody in it sees."
  }),
  state: WebhookState,
  createdBy: Actor,
  makerEndedAt: Schema.NullOr(Timestamp).annotate({
    description:
      "When the key or the membership that it was made with ended, or its maker was no admin any more; null if none of this happened, or it is not known. The webhook goes on."
  }),
  blocked: Schema.Boolean.annotate({
    description:
      "Whether the credential that it was made with is blocked in the workspace, also one that ended meanwhile. It is then sent nothing."
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({
  identifier: "Webhook",
  description: "An address that is sent what happens in a workspace.",
  examples: [example]
})
export type Webhook = typeof Webhook.Type

/** A webhook with its secret, which is never shown again. */
export const WebhookWithSecret = Schema.Struct({
  ...Webhook.fields,
  secret: Schema.String.annotate({
    description: "Signs what is sent, as Standard Webhooks says. Shown once: `whsec_` and 33 bytes in base64."
  })
}).annotate({
  identifier: "WebhookWithSecret",
  description: "A webhook with its secret, which is never shown again.",
  examples: [{ ...example, secret: "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWZn" }]
})
export type WebhookWithSecret = typeof WebhookWithSecret.Type

/** One request to the address of a webhook. */
export const WebhookAttempt = Schema.Struct({
  at: Timestamp,
  status: Schema.NullOr(Schema.Int).annotate({ description: "The status of the answer; null if there was none." }),
  error: Schema.NullOr(Schema.String).annotate({
    description:
      "Why there was no answer, as a stable word: `private_address`, `not_https`, `unknown_host`, `connection_failed`, `invalid_answer` or `timeout`. Null if there was one."
  }),
  durationMs: Schema.Int.annotate({
    description: "Milliseconds until the head of the answer came, or the request failed."
  })
}).annotate({
  identifier: "WebhookAttempt",
  description: "One request to the address of a webhook.",
  examples: [{ at: "2026-11-21T09:30:01.000Z", status: 204, error: null, durationMs: 87 }]
})
export type WebhookAttempt = typeof WebhookAttempt.Type

/** An event on its way to a webhook, or that was. */
export const WebhookDelivery = Schema.Struct({
  id: WebhookDeliveryId,
  event: Schema.NullOr(Schema.Struct({ id: EventId, kind: Schema.String })).annotate({
    description: "What is sent; null for a test."
  }),
  state: OneOf(["pending", "delivered", "parked"]).annotate({
    description:
      "`pending`: it is tried again at `nextAttemptAt`. `parked`: it was given up; so was a test that failed."
  }),
  attempts: Schema.Array(WebhookAttempt).annotate({
    description: "What was tried, oldest first; the newest 30 are kept."
  }),
  nextAttemptAt: Schema.NullOr(Timestamp).annotate({ description: "When it is tried next; null if it is not." }),
  createdAt: Timestamp.annotate({ description: "When it was tried first." })
}).annotate({
  identifier: "WebhookDelivery",
  description: "An event on its way to a webhook, or that was. It is listed from the end of its first try.",
  examples: [
    {
      id: WebhookDeliveryId.make("0197a1b2-0000-7000-8000-000000000c11"),
      event: { id: EventId.make("0197a1b2-0000-7000-8000-0000000000a1"), kind: "deployment_updated" },
      state: "pending",
      attempts: [{ at: "2026-11-21T09:30:01.000Z", status: 503, error: null, durationMs: 87 }],
      nextAttemptAt: "2026-11-21T09:30:06.000Z",
      createdAt: "2026-11-21T09:30:01.000Z"
    }
  ]
})
export type WebhookDelivery = typeof WebhookDelivery.Type

export const WebhookDeliveriesPage = Schema.Struct({
  deliveries: Schema.Array(WebhookDelivery).annotate({ description: "The deliveries, newest first." }),
  nextCursor: Schema.NullOr(WebhookDeliveryId).annotate({
    description: "Send it as `cursor` to get the next page. Null on the last page."
  })
}).annotate({ identifier: "WebhookDeliveries", description: "A page of the deliveries of a webhook, newest first." })
export type WebhookDeliveriesPage = typeof WebhookDeliveriesPage.Type

export const CreateWebhook = Body({
  url: HttpUrl.annotate({ description: "Where events are sent: an https URL of the public internet." }),
  kinds: Schema.optionalKey(kinds),
  format: Schema.optionalKey(WebhookFormat),
  team: Schema.optionalKey(
    Schema.NullOr(TeamKey).annotate({
      description: "The key of the team whose events alone are sent. Events of a private team are sent no other way."
    })
  )
}).annotate({
  identifier: "CreateWebhook",
  description: "A new webhook.",
  examples: [
    { url: example.url, kinds: example.kinds },
    { url: "https://hooks.slack.com/services/T0/B0/x", format: "slack" }
  ]
})
export type CreateWebhook = typeof CreateWebhook.Type

export const UpdateWebhook = Body({
  url: Schema.optionalKey(HttpUrl.annotate({ description: "Where events are sent from now on." })),
  kinds: Schema.optionalKey(kinds),
  format: Schema.optionalKey(WebhookFormat),
  state: Schema.optionalKey(
    Schema.Literal("active").annotate({
      message: "Expected active",
      description: "Has a parked webhook go on, with the delivery that it gave up."
    })
  )
}).annotate({
  identifier: "UpdateWebhook",
  description: "The fields of a webhook to be changed.",
  examples: [{ state: "active" }]
})
export type UpdateWebhook = typeof UpdateWebhook.Type

const overlapMessage = `Expected a whole number of seconds from 0 to ${overlapSeconds.max}`

export const RotateWebhook = Body({
  overlapSeconds: Schema.optionalKey(
    Schema.Int.check(
      Schema.isGreaterThanOrEqualTo(0, { message: overlapMessage }),
      Schema.isLessThanOrEqualTo(overlapSeconds.max, { message: overlapMessage })
    ).annotate({
      description: `For how many seconds the replaced secret signs too: 0 to ${overlapSeconds.max}, by default ${overlapSeconds.default}.`
    })
  )
}).annotate({
  identifier: "RotateWebhook",
  description: "How long the replaced secret of a webhook signs beside the new one.",
  examples: [{ overlapSeconds: 3_600 }]
})
export type RotateWebhook = typeof RotateWebhook.Type
