import { draggable } from "@atlaskit/pragmatic-drag-and-drop/element/adapter"
import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { Link, useNavigate } from "@tanstack/react-router"
import { useVirtualizer } from "@tanstack/react-virtual"
import { memo, useEffect, useRef, useState } from "react"
import { formatCount } from "../ui/format.ts"
import { MoreLeft, MoreRight, useEdges } from "../ui/edges.tsx"
import { Icon } from "../ui/Icon.tsx"
import { useKeys } from "../ui/keys.ts"
import { toast } from "../ui/toast.ts"
import { CategoryMark } from "./CategoryMark.tsx"
import type { Column } from "./columns.ts"
import { useOwnerNames } from "./ownerNames.ts"
import { askClass, TagBadge } from "./TagBadge.tsx"
import { Badge } from "../ui/Badge.tsx"
import { besideAt, isStaying } from "./board.ts"
import type { Selection } from "./useSelection.ts"
import { useDropPlace } from "./useDropPlace.ts"
import { useTicketMove } from "./useTicketMove.ts"
import { later } from "../ui/later.tsx"

const OrderConflict = later(() => import("./OrderConflict.tsx"))

/** Tickets in columns, moved by drag and by keys. Load it lazily: it brings the dragging. */

/** The height of a card with the gap below it, in pixels: two lines of its title, one of what it is and one of what it is about. */
const cardHeight = 116

const overscan = 4

/** The middle of the gap above a card; above the first one there is none that would be seen. */
const markedAt = (place: number): number => Math.max(0, place * cardHeight - 5)

interface Props {
  readonly slug: string
  readonly columns: ReadonlyArray<Column>
  readonly mayChange: boolean
  readonly selection: Selection
}

interface CardProps {
  readonly slug: string
  readonly ticket: TicketSummary
  readonly isCurrent: boolean
  readonly isSelected: boolean
  readonly mayChange: boolean
  readonly owner: string
  readonly tone: string
}

const mostTags = 3

/** What `data-ask` names is asked for by a click (`TicketActions.tsx`). */
const Card = memo(({ isCurrent, isSelected, mayChange, owner, slug, ticket, tone }: CardProps) => {
  const element = useRef<HTMLDivElement>(null)
  const [isDragged, setDragged] = useState(false)
  const { id, identifier } = ticket
  useEffect(() => {
    if (element.current === null || !mayChange) return
    return draggable({
      element: element.current,
      getInitialData: () => ({ ticket: id }),
      onDragStart: () => setDragged(true),
      onDrop: () => setDragged(false)
    })
  }, [id, mayChange])
  return (
    <div
      className={`relative flex h-27 flex-col gap-1 rounded-md border p-2 ${isSelected ? "bg-selected border-accent" : "bg-raised border-border hover:border-strong"} ${isCurrent ? "outline-accent outline-2" : ""} ${isDragged ? "opacity-40" : ""}`}
      data-card={id}
      ref={element}
    >
      <span className="text-muted flex h-5 shrink-0 items-center gap-1.5 text-xs">
        <button
          aria-label={`Status of ${identifier}: ${ticket.status.name}`}
          className={`${askClass} relative z-1 -mx-1 grid place-items-center`}
          data-ask="status"
          disabled={!mayChange}
          tabIndex={-1}
          type="button"
        >
          <CategoryMark status={ticket.status} />
        </button>
        <span className="tabular shrink-0 whitespace-nowrap">{identifier}</span>
        {ticket.team.visibility === "private" && <Badge>private</Badge>}
        <span className="flex-1" />
        <button
          aria-label={`Owner of ${identifier}: ${owner || "Nobody"}`}
          className={`${askClass} ${tone} relative z-1 -mr-1 px-1`}
          data-ask="owner"
          disabled={!mayChange}
          tabIndex={-1}
          title={owner || undefined}
          type="button"
        >
          {owner || (
            <span className="text-faint">
              <Icon name="person" size={14} />
            </span>
          )}
        </button>
        {isSelected && <span className="sr-only">selected</span>}
      </span>
      <Link
        className="foreign line-clamp-2 h-10 shrink-0 font-medium after:absolute after:inset-0"
        // The card is dragged, and not the address.
        draggable={false}
        params={{ slug, ticket: identifier }}
        tabIndex={-1}
        to="/w/$slug/tickets/$ticket"
      >
        {ticket.title}
      </Link>
      <span className="flex h-5 min-w-0 shrink-0 items-center gap-1 overflow-hidden">
        {ticket.project !== null && (
          <span className="text-muted foreign min-w-0 truncate text-xs">{ticket.project.name}</span>
        )}
        {ticket.tags.slice(0, mostTags).map((tag) => (
          <TagBadge key={tag.id} tag={tag} />
        ))}
        {ticket.tags.length > mostTags && <span className="text-muted text-xs">+{ticket.tags.length - mostTags}</span>}
      </span>
    </div>
  )
})

interface ColumnProps extends Omit<Props, "columns"> {
  readonly column: Column
  /** A card was dropped before the one at this place. */
  readonly onDrop: (ticket: string, index: number) => void
}

