import {
  draggable,
  dropTargetForElements,
  type ElementDropTargetEventBasePayload
} from "@atlaskit/pragmatic-drag-and-drop/element/adapter"
import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { Link, useNavigate } from "@tanstack/react-router"
import { useVirtualizer } from "@tanstack/react-virtual"
import { memo, useEffect, useRef, useState } from "react"
import { actorName } from "../api/actors.ts"
import { formatCount, visible } from "../ui/format.ts"
import { useKeys } from "../ui/keys.ts"
import { CategoryMark } from "./CategoryMark.tsx"
import type { Column } from "./columns.ts"
import { TagBadge } from "./TagBadge.tsx"
import type { Selecting } from "./TicketList.tsx"
import { besideAt, placeOf } from "./board.ts"
import { useTicketMove } from "./useTicketMove.ts"

/** Tickets in columns, moved by drag and by keys. Load it lazily: it brings the dragging. */

/** The height of a card with the gap below it, in pixels: as `--card` says. */
const cardHeight = 88

const overscan = 4

interface CardProps {
  readonly slug: string
  readonly ticket: TicketSummary
  readonly isCurrent: boolean
  readonly isSelected: boolean
  readonly mayMove: boolean
}

const Card = memo(({ isCurrent, isSelected, mayMove, slug, ticket }: CardProps) => {
  const element = useRef<HTMLAnchorElement>(null)
  const [isDragged, setDragged] = useState(false)
  const { id } = ticket
  useEffect(() => {
    if (element.current === null || !mayMove) return
    return draggable({
      element: element.current,
      getInitialData: () => ({ ticket: id }),
      onDragStart: () => setDragged(true),
      onDrop: () => setDragged(false)
    })
  }, [id, mayMove])
  return (
    <Link
      className={`bg-raised flex h-20 flex-col gap-1 rounded-md border p-2 ${isSelected ? "border-accent" : isCurrent ? "border-strong" : "border-border hover:border-strong"} ${isDragged ? "opacity-40" : ""}`}
      data-card={id}
      params={{ slug, ticket: ticket.identifier }}
      ref={element}
      tabIndex={-1}
      to="/w/$slug/tickets/$ticket"
    >
      <span className="text-muted flex items-center gap-1.5 text-xs">
        <CategoryMark status={ticket.status} />
        <span className="tabular">{ticket.identifier}</span>
        <span className="foreign min-w-0 flex-1 truncate text-right">
          {ticket.owner === null ? "" : actorName(ticket.owner)}
        </span>
        {isSelected && <span className="sr-only">selected</span>}
      </span>
      <span className="foreign line-clamp-1 font-medium">{visible(ticket.title)}</span>
      <span className="flex min-w-0 items-center gap-1 overflow-hidden">
        {ticket.project !== null && (
          <span className="text-muted foreign max-w-28 truncate text-xs">{visible(ticket.project.name)}</span>
        )}
        {ticket.tags.slice(0, 2).map((tag) => (
          <TagBadge key={tag.id} tag={tag} />
        ))}
      </span>
    </Link>
  )
})

interface ColumnProps {
  readonly column: Column
  readonly slug: string
  readonly current: string | undefined
  readonly selected: ReadonlySet<string>
  readonly mayMove: boolean
  /** A card was dropped before the one at this place. */
  readonly onDrop: (ticket: string, index: number) => void
}

const ColumnView = ({ column, current, mayMove, onDrop, selected, slug }: ColumnProps) => {
  const scroller = useRef<HTMLDivElement>(null)
  const frame = useRef<HTMLElement>(null)
  const [place, setPlace] = useState<number>()
  const { category, isOrdered, label, tickets } = column
  const dropped = useRef(onDrop)
  dropped.current = onDrop
  const count = tickets.length
  useEffect(() => {
    const [list, element] = [scroller.current, frame.current]
    if (list === null || element === null || !mayMove) return
    const indexAt = ({ location }: ElementDropTargetEventBasePayload) =>
      placeOf(location.current.input.clientY - list.getBoundingClientRect().top + list.scrollTop, cardHeight, count)
    return dropTargetForElements({
      element,
      onDrag: (event) => setPlace(indexAt(event)),
      onDragLeave: () => setPlace(undefined),
      onDrop: (event) => {
        setPlace(undefined)
        dropped.current(String(event.source.data["ticket"]), indexAt(event))
      }
    })
  }, [count, mayMove])
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
  return (
    <section
      aria-label={label}
      className={`bg-sunken flex h-full w-72 shrink-0 flex-col rounded-lg border ${place === undefined ? "border-transparent" : "border-accent"}`}
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
            return (
              <li className="absolute inset-x-0 top-0" key={key} style={{ transform: `translateY(${start}px)` }}>
                <Card
                  isCurrent={ticket.id === current}
                  isSelected={selected.has(ticket.id)}
                  mayMove={mayMove}
                  slug={slug}
                  ticket={ticket}
                />
              </li>
            )
          })}
          {place !== undefined && isOrdered && (
            <li
              aria-hidden="true"
              className="bg-accent-fill absolute inset-x-0 top-0 h-0.5 rounded-full"
              style={{ transform: `translateY(${place * cardHeight - 5}px)` }}
            />
          )}
        </ol>
      </div>
    </section>
  )
}

