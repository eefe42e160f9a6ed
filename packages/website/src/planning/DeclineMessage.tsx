import type { AgentMessage } from "@delivery/domain/agents/Message"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { useMe } from "../api/session.ts"
import { Sure } from "../api/Sure.tsx"
import { useAction } from "../api/useAction.ts"

interface Props {
  readonly slug: string
  readonly message: AgentMessage
  readonly onDone?: () => void
}

/** Whoever an agent belongs to keeps from it what it has not replied to yet. */
export const DeclineMessage = ({ message, onDone, slug }: Props) => {
  const { agent, id, sender, status } = message
  const me = useMe()?.id
  const isMine = sender.id === me
  const decline = useAction({
    act: () => client.messages.decline({ params: { slug, message: id }, payload: {} }),
    changes: [workspaceKey(slug, "trace"), workspaceKey(slug, "notifications")],
    ...(onDone === undefined ? {} : { onDone })
  })
  if ((status !== "queued" && status !== "delivered") || agent.person.id !== me) return null
  return (
    <Sure
      doing={decline}
      subject={`the message to ${agent.name}`}
      title={isMine ? "Withdraw the message?" : "Decline the message?"}
      verb={isMine ? "Withdraw" : "Decline"}
    >
      <p>
        The agent does not get it, or need not reply to it.
        {!isMine && " Whoever sent it is told."}
      </p>
    </Sure>
  )
}
