import { useQueries, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { actorName } from "../api/actors.ts"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { pendingApprovalsQuery } from "../catalog/approvalsQuery.ts"
import { ticketQuery } from "../planning/queries.ts"
import { counted as counts } from "../ui/format.ts"
import { Section } from "../ui/Section.tsx"
import { Time } from "../ui/Time.tsx"
import { isAnswered, lineOf, type Notice } from "./inbox.ts"
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

/** What others ask an admin to approve. */
const useApprovals = (slug: string) => {
  const me = useMe()
  const { data } = useQuery({ ...pendingApprovalsQuery(slug), enabled: mayAct(useRole(slug), "admin") })
  return (data?.approvals ?? []).filter(({ requestedBy }) => requestedBy.kind !== "user" || requestedBy.id !== me?.id)
}

const row = "border-border hover:bg-hover two-lines flex h-(--row) items-center gap-3 border-b px-4"

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
      {approvals.slice(0, most).map(({ environment, id, reason, requestedAt, requestedBy }) => (
        <Link
          className={row}
          data-tall
          key={id}
          params={{ slug, _splat: `environments/${environment.slug}` }}
          to="/w/$slug/$"
        >
          <span className="bg-accent-fill size-2 shrink-0 rounded-full" />
          <span className="foreign truncate font-medium sm:shrink-0">
            {actorName(requestedBy)} asks to write in {environment.name}
          </span>
          <span className="second-line">
            <span className="text-muted foreign min-w-0 flex-1 truncate">{reason}</span>
            <span className="text-muted">
              <Time at={requestedAt} />
            </span>
          </span>
        </Link>
      ))}
      {approvals.length > most && (
        <p className="text-muted border-border border-b px-4 py-2">
          And {counts(approvals.length - most, "approval")} more, on the pages of their environments.
        </p>
      )}
      {waiting.slice(0, most).map((one) => (
        <Link
          className={row}
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
