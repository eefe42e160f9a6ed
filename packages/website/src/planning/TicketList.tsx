import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { Link, useNavigate } from "@tanstack/react-router"
import { formatCount } from "../ui/format.ts"
import { later } from "../ui/later.tsx"
import { Rows } from "../ui/Rows.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { Time } from "../ui/Time.tsx"
import { CategoryMark } from "./CategoryMark.tsx"
import type { Column } from "./columns.ts"
import { Badge } from "../ui/Badge.tsx"
import { useOwnerNames } from "./ownerNames.ts"
import { askClass, TagBadge } from "./TagBadge.tsx"
import type { Selection } from "./useSelection.ts"

/** Tickets as rows, below the headings of their groups. */

const TicketPeek = later(
  () => import("./TicketPeek.tsx"),
  () => <SkeletonRows rows={6} />
)

interface Props {
  readonly slug: string
  readonly columns: ReadonlyArray<Column>
  readonly mayChange: boolean
  readonly selection: Selection
}

type Row =
  | { readonly kind: "heading"; readonly key: string; readonly column: Column }
  | { readonly kind: "ticket"; readonly key: string; readonly ticket: TicketSummary }

const rowsOf = (columns: ReadonlyArray<Column>): ReadonlyArray<Row> =>
  columns.flatMap((column): ReadonlyArray<Row> =>
    column.tickets.length === 0 && column.isAlwaysShown !== true
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

interface TicketRowProps extends Omit<Props, "columns"> {
  readonly owner: ReturnType<ReturnType<typeof useOwnerNames>>
  readonly ticket: TicketSummary
  readonly isCurrent: boolean
}

const mostTags = 3

/** What `data-ask` names is asked for by a click (`TicketActions.tsx`). */
const TicketRow = ({ isCurrent, mayChange, owner: [owner, tone], selection, slug, ticket }: TicketRowProps) => {
  const isSelected = selection.ids.has(ticket.id)
  return (
    <div
      className={`border-border hover:bg-hover flex h-(--row) items-center gap-2 border-b pr-4 pl-2 ${isSelected ? "bg-selected" : ""} ${isCurrent ? "shadow-[inset_3px_0_var(--accent)]" : ""}`}
      data-ticket={ticket.id}
    >
      <input
        aria-label={`Select ${ticket.identifier}`}
        checked={isSelected}
        className="shrink-0"
        onChange={() => selection.toggle(ticket.id)}
        tabIndex={-1}
        type="checkbox"
      />
      <button
        aria-label={`Status of ${ticket.identifier}: ${ticket.status.name}`}
        className={`${askClass} grid place-items-center`}
        data-ask="status"
        disabled={!mayChange}
        tabIndex={-1}
        type="button"
      >
        <CategoryMark status={ticket.status} />
      </button>
      <Link
        className="flex h-full min-w-0 flex-1 items-center gap-2"
        params={{ slug, ticket: ticket.identifier }}
        to="/w/$slug/tickets/$ticket"
      >
        <span className="text-muted tabular w-16 shrink-0 truncate">{ticket.identifier}</span>
        <span className="foreign min-w-0 flex-1 truncate" title={ticket.title}>
          {ticket.title}
        </span>
        {ticket.team.visibility === "private" && <Badge>private</Badge>}
      </Link>
      <span className="hidden min-w-0 shrink items-center gap-1 *:max-w-40 lg:flex">
        {ticket.tags.slice(0, mostTags).map((tag) => (
          <TagBadge key={tag.id} tag={tag} />
        ))}
        {ticket.tags.length > mostTags && <span className="text-muted text-xs">+{ticket.tags.length - mostTags}</span>}
      </span>
      {ticket.project !== null && (
        <span className="text-muted foreign hidden max-w-36 truncate lg:block">{ticket.project.name}</span>
      )}
      <button
        aria-label={`Owner of ${ticket.identifier}: ${owner || "Nobody"}`}
        className={`${askClass} ${tone} max-sm:hidden w-32 text-right`}
        data-ask="owner"
        disabled={!mayChange}
        tabIndex={-1}
        type="button"
      >
        {owner}
      </button>
      <span className="text-muted hidden w-20 text-right sm:block">
        <Time at={ticket.updatedAt} />
      </span>
    </div>
  )
}

export const TicketList = ({ columns, ...props }: Props) => {
  const { selection, slug } = props
  const navigate = useNavigate()
  const rows = rowsOf(columns)
  const ownerOf = useOwnerNames(slug)
  const ticketAt = (index: number) => {
    const row = rows[index]
    return row?.kind === "ticket" ? row.ticket : undefined
  }
  return (
    <Rows
      at={rows.findIndex(({ key }) => key === selection.current)}
      count={rows.length}
      isChoosable={(index) => ticketAt(index) !== undefined}
      keyOf={(index) => rows[index]!.key}
      label="Tickets"
      noun="ticket"
      onCurrent={(index) => selection.go(rows[index]!.key)}
      onOpen={(index) => {
        const ticket = ticketAt(index)
        if (ticket === undefined) return
        void navigate({ to: "/w/$slug/tickets/$ticket", params: { slug, ticket: ticket.identifier } })
      }}
      peek={(index) => {
        const ticket = ticketAt(index)
        return ticket === undefined ? undefined : <TicketPeek slug={slug} ticket={ticket.identifier} />
      }}
      row={(index) => {
        const row = rows[index]!
        return row.kind === "heading" ? (
          <Heading column={row.column} />
        ) : (
          <TicketRow
            {...props}
            isCurrent={row.key === selection.current}
            owner={ownerOf(row.ticket.owner)}
            ticket={row.ticket}
          />
        )
      }}
    />
  )
}
