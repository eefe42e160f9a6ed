import { useQueries } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { ticketQuery } from "../planning/queries.ts"
import { Section } from "../ui/Section.tsx"
import { Time } from "../ui/Time.tsx"
import { ApprovalRows, waitingRow } from "./ApprovalRows.tsx"
import { isAnswered, lineOf, type Notice } from "./inbox.ts"
import { useApprovals } from "./useApprovals.ts"
import { useNotices } from "./useNotices.ts"

/**
 * What waits for the person: approvals that somebody else has asked for, where an admin looks, and the newest of what is unread,
 * where nobody has answered and the ticket is open.
 */

const most = 5

/** Of how many tickets it is asked whether they are open. */
const mostTickets = 10

const useWaiting = (slug: string, notices: ReadonlyArray<Notice>): ReadonlyArray<Notice> => {
  const asked = notices.filter((one) => !isAnswered(one))
  const identifiers = [...new Set(asked.map(({ ticket }) => ticket.identifier))].slice(0, mostTickets)
  const found = useQueries({ queries: identifiers.map((identifier) => ticketQuery(slug, identifier)) })
  const open = new Set(
    identifiers.filter((_, index) => {
      const category = found[index]!.data?.status.category
      return category !== undefined && category !== "completed" && category !== "canceled"
    })
  )
  return asked.filter(({ ticket }) => open.has(ticket.identifier))
}

const Waiting = ({ slug }: { readonly slug: string }) => {
  const { counted, notices } = useNotices(slug)
  const waiting = useWaiting(slug, notices)
  const approvals = useApprovals(slug)
  if (waiting.length + approvals.length === 0) return null
  return (
    <Section
      actions={
        waiting.length > 0 && (
          <Link className="text-muted hover:underline" params={{ slug }} to="/w/$slug/inbox">
            Inbox ({counted})
          </Link>
        )
      }
      isFlush
      title="Waiting for you"
    >
      <ApprovalRows approvals={approvals} slug={slug} />
      {waiting.slice(0, most).map((one) => (
        <Link
          className={waitingRow}
          data-tall
          hash={one.at ?? ""}
          key={one.id}
          params={{ slug, ticket: one.ticket.identifier }}
          to="/w/$slug/tickets/$ticket"
        >
          <span className="bg-accent-fill size-2 shrink-0 rounded-full" />
          <span className="truncate font-medium sm:shrink-0">{one.what}</span>
          <span className="second-line">
            <span className="text-muted tabular shrink-0">{one.ticket.identifier}</span>
            <span className="text-muted foreign min-w-0 flex-1 truncate">{lineOf(one.said)}</span>
            <span className="text-muted">
              <Time at={one.createdAt} />
            </span>
          </span>
        </Link>
      ))}
    </Section>
  )
}

export default Waiting
