import { Layer } from "effect"
import * as Dispatch from "./Dispatcher.ts"
import * as EndedMakers from "./EndedMakers.ts"
import * as SealedWebhookSecrets from "./SealedWebhookSecrets.ts"
import { Selection } from "./Selection.ts"
import { Tries } from "./Tries.ts"
import * as WebhookErasure from "./WebhookErasure.ts"
import * as WebhookGauges from "./WebhookGauges.ts"
import * as WebhookQueueMemory from "./WebhookQueueMemory.ts"
import * as WebhookQueueSql from "./WebhookQueueSql.ts"
import { Webhooks } from "./Webhooks.ts"
import * as WebhooksHttp from "./WebhooksHttp.ts"
import * as WebhooksMemory from "./WebhooksMemory.ts"
import { webhookDeliveries, webhooks } from "./WebhooksRepo.ts"
import * as WebhooksSql from "./WebhooksSql.ts"

/** Addresses that are sent what happens in a workspace, and the sending. */

export const tables = [webhooks, webhookDeliveries]

export const layerSql = Layer.mergeAll(WebhooksSql.layer, WebhookQueueSql.layer)

export const layerMemory = Layer.mergeAll(WebhooksMemory.layer, WebhookQueueMemory.layer)

/** The vault's `SealedSecrets`, for commands of the host. */
export const layerHost = SealedWebhookSecrets.layer

/** Identity's `MadeWebhooks`. */
export const layerPorts = EndedMakers.layer

export const layer = Webhooks.layer.pipe(
  Layer.provideMerge(Dispatch.Dispatcher.layer),
  Layer.provideMerge([Selection.layer, Tries.layer])
)

/** What a server does by itself, over the services. */
export const layerBackground = Layer.mergeAll(Dispatch.layerBackground, WebhookErasure.layer, WebhookGauges.layer)

export const layerHttp = WebhooksHttp.layer
