import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { Audit } from "../audit/Audit.ts"
import { BlocksRepo } from "../identity/BlocksRepo.ts"
import { MadeWebhooks } from "../identity/MadeWebhooks.ts"
import { webhookSubject } from "./Subjects.ts"
import { WebhooksRepo } from "./WebhooksRepo.ts"

/**
 * Identity's `MadeWebhooks`: a webhook goes on when what made it has ended, and says so. One that a reported key made is blocked
 * for good.
 */
export const layer = Layer.effect(
  MadeWebhooks,
  Effect.gen(function* () {
    const repo = yield* WebhooksRepo
    const blocks = yield* BlocksRepo
    const audit = yield* Audit
    return MadeWebhooks.of({
      makersEnded: Effect.fnUntraced(function* (of, by) {
        const now = timestamp(yield* Clock.currentTimeMillis)
        for (const webhook of yield* repo.endMakers(of, now)) {
          const { makerId, workspaceId } = webhook
          const workspace = { id: workspaceId }
          if ("makers" in of && of.isReported === true && makerId !== null) {
            yield* blocks.block(workspaceId, makerId, [makerId], now)
          }
          const subject = webhookSubject(webhook)
          yield* audit.record({ workspace, actor: by }, { action: "webhook_maker_ended", subject })
        }
      })
    })
  })
)