/** What stands over a column whose tickets have no places that anybody chooses. */
const NoPlaceNote = ({ isHere, label }: { readonly isHere: boolean; readonly label: string }) => (
  <p
    aria-hidden="true"
    className="bg-raised border-accent shadow-overlay pointer-events-none absolute inset-x-2 bottom-2 z-2 rounded-md border px-3 py-2 text-xs"
    data-no-place=""
  >
    <b className="font-medium">{isHere ? `It is in ${label} already.` : `Moves to ${label}.`}</b>{" "}
    <span className="text-muted">
      A place within it is chosen where one team is shown, by status, in its own order.
    </span>
  </p>
)

const ColumnView = ({ column, mayChange, onDrop, selection: { current, ids }, slug }: ColumnProps) => {
  const scroller = useRef<HTMLDivElement>(null)
  const frame = useRef<HTMLElement>(null)
  const { category, isOrdered, label, tickets } = column
  const count = tickets.length
  const ownerOf = useOwnerNames(slug)
  const over = useDropPlace({ cardHeight, column, frame, list: scroller, mayChange, onDrop })
  const from = over === undefined ? -1 : tickets.findIndex(({ id }) => id === over.ticket)
  const isOfMany = over !== undefined && ids.size > 1 && ids.has(over.ticket)
  const place = over === undefined || (!isOfMany && isStaying(over.place, from)) ? undefined : over.place
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => cardHeight,
    overscan,
    getItemKey: (index) => tickets[index]!.id
  })
  const at = tickets.findIndex(({ id }) => id === current)
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at)
  }, [at, virtual])
  const isCurrent = at >= 0
  useEffect(() => {
    if (isCurrent) frame.current?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }, [current, isCurrent])
  return (
    <section
      aria-label={label}
      className={`bg-sunken relative flex h-full w-72 min-w-56 flex-1 flex-col max-w-88 max-sm:shrink-0 rounded-lg border ${over === undefined ? "border-border" : "border-accent"}`}
      ref={frame}
    >
      <h2 className="flex h-9 items-center gap-2 px-3 font-medium">
        {category === undefined ? (
          <span className="foreign truncate">{label}</span>
        ) : (
          <CategoryMark isNameShown status={{ name: label, category }} />
        )}
        <span className="text-muted tabular font-normal">{formatCount(count)}</span>
      </h2>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-2" ref={scroller} tabIndex={-1}>
        <ol className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const ticket = tickets[index]!
            const [owner, tone] = ownerOf(ticket.owner)
            return (
              <li className="absolute inset-x-0 top-0" key={key} style={{ transform: `translateY(${start}px)` }}>
                <Card
                  isCurrent={ticket.id === current}
                  isSelected={ids.has(ticket.id)}
                  mayChange={mayChange}
                  owner={owner}
                  slug={slug}
                  ticket={ticket}
                  tone={tone}
                />
              </li>
            )
          })}
          {place !== undefined && isOrdered && (
            <li
              aria-hidden="true"
              className="bg-accent absolute inset-x-0 top-0 h-0.5 rounded-full"
              style={{ transform: `translateY(${markedAt(place)}px)` }}
            />
          )}
        </ol>
      </div>
      {over !== undefined && !isOrdered && <NoPlaceNote isHere={from >= 0 && !isOfMany} label={label} />}
    </section>
  )
}

/** Where a ticket is: the column, and its place there. */
const find = (columns: ReadonlyArray<Column>, id: string | undefined) => {
  for (const [column, { tickets }] of columns.entries()) {
    const row = tickets.findIndex((one) => one.id === id)
    if (row >= 0) return { column, row }
  }
  return undefined
}

const tellFixed = () =>
  toast({
    title: "The order cannot be changed here",
    detail: "Tickets have an order of their own in each status of a team: show one team, by status, in that order.",
    tone: "danger"
  })

/** Puts cards into a column: before the one at a place where the column has an order of its own. */
const usePut = (columns: ReadonlyArray<Column>, slug: string) => {
  const { move, moveMany } = useTicketMove(slug)
  const putOne = (id: string, to: number, place: number): boolean => {
    const from = find(columns, id)
    const target = columns[to]
    if (from === undefined || target === undefined) return false
    const source = columns[from.column]!
    const ticket = source.tickets[from.row]!
    const isSame = from.column === to
    // Without the card itself, those below it are one place higher.
    const at = isSame && place > from.row ? place - 1 : place
    if (isSame && at === from.row) return false
    if (isSame && !target.isOrdered) {
      tellFixed()
      return false
    }
    const others = target.tickets.filter((one) => one.id !== id)
    void move({
      ticket,
      change: isSame ? {} : target.change,
      beside: target.isOrdered ? besideAt(others, at) : undefined,
      from: source.isOrdered ? besideAt(source.tickets.toSpliced(from.row, 1), from.row) : undefined,
      said: isSame ? "" : `${ticket.identifier} was moved to ${target.label}`
    })
    return true
  }
  const putMany = (ids: ReadonlySet<string>, to: number, place: number): boolean => {
    const target = columns[to]
    if (target === undefined) return false
    const tickets = columns.flatMap((column) => column.tickets.filter(({ id }) => ids.has(id)))
    const isWhole = tickets.every(({ id }) => target.tickets.some((one) => one.id === id))
    if (isWhole && !target.isOrdered) {
      tellFixed()
      return false
    }
    const others = target.tickets.filter(({ id }) => !ids.has(id))
    const at = place - target.tickets.slice(0, place).filter(({ id }) => ids.has(id)).length
    void moveMany({
      tickets,
      change: isWhole ? {} : target.change,
      isPlaced: target.isOrdered,
      beside: besideAt(others, at),
      said: `moved to ${target.label}`
    })
    return true
  }
  return { putOne, putMany }
}

