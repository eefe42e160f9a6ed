import type { RegisteredAgent } from "@delivery/domain/agents/Agent"
import { Link } from "@tanstack/react-router"
import { anchorOf } from "../planning/anchors.ts"
import { formatCount } from "../ui/format.ts"
import { Time } from "../ui/Time.tsx"
import { asks } from "./inbox.ts"
import { MessageStatus } from "./MessageStatus.tsx"
import { TakeOver } from "./TakeOver.tsx"
import type { Work } from "./work.ts"

/** What an agent does now: its started tickets, and what was asked of it last. */

interface Props {
  readonly slug: string
  readonly agent: RegisteredAgent
  readonly work: Work
}

/** How many tickets are listed. */
const most = 3

const line = "flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 py-0.5"
const nameClass = "text-muted w-28 shrink-0"
const linkClass = "foreign min-w-0 truncate hover:underline"

const LastMessage = ({ message, slug }: Pick<Props, "slug"> & { readonly message: NonNullable<Work["message"]> }) => (
  <li className={line}>
    <span className={nameClass}>Last message</span>
    <Link
      className={linkClass}
      hash={anchorOf(message.id)}
      params={{ slug, ticket: message.ticket.identifier }}
      to="/w/$slug/tickets/$ticket"
    >
      <span className="font-medium">{message.sender.name}</span> asked to {asks[message.ask]}{" "}
      <span className="text-muted tabular">{message.ticket.identifier}</span>
    </Link>
    <MessageStatus status={message.status} />
    <span className="text-muted text-xs">
      <Time at={message.createdAt} />
    </span>
  </li>
)

const AgentWork = ({ agent, slug, work: { message, tickets } }: Props) => (
  <ul aria-label={`Work of ${agent.name} of ${agent.person.name}`} className="pb-1">
    {tickets.slice(0, most).map((ticket) => (
      <li className={line} key={ticket.id}>
        <span className={nameClass}>Works on</span>
        <Link className={linkClass} params={{ slug, ticket: ticket.identifier }} to="/w/$slug/tickets/$ticket">
          <span className="text-muted tabular mr-1">{ticket.identifier}</span> {ticket.title}
        </Link>
        <TakeOver agent={agent} message={message} slug={slug} ticket={ticket} />
      </li>
    ))}
    {tickets.length > most && (
      <li className={line}>
        <Link
          className="text-muted hover:underline"
          params={{ slug }}
          search={{ owners: [agent.id], categories: ["started"] }}
          to="/w/$slug/tickets"
        >
          All {formatCount(tickets.length)} tickets that it works on
        </Link>
      </li>
    )}
    {message !== undefined && <LastMessage message={message} slug={slug} />}
  </ul>
)

export default AgentWork
