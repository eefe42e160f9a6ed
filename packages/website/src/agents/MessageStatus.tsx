import type { AgentMessage } from "@delivery/domain/agents/Message"
import { Badge, type Tone } from "../ui/Badge.tsx"

const tones: Readonly<Record<AgentMessage["status"], Tone>> = {
  queued: "plain",
  delivered: "info",
  completed: "success",
  declined: "warning"
}

export const MessageStatus = ({ status }: Pick<AgentMessage, "status">) => <Badge tone={tones[status]}>{status}</Badge>