interface Props extends Selecting {
  readonly slug: string
  readonly columns: ReadonlyArray<Column>
  readonly mayMove: boolean
}

/** Where a ticket is: the column, and its place there. */
const find = (columns: ReadonlyArray<Column>, id: string | undefined) => {
  for (const [column, { tickets }] of columns.entries()) {
    const row = tickets.findIndex((one) => one.id === id)
    if (row >= 0) return { column, row }
  }
  return undefined
}

/** Puts a card into a column: before the one at a place where the column has an order of its own. */
const usePut = (columns: ReadonlyArray<Column>, slug: string) => {
  const move = useTicketMove(slug)
  return (id: string, to: number, place: number): boolean => {
    const from = find(columns, id)
    const target = columns[to]
    if (from === undefined || target === undefined) return false
    const source = columns[from.column]!
    const ticket = source.tickets[from.row]!
    const isSame = from.column === to
    // Without the card itself, those below it are one place higher.
    const at = isSame && place > from.row ? place - 1 : place
    if (isSame && (!target.isOrdered || at === from.row)) return false
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
}

/** Where the keyboard is among the cards, and how it walks and moves them. */
const useCards = ({ columns, mayMove, onCurrent, onToggle, slug }: Props) => {
  const navigate = useNavigate()
  const put = usePut(columns, slug)
  const [current, setCurrent] = useState<string>()
  const at = find(columns, current)
  const shown = at === undefined ? undefined : columns[at.column]!.tickets[at.row]
  const set = (id: string) => {
    setCurrent(id)
    onCurrent(id)
  }
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
    if (put(id, column, place)) set(id)
  }
  const shove = (columnStep: number, rowStep: number) => () => {
    if (at === undefined || current === undefined) return
    if (columnStep !== 0) drop(current, at.column + columnStep, 0)
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
  const toggle = () => current !== undefined && onToggle(current)
  useKeys([
    { keys: "ArrowDown", label: "Next card", group, run: along(1) },
    { keys: "ArrowUp", label: "Previous card", group, run: along(-1) },
    { keys: "ArrowRight", label: "Next column", group, run: aside(1) },
    { keys: "ArrowLeft", label: "Previous column", group, run: aside(-1) },
    { keys: "j", label: "Next card", group, run: along(1) },
    { keys: "k", label: "Previous card", group, run: along(-1) },
    { keys: "x", label: "Select the card, or no longer", group, run: toggle },
    { keys: "Enter", label: "Open the ticket", group, run: open },
    ...(mayMove
      ? [
          { keys: ">", label: "Move to the next column", group, run: shove(1, 0) },
          { keys: "<", label: "Move to the previous column", group, run: shove(-1, 0) },
          { keys: "J", label: "Move down", group, run: shove(0, 1) },
          { keys: "K", label: "Move up", group, run: shove(0, -1) }
        ]
      : [])
  ])
  return {
    current,
    drop,
    said: shown === undefined ? "" : `${shown.identifier} ${visible(shown.title)}, ${columns[at!.column]!.label}`
  }
}

const Board = (props: Props) => {
  const { columns, mayMove, selected, slug } = props
  const { current, drop, said } = useCards(props)
  return (
    <div
      aria-label="Board"
      className="flex min-h-0 flex-1 gap-3 overflow-x-auto p-3"
      id="board"
      role="group"
      tabIndex={0}
    >
      <p aria-live="polite" className="sr-only">
        {said}
      </p>
      {columns.map((column, index) => (
        <ColumnView
          column={column}
          current={current}
          key={column.key}
          mayMove={mayMove}
          onDrop={(ticket, place) => drop(ticket, index, place)}
          selected={selected}
          slug={slug}
        />
      ))}
    </div>
  )
}

export default Board
