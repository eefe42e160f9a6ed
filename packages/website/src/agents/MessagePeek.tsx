import type { AgentMessage } from "@delivery/domain/agents/Message"
import { Link } from "@tanstack/react-router"
import { anchorOf } from "../planning/anchors.ts"
import { DeclineMessage } from "../planning/DeclineMessage.tsx"
import { TicketContext } from "../planning/queries.ts"
import { Facts } from "../ui/Facts.tsx"
import { later } from "../ui/later.tsx"
import { Time } from "../ui/Time.tsx"
import { asks } from "./inbox.ts"
import { messageFacts, messageTexts } from "./messageParts.ts"
import { MessageStatus } from "./MessageStatus.tsx"

/** A message to an agent beside the list of messages: what was asked of whom, and what became of it. */

const Markdown = later(() => import("../planning/TicketMarkdown.tsx"))

const MessagePeek = ({ message, slug }: { readonly message: AgentMessage; readonly slug: string }) => {
  const { agent, ask, sender, status, ticket } = message
  return (
    <>
      <h2 className="foreign flex flex-wrap items-center gap-2 py-3 pr-12 pl-4 font-semibold">
        <span>
          {sender.name} asked {agent.name} to {asks[ask]}
        </span>
        <MessageStatus status={status} />
      </h2>
      <Facts
        facts={[
          [
            "Ticket",
            <Link
              className="hover:underline"
              hash={anchorOf(message.id)}
              key="ticket"
              params={{ slug, ticket: ticket.identifier }}
              to="/w/$slug/tickets/$ticket"
            >
              {ticket.identifier} {ticket.title}
            </Link>
          ],
          ...messageFacts(message),
          ["When", <Time at={message.createdAt} key="when" />]
        ]}
      />
      <TicketContext value={{ slug, ticket: ticket.identifier, mayAttach: false }}>
        {messageTexts(message).map(
          ([name, text]) =>
            text !== null && (
              <section aria-label={name} className="border-border border-b px-4 py-3" key={name}>
                <h3 className="text-muted pb-1 text-xs font-medium">{name}</h3>
                <Markdown text={text} />
              </section>
            )
        )}
      </TicketContext>
      <div className="px-4 py-2 empty:hidden">
        <DeclineMessage message={message} slug={slug} />
      </div>
    </>
  )
}

export default MessagePeek
