import type { Webhook } from "@delivery/domain/webhooks/Webhook"
import { Badge } from "../ui/Badge.tsx"

/** Whether a webhook is sent what happens. */
export const WebhookState = ({ webhook }: { readonly webhook: Webhook }) => (
  <>
    {webhook.blocked ? (
      <Badge title="The credential that it was made with is blocked: it is sent nothing" tone="danger">
        blocked
      </Badge>
    ) : webhook.state === "parked" ? (
      <Badge title="It gave up on a delivery, and is sent nothing" tone="danger">
        parked
      </Badge>
    ) : (
      <Badge tone="success">active</Badge>
    )}
    {webhook.makerEndedAt !== null && (
      <Badge title="Who made it has no access any more, or their key has ended. It goes on." tone="warning">
        maker ended
      </Badge>
    )}
  </>
)
