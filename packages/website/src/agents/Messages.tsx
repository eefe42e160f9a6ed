import type { AgentMessage } from "@delivery/domain/agents/Message"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { serviceUrl } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { buttonClass } from "../ui/Button.tsx"
import { later } from "../ui/later.tsx"
import { Rows } from "../ui/Rows.tsx"
import { Empty } from "../ui/States.tsx"
import { Time } from "../ui/Time.tsx"
import { asks } from "./inbox.ts"
import { MessageStatus } from "./MessageStatus.tsx"
import { messagesQuery } from "./queries.ts"

/** What was asked of agents, and what became of it. */

const MessagePeek = later(() => import("./MessagePeek.tsx"))

interface RowProps {
  readonly slug: string
  readonly message: AgentMessage
  readonly isCurrent: boolean
}

const Row = ({ isCurrent, message, slug }: RowProps) => {
  const { agent, ask, sender, status, ticket } = message
  return (
    <Link
      className={`border-border hover:bg-hover flex h-(--row) items-center gap-x-2 border-b px-4 max-sm:flex-wrap max-sm:content-center ${isCurrent ? "bg-selected" : ""}`}
      params={{ slug, ticket: ticket.identifier }}
      to="/w/$slug/tickets/$ticket"
    >
      <span className="text-muted tabular shrink-0 truncate sm:w-16">{ticket.identifier}</span>
      <span className="foreign min-w-0 flex-1 truncate max-sm:order-first max-sm:basis-full">
        <span className="font-medium">{sender.name}</span> asked <span className="font-medium">{agent.name}</span> to{" "}
        {asks[ask]} <span className="text-muted max-md:hidden">{ticket.title}</span>
      </span>
      <span className="text-muted foreign min-w-0 flex-1 truncate sm:hidden">{ticket.title}</span>
      <MessageStatus status={status} />
      <span className="text-muted text-right sm:w-20">
        <Time at={message.createdAt} />
      </span>
    </Link>
  )
}

const Messages = ({ slug }: { readonly slug: string }) => {
  const navigate = useNavigate()
  const query = useQuery(messagesQuery(slug))
  return (
    <Loaded isTall query={query} rows={8}>
      {({ messages }) =>
        messages.length === 0 ? (
          <Empty
            action={
              <Link className={buttonClass()} params={{ slug }} to="/w/$slug/tickets">
                Choose a ticket
              </Link>
            }
            command={`claude mcp add --transport http delivery ${serviceUrl}/agent/mcp`}
            icon="agent"
            title="What you ask of agents, and others of yours, is listed here"
          >
            Open a ticket and ask an agent about it. Where none is connected yet, this connects one:
          </Empty>
        ) : (
          <Rows
            count={messages.length}
            isTall
            keyOf={(index) => messages[index]!.id}
            label="Messages"
            noun="message"
            onOpen={(index) =>
              void navigate({
                to: "/w/$slug/tickets/$ticket",
                params: { slug, ticket: messages[index]!.ticket.identifier }
              })
            }
            peek={(index) => <MessagePeek message={messages[index]!} slug={slug} />}
            row={(index, isCurrent) => <Row isCurrent={isCurrent} message={messages[index]!} slug={slug} />}
          />
        )
      }
    </Loaded>
  )
}

export default Messages