/** Where the keyboard is among the cards, and how it walks and moves them. */
const useCards = ({ columns, mayChange, selection, slug }: Props) => {
  const navigate = useNavigate()
  const { putMany, putOne } = usePut(columns, slug)
  const { current, go: set, ids, toggle } = selection
  const at = find(columns, current)
  const shown = at === undefined ? undefined : columns[at.column]!.tickets[at.row]
  const go = (column: number, row: number) => {
    const tickets = columns[column]?.tickets ?? []
    const next = tickets[Math.max(0, Math.min(tickets.length - 1, row))]?.id
    if (next === undefined) return
    set(next)
    document.querySelector<HTMLElement>("#board")?.focus()
  }
  const begin = () =>
    go(
      columns.findIndex(({ tickets }) => tickets.length > 0),
      0
    )
  const aside = (step: 1 | -1) => () => {
    if (at === undefined) return begin()
    for (let next = at.column + step; columns[next] !== undefined; next += step) {
      if (columns[next]!.tickets.length > 0) return go(next, at.row)
    }
  }
  const along = (step: 1 | -1) => () => (at === undefined ? begin() : go(at.column, at.row + step))
  const drop = (id: string, column: number, place: number) => {
    const isOfMany = ids.has(id) && ids.size > 1
    if (isOfMany ? putMany(ids, column, place) : putOne(id, column, place)) set(id)
  }
  const shove = (columnStep: number, rowStep: number) => () => {
    if (at === undefined || current === undefined) return
    if (columnStep !== 0) drop(current, at.column + columnStep, 0)
    // At the first and the last card, too, where it would not move anyway.
    else if (columns[at.column]?.isOrdered === false) tellFixed()
    else if (rowStep > 0) drop(current, at.column, Math.min(columns[at.column]!.tickets.length, at.row + 2))
    else if (at.row > 0) drop(current, at.column, at.row - 1)
  }
  const open = () => {
    const { activeElement } = document
    if (activeElement instanceof HTMLElement && activeElement.matches("a, button, input")) return activeElement.click()
    if (shown !== undefined) {
      void navigate({ to: "/w/$slug/tickets/$ticket", params: { slug, ticket: shown.identifier } })
    }
  }
  const group = "Board"
  useKeys([
    { keys: "ArrowDown", label: "Next card", group, run: along(1) },
    { keys: "ArrowUp", label: "Previous card", group, run: along(-1) },
    { keys: "ArrowRight", label: "Next column", group, run: aside(1) },
    { keys: "ArrowLeft", label: "Previous column", group, run: aside(-1) },
    { keys: "j", label: "Next card", group, run: along(1) },
    { keys: "k", label: "Previous card", group, run: along(-1) },
    { keys: " ", label: "Select the card, or no longer", group, run: () => current !== undefined && toggle(current) },
    { keys: "Enter", label: "Open the ticket", group, run: open },
    ...(mayChange
      ? [
          { keys: ">", label: "Move to the next column", group, run: shove(1, 0) },
          { keys: "<", label: "Move to the previous column", group, run: shove(-1, 0) },
          { keys: ".", label: "Move down", group, run: shove(0, 1) },
          { keys: ",", label: "Move up", group, run: shove(0, -1) }
        ]
      : [])
  ])
  return {
    drop,
    said: shown === undefined ? "" : `${shown.identifier} ${shown.title}, ${columns[at!.column]!.label}`
  }
}

const Board = (props: Props) => {
  const { columns } = props
  const { drop, said } = useCards(props)
  const { isMoreLeft, isMoreRight, scrolled: board } = useEdges()
  return (
    <div className="relative flex min-h-0 flex-1">
      <div
        aria-label="Board"
        className={`flex min-h-0 min-w-0 flex-1 gap-3 overflow-x-auto p-3 ${props.selection.current === undefined ? "-outline-offset-2" : "outline-none"}`}
        id="board"
        ref={board}
        role="group"
        tabIndex={0}
      >
        <p aria-live="polite" className="sr-only">
          {said}
        </p>
        {columns.map((column, index) => (
          <ColumnView
            key={column.key}
            {...props}
            column={column}
            onDrop={(ticket, place) => drop(ticket, index, place)}
          />
        ))}
      </div>
      {props.mayChange && <OrderConflict slug={props.slug} />}
      {isMoreLeft && <MoreLeft />}
      {isMoreRight && <MoreRight />}
    </div>
  )
}

export default Board
