import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { Audit } from "../audit/Audit.ts"
import { MadeWebhooks } from "../identity/MadeWebhooks.ts"
import { webhookSubject } from "./Subjects.ts"
import { WebhooksRepo } from "./WebhooksRepo.ts"

/** Identity's `MadeWebhooks`: a webhook goes on when what made it has ended, and says so. */
export const layer = Layer.effect(
  MadeWebhooks,
  Effect.gen(function* () {
    const repo = yield* WebhooksRepo
    const audit = yield* Audit
    return MadeWebhooks.of({
      makersEnded: Effect.fnUntraced(function* (of, by) {
        for (const webhook of yield* repo.endMakers(of, timestamp(yield* Clock.currentTimeMillis))) {
          const workspace = { id: webhook.workspaceId }
          const subject = webhookSubject(webhook)
          yield* audit.record({ workspace, actor: by }, { action: "webhook_maker_ended", subject })
        }
      })
    })
  })
)
