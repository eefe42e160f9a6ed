import type { AgentMessage } from "@delivery/domain/agents/Message"
import { asks } from "../agents/inbox.ts"
import { MessageStatus } from "../agents/MessageStatus.tsx"
import { Button } from "../ui/Button.tsx"
import { later } from "../ui/later.tsx"
import { Time } from "../ui/Time.tsx"
import { replyId } from "./anchors.ts"
import { DeclineMessage } from "./DeclineMessage.tsx"
import { SaidItem } from "./SaidItem.tsx"

const Markdown = later(() => import("./TicketMarkdown.tsx"))

const ReplyRun = later(() => import("./ReplyRun.tsx"))

const Text = ({ text }: { readonly text: string }) => (
  <div className="pt-1">
    <Markdown text={text} />
  </div>
)

/** What an agent was asked. */
export const TicketMessage = ({ message, slug }: { readonly slug: string; readonly message: AgentMessage }) => {
  const { agent, ask, computer, note, sender, status } = message
  return (
    <SaidItem id={message.id} isSunken label={`Message to ${agent.name}`}>
      <div className="quiet-end flex min-h-7 flex-wrap items-center gap-x-2 gap-y-1">
        <span className="foreign">
          <span className="font-medium">{sender.name}</span> asked <span className="font-medium">{agent.name}</span>
          {agent.person.id !== sender.id && ` of ${agent.person.name}`} to {asks[ask]}
          {computer !== null && <span className="text-muted"> on {computer.name}</span>}
        </span>
        <MessageStatus status={status} />
        <span className="text-muted flex-1 text-xs">
          <Time at={message.createdAt} />
        </span>
        <DeclineMessage message={message} slug={slug} />
      </div>
      {ask !== "mention" && note !== null && <Text text={note} />}
    </SaidItem>
  )
}

interface ReplyProps {
  readonly slug: string
  readonly message: AgentMessage
  /** Writes to the agent again. */
  readonly onAnswer?: (() => void) | undefined
}

/** What an agent said to what it was asked. */
export const TicketReply = ({
  message: { agent, completedAt, declinedAt, evidence, id, reply, status },
  onAnswer,
  slug
}: ReplyProps) => {
  const name = agent.name
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
      {evidence !== null && <ReplyRun run={evidence.run} slug={slug} />}
    </SaidItem>
  )
}
