import type { AgentMessage } from "@delivery/domain/agents/Message"
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
import { replyId } from "./anchors.ts"
import { SaidItem } from "./SaidItem.tsx"

const Markdown = later(() => import("./TicketMarkdown.tsx"))

const Text = ({ text }: { readonly text: string }) => (
  <div className="pt-1">
    <Markdown text={text} />
  </div>
)

/** What an agent was asked. */
export const TicketMessage = ({ message, slug }: { readonly slug: string; readonly message: AgentMessage }) => {
  const { agent, ask, computer, note, sender, status } = message
  const me = useMe()?.id
  const isOpen = status === "queued" || status === "delivered"
  const isMine = sender.id === me
  const decline = useAction({
    act: () => client.messages.decline({ params: { slug, message: message.id }, payload: {} }),
    changes: [workspaceKey(slug, "trace"), workspaceKey(slug, "notifications")]
  })
  return (
    <SaidItem id={message.id} isSunken label={`Message to ${visible(agent.name)}`}>
      <div className="quiet-end flex min-h-7 flex-wrap items-center gap-x-2 gap-y-1">
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
        {isOpen && agent.person.id === me && (
          <Sure
            doing={decline}
            subject={`the message to ${visible(agent.name)}`}
            title={isMine ? "Withdraw the message?" : "Decline the message?"}
            verb={isMine ? "Withdraw" : "Decline"}
          >
            <p>
              The agent does not get it, or need not reply to it.
              {!isMine && " Whoever sent it is told."}
            </p>
          </Sure>
        )}
      </div>
      {ask !== "mention" && note !== null && <Text text={note} />}
    </SaidItem>
  )
}

interface ReplyProps {
  readonly message: AgentMessage
  /** Writes to the agent again. */
  readonly onAnswer?: (() => void) | undefined
}

/** What an agent said to what it was asked. */
export const TicketReply = ({
  message: { agent, completedAt, declinedAt, id, reply, status },
  onAnswer
}: ReplyProps) => {
  const name = visible(agent.name)
  return (
    <SaidItem id={replyId(id)} isSunken label={`Reply of ${name}`}>
      <div className="quiet-end flex min-h-7 flex-wrap items-center gap-x-2 gap-y-1">
        <span className="foreign">
          <span className="font-medium">{name}</span> {status === "declined" ? "declined" : "replied"}
        </span>
        <span className="text-muted flex-1 text-xs">
          <Time at={completedAt ?? declinedAt ?? ""} />
        </span>
        {onAnswer !== undefined && (
          <Button aria-label={`Answer ${name}`} look="quiet" onClick={onAnswer}>
            Answer
          </Button>
        )}
      </div>
      {reply !== null && <Text text={reply} />}
    </SaidItem>
  )
}
