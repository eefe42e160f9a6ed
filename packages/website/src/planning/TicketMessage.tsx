import type { AgentMessage } from "@delivery/domain/agents/Message"
import { Suspense } from "react"
import { asks } from "../agents/inbox.ts"
import { MessageStatus } from "../agents/MessageStatus.tsx"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { Sure } from "../api/Sure.tsx"
import { useMe } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { Button } from "../ui/Button.tsx"
import { visible } from "../ui/format.ts"
import { later } from "../ui/later.tsx"
import { Time } from "../ui/Time.tsx"

const Markdown = later(() => import("../ui/Markdown.tsx"))

const Text = ({ text }: { readonly text: string }) => (
  <div className="pt-1">
    <Suspense fallback={null}>
      <Markdown text={text} />
    </Suspense>
  </div>
)

interface Props {
  readonly slug: string
  readonly message: AgentMessage
  /** Writes to the agent again. */
  readonly onAnswer?: (() => void) | undefined
}

/** What an agent was asked, and what it said. */
export const TicketMessage = ({ message, onAnswer, slug }: Props) => {
  const { agent, ask, computer, note, reply, sender, status } = message
  const me = useMe()?.id
  const isOpen = status === "queued" || status === "delivered"
  const decline = useAction({
    act: () => client.messages.decline({ params: { slug, message: message.id }, payload: {} }),
    changes: [workspaceKey(slug, "trace"), workspaceKey(slug, "notifications")]
  })
  return (
    <li aria-label={`Message to ${visible(agent.name)}`} className="border-border bg-sunken border-b px-4 py-3">
      <div className="flex min-h-7 flex-wrap items-center gap-x-2 gap-y-1">
        <span className="foreign">
          <span className="font-medium">{visible(sender.name)}</span> asked{" "}
          <span className="font-medium">{visible(agent.name)}</span>
          {agent.person.id !== sender.id && ` of ${visible(agent.person.name)}`} to {asks[ask]}
          {computer !== null && <span className="text-muted"> on {visible(computer.name)}</span>}
        </span>
        <MessageStatus status={status} />
        <span className="text-muted flex-1 text-xs">
          <Time at={message.createdAt} />
        </span>
        {!isOpen && onAnswer !== undefined && (
          <Button aria-label={`Answer ${visible(agent.name)}`} look="quiet" onClick={onAnswer}>
            Answer
          </Button>
        )}
        {isOpen && agent.person.id === me && (
          <Sure
            doing={decline}
            subject={`the message to ${visible(agent.name)}`}
            title="Decline the message?"
            verb="Decline"
          >
            <p>The agent does not get it, or need not reply to it. Whoever sent it is told.</p>
          </Sure>
        )}
      </div>
      {ask !== "mention" && note !== null && <Text text={note} />}
      {reply !== null && (
        <div className="border-strong mt-2 border-l-2 pl-3">
          <p className="text-muted text-xs">{status === "declined" ? "Declined" : `${visible(agent.name)} replied`}</p>
          <Text text={reply} />
        </div>
      )}
    </li>
  )
}
