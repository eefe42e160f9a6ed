import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { Link } from "@tanstack/react-router"
import { Section } from "../ui/Section.tsx"
import { Time } from "../ui/Time.tsx"
import { CategoryMark } from "./CategoryMark.tsx"
import { useTickets } from "./useTickets.ts"

/** What the person has to do, of what has been begun first. */

const search = { owners: ["me"], categories: ["started", "unstarted"] }

const most = 8

const begunFirst = (tickets: ReadonlyArray<TicketSummary>): ReadonlyArray<TicketSummary> => [
  ...tickets.filter(({ status }) => status.category === "started"),
  ...tickets.filter(({ status }) => status.category !== "started")
]

const MyTickets = ({ slug }: { readonly slug: string }) => {
  const { data = [] } = useTickets(slug, search, true)
  if (data.length === 0) return null
  return (
    <Section
      actions={
        <Link
          className="text-muted hover:underline"
          params={{ slug }}
          search={{ owners: ["me"] }}
          to="/w/$slug/tickets"
        >
          All of mine
        </Link>
      }
      isFlush
      title="My tickets"
    >
      {begunFirst(data)
        .slice(0, most)
        .map((ticket) => (
          <Link
            className="border-border hover:bg-hover flex h-(--row) items-center gap-3 border-b px-4"
            key={ticket.id}
            params={{ slug, ticket: ticket.identifier }}
            to="/w/$slug/tickets/$ticket"
          >
            <CategoryMark status={ticket.status} />
            <span className="text-muted tabular shrink-0 truncate sm:w-16">{ticket.identifier}</span>
            <span className="foreign min-w-0 flex-1 truncate">{ticket.title}</span>
            <span className="text-muted">
              <Time at={ticket.updatedAt} />
            </span>
          </Link>
        ))}
    </Section>
  )
}

export default MyTickets
