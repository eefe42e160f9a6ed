import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, InvalidInput, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { NoStore } from "../NoStore.ts"
import { isId, undocumented } from "../Text.ts"
import {
  CreateWebhook,
  maxWebhooks,
  RotateWebhook,
  UpdateWebhook,
  Webhook,
  WebhookDeliveriesPage,
  WebhookDelivery,
  WebhookWithSecret
} from "./Webhook.ts"

const WebhookRef = PathRef.annotate({
  description: "The webhook's id.",
  examples: ["0197a1b2-0000-7000-8000-000000000c01"]
})
const DeliveryRef = PathRef.annotate({
  description: "The delivery's id.",
  examples: ["0197a1b2-0000-7000-8000-000000000c11"]
})

const Cursor = Schema.String.check(
  Schema.makeFilter<string>((text) => isId(text) || "Expected the nextCursor of a page", { toJsonSchema: undocumented })
).annotate({
  description: "The `nextCursor` of the previous page. The page has deliveries that are older.",
  examples: ["0197a1b2-0000-7000-8000-000000000c11"]
})

const path = `${workspacePath}/webhooks` as const
const params = { slug: WorkspaceRef, webhook: WebhookRef }
const makerBlocked = "The credential that the webhook was made with is blocked."
const sendUnderWay = "The webhook is being sent a test or a delivery that somebody asked for."
const admins = "Requires the role `admin` or `owner`."

/** Webhooks of a workspace (docs/contract.md, Webhooks). Admins and owners. */
export class WebhooksApi extends HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      success: Schema.Struct({ webhooks: Schema.Array(Webhook) }).annotate({
        identifier: "Webhooks",
        description: "Webhooks, newest first."
      }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "List webhooks",
        `Lists the webhooks of the workspace, newest first, without their secrets. ${admins}`
      )
    ),
    HttpApiEndpoint.post("create", path, {
      params: { slug: WorkspaceRef },
      payload: CreateWebhook,
      success: WebhookWithSecret.pipe(HttpApiSchema.status(201)),
      error: [InvalidInput, Forbidden, NotFound, Conflict]
    })
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "admin",
          "Create a webhook",
          `Has the events that happen from now on sent to an address, by POST, as [Standard Webhooks](https://www.standardwebhooks.com) says: with the headers \`webhook-id\` (the id of the event), \`webhook-timestamp\` and \`webhook-signature\`. The secret that signs is shown once, in this response.

Each event is sent at least once, and the events of a webhook in their order: the next one waits until an answer with a status of 2xx came. Redirects are not followed. An answer must come within 10 seconds. A try that fails is repeated: 8 tries in 24 hours, then the webhook is parked.

The address must be https, and every address of its host on the public internet. The events of a private team are sent only to webhooks that were made for that team; a webhook with \`team\` is sent the events of that team alone. A webhook is not sent events about itself. If the key or the membership ends that it was made with, it goes on; while a credential that made it is blocked, or once it was reported, it is sent nothing. A key needs the scope \`read\`, too, and may not expire (403 \`key_expires\`). ${admins}`,
          { conflicts: { too_many_webhooks: `The workspace has ${maxWebhooks} webhooks, which is the limit.` } }
        )
      ),
    HttpApiEndpoint.get("get", `${path}/:webhook`, {
      params,
      success: Webhook,
      error: [Forbidden, NotFound]
    }).annotateMerge(doc("admin", "Get a webhook", `Gets a webhook, without its secret. ${admins}`)),
    HttpApiEndpoint.patch("update", `${path}/:webhook`, {
      params,
      payload: UpdateWebhook,
      success: Webhook,
      error: [InvalidInput, Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "Update a webhook",
        `Changes the fields that are sent. What waits is sent as the webhook is then. Who changes \`url\` needs what creating a webhook needs (a session: a fresh proof; a key: the scope \`read\`, too), and the webhook is theirs from then on: \`createdBy\` names them, and it is blocked with their credential. \`state: "active"\` has a parked webhook go on with the delivery that it gave up; one that is active stays so. ${admins}`
      )
    ),
    HttpApiEndpoint.delete("delete", `${path}/:webhook`, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc("admin", "Delete a webhook", `Deletes a webhook with its deliveries. Nothing more is sent. ${admins}`)
    )
  )
  .add(
    HttpApiEndpoint.post("rotate", `${path}/:webhook/rotate`, {
      params,
      payload: [RotateWebhook, Schema.Null],
      success: WebhookWithSecret,
      error: [Forbidden, NotFound]
    })
      .middleware(NoStore)
      .annotateMerge(
        doc(
          "admin",
          "Rotate the secret of a webhook",
          `Makes a new secret, which is shown once, in this response. Until the overlap is over, both secrets sign what is sent, the newest first; an older one than these two ends at once. The body may be left out. An API key needs the scope \`read\` beside \`admin\`, and one that expires is refused (403 \`key_expires\`). ${admins}`,
          { isBodyOptional: true }
        )
      ),
    HttpApiEndpoint.post("test", `${path}/:webhook/test`, {
      params,
      success: WebhookDelivery,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Test a webhook",
        `Sends an event of the kind \`webhook_test\` at once, to a parked webhook too, and answers when it was tried. It is tried once, and is no event of the workspace. ${admins}`,
        { conflicts: { maker_blocked: makerBlocked, send_under_way: sendUnderWay } }
      )
    ),
    HttpApiEndpoint.get("deliveries", `${path}/:webhook/deliveries`, {
      params,
      query: { cursor: Schema.optionalKey(Cursor) },
      success: WebhookDeliveriesPage,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "admin",
        "List the deliveries of a webhook",
        `Lists what was sent or tried, newest first, 100 a page. Deliveries are kept for 30 days. ${admins}`
      )
    ),
    HttpApiEndpoint.post("redeliver", `${path}/:webhook/deliveries/:delivery/redeliver`, {
      params: { ...params, delivery: DeliveryRef },
      success: WebhookDelivery,
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "admin",
        "Send a delivery again",
        `Tries a delivery once, at once, whatever became of it, and answers when it was tried. If that delivers what the webhook was waiting for, the next event is sent. A try that fails does not count among the 8. ${admins}`,
        {
          conflicts: {
            event_not_visible: "The webhook may not be sent this event any more.",
            maker_blocked: makerBlocked,
            send_under_way: sendUnderWay
          }
        }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Webhooks",
      description: "Addresses that are sent what happens in the workspace, signed."
    })
  ) {}
