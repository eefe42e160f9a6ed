import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { Link, useNavigate } from "@tanstack/react-router"
import { Suspense, useState } from "react"
import { actorName } from "../api/actors.ts"
import { formatCount, visible } from "../ui/format.ts"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Rows } from "../ui/Rows.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { Time } from "../ui/Time.tsx"
import { CategoryMark } from "./CategoryMark.tsx"
import type { Column } from "./columns.ts"
import { TagBadge } from "./TagBadge.tsx"

/** Tickets as rows, below the headings of their groups. */

const TicketPeek = later(() => import("./TicketPeek.tsx"))

export interface Selecting {
  readonly selected: ReadonlySet<string>
  /** Selects a ticket, or no longer. */
  readonly onToggle: (id: string) => void
  /** Told of the ticket that the keyboard is at. */
  readonly onCurrent: (id: string | undefined) => void
}

interface Props extends Selecting {
  readonly slug: string
  readonly columns: ReadonlyArray<Column>
}

type Row =
  | { readonly kind: "heading"; readonly key: string; readonly column: Column }
  | { readonly kind: "ticket"; readonly key: string; readonly ticket: TicketSummary }

const rowsOf = (columns: ReadonlyArray<Column>): ReadonlyArray<Row> =>
  columns.flatMap((column): ReadonlyArray<Row> =>
    column.tickets.length === 0
      ? []
      : [
          { kind: "heading", key: `of ${column.key}`, column },
          ...column.tickets.map((ticket) => ({ kind: "ticket" as const, key: ticket.id, ticket }))
        ]
  )

const Heading = ({ column: { category, label, tickets } }: { readonly column: Column }) => (
  <h2 className="border-border bg-sunken flex h-(--row) items-center gap-2 border-b px-4 font-medium">
    {category === undefined ? (
      <span className="foreign truncate">{label}</span>
    ) : (
      <CategoryMark isNameShown status={{ name: label, category }} />
    )}
    <span className="text-muted tabular font-normal">{formatCount(tickets.length)}</span>
  </h2>
)

interface TicketRowProps {
  readonly slug: string
  readonly ticket: TicketSummary
  readonly isCurrent: boolean
  readonly isSelected: boolean
  readonly onToggle: (id: string) => void
}

const mostTags = 3

const TicketRow = ({ isCurrent, isSelected, onToggle, slug, ticket }: TicketRowProps) => (
  <div
    className={`border-border hover:bg-hover flex h-(--row) items-center gap-2 border-b pr-4 pl-2 ${isCurrent || isSelected ? "bg-selected" : ""}`}
  >
    <input
      aria-label={`Select ${ticket.identifier}`}
      checked={isSelected}
      className="shrink-0"
      onChange={() => onToggle(ticket.id)}
      tabIndex={-1}
      type="checkbox"
    />
    <Link
      className="flex h-full min-w-0 flex-1 items-center gap-2"
      params={{ slug, ticket: ticket.identifier }}
      to="/w/$slug/tickets/$ticket"
    >
      <CategoryMark status={ticket.status} />
      <span className="text-muted tabular w-16 shrink-0 truncate">{ticket.identifier}</span>
      <span className="foreign min-w-0 flex-1 truncate" title={ticket.title}>
        {visible(ticket.title)}
      </span>
    </Link>
    <span className="hidden min-w-0 shrink items-center gap-1 lg:flex">
      {ticket.tags.slice(0, mostTags).map((tag) => (
        <TagBadge key={tag.id} tag={tag} />
      ))}
      {ticket.tags.length > mostTags && <span className="text-muted text-xs">+{ticket.tags.length - mostTags}</span>}
    </span>
    {ticket.project !== null && (
      <span className="text-muted foreign hidden max-w-36 truncate md:block">{visible(ticket.project.name)}</span>
    )}
    <span className="text-muted foreign hidden w-32 truncate text-right sm:block">
      {ticket.owner === null ? "" : actorName(ticket.owner)}
    </span>
    <span className="text-muted hidden w-20 text-right sm:block">
      <Time at={ticket.updatedAt} />
    </span>
  </div>
)

export const TicketList = ({ columns, onCurrent, onToggle, selected, slug }: Props) => {
  const navigate = useNavigate()
  const [current, setCurrent] = useState(-1)
  const rows = rowsOf(columns)
  const ticketAt = (index: number) => {
    const row = rows[index]
    return row?.kind === "ticket" ? row.ticket : undefined
  }
  useKeys([
    {
      keys: "x",
      label: "Select the ticket, or no longer",
      group: "Tickets",
      run: () => {
        const ticket = ticketAt(current)
        if (ticket !== undefined) onToggle(ticket.id)
      }
    }
  ])
  return (
    <Rows
      count={rows.length}
      isChoosable={(index) => rows[index]?.kind === "ticket"}
      keyOf={(index) => rows[index]!.key}
      label="Tickets"
      noun="ticket"
      onCurrent={(index) => {
        setCurrent(index)
        onCurrent(ticketAt(index)?.id)
      }}
      onOpen={(index) => {
        const ticket = ticketAt(index)
        if (ticket === undefined) return
        void navigate({ to: "/w/$slug/tickets/$ticket", params: { slug, ticket: ticket.identifier } })
      }}
      peek={(index) => {
        const ticket = ticketAt(index)
        return ticket === undefined ? undefined : (
          <Suspense fallback={<SkeletonRows rows={6} />}>
            <TicketPeek slug={slug} ticket={ticket.identifier} />
          </Suspense>
        )
      }}
      row={(index, isCurrent) => {
        const row = rows[index]!
        return row.kind === "heading" ? (
          <Heading column={row.column} />
        ) : (
          <TicketRow
            isCurrent={isCurrent}
            isSelected={selected.has(row.ticket.id)}
            onToggle={onToggle}
            slug={slug}
            ticket={row.ticket}
          />
        )
      }}
    />
  )
}
