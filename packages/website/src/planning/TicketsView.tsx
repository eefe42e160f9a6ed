import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { Suspense, useEffect, useMemo, useState } from "react"
import { FailureView } from "../api/FailureView.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { columnsOf } from "./columns.ts"
import { isFiltered } from "./filters.ts"
import { statusesQuery } from "./queries.ts"
import type { TicketsSearch } from "./search.ts"
import { TicketList } from "./TicketList.tsx"
import type { TicketsData } from "./useTickets.ts"

/** Tickets as a list or a board, filtered, grouped, selected and changed together. */

const Board = later(() => import("./Board.tsx"))
const BulkBar = later(() => import("./BulkBar.tsx"))
const NoTickets = later(() => import("./NoTickets.tsx"))
const TicketFilterBar = later(() => import("./TicketFilterBar.tsx"))

export type SearchChange = { readonly [Name in keyof TicketsSearch]?: TicketsSearch[Name] | undefined }

interface Props {
  readonly slug: string
  readonly search: TicketsSearch
  readonly tickets: TicketsData
  readonly onSearch: (change: SearchChange) => void
  readonly onClear: () => void
}

const useSelection = (tickets: ReadonlyArray<TicketSummary>) => {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [current, setCurrent] = useState<string>()
  // Those that have left the list are no longer selected.
  const selected = useMemo(() => tickets.filter(({ id }) => ids.has(id)), [ids, tickets])
  return {
    selected,
    ids,
    current,
    onCurrent: setCurrent,
    onToggle: (id: string) => {
      const next = new Set(ids)
      if (!next.delete(id)) next.add(id)
      setIds(next)
    },
    selectAll: () => setIds(new Set(tickets.map(({ id }) => id))),
    clear: () => setIds(new Set())
  }
}

/** The one team that all tickets are of. */
const teamOf = (tickets: ReadonlyArray<TicketSummary>, search: TicketsSearch): string | undefined => {
  if (search.teams?.length === 1) return search.teams[0]
  const teams = new Set(tickets.map(({ team }) => team.key))
  return teams.size === 1 ? [...teams][0] : undefined
}

export const TicketsView = ({ onClear, onSearch, search, slug, tickets: { data, error, refetch } }: Props) => {
  const tickets = useMemo(() => data ?? [], [data])
  const role = useRole(slug)
  const mayChange = mayAct(role, "member")
  const selection = useSelection(tickets)
  const team = teamOf(tickets, search)
  const { data: statuses } = useQuery({ ...statusesQuery(slug, team), enabled: team !== undefined })
  const { data: template } = useQuery(statusesQuery(slug, undefined))
  const layout = search.layout ?? "list"
  const group = search.group ?? "status"
  const ofTeam = team === undefined ? undefined : statuses?.statuses
  const columns = useMemo(() => columnsOf(tickets, group, ofTeam), [tickets, group, ofTeam])
  // The board is asked for beside its tickets, not after them.
  useEffect(() => {
    if (layout === "board") void Board.preload()
  }, [layout])
  useKeys([
    {
      keys: "v",
      label: "As a board or as a list",
      group: "Tickets",
      run: () => onSearch({ layout: layout === "list" ? "board" : "list" })
    },
    ...(mayChange ? [{ keys: "X", label: "Select all", group: "Tickets", run: selection.selectAll }] : [])
  ])
  const selecting = { selected: selection.ids, onToggle: selection.onToggle, onCurrent: selection.onCurrent }
  return (
    <>
      <Suspense fallback={<div className="border-border h-10 border-b" />}>
        <TicketFilterBar
          onChange={onSearch}
          onClear={onClear}
          search={search}
          slug={slug}
          statuses={(ofTeam ?? template?.statuses ?? []).map(({ name }) => name)}
        />
      </Suspense>
      {error !== null && data === undefined ? (
        <FailureView error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <SkeletonRows rows={16} />
      ) : tickets.length === 0 && layout === "list" ? (
        <Suspense fallback={null}>
          <NoTickets mayChange={mayChange} onClear={isFiltered(search) ? onClear : undefined} />
        </Suspense>
      ) : layout === "list" ? (
        <TicketList {...selecting} columns={columns} slug={slug} />
      ) : (
        <Suspense fallback={<SkeletonRows rows={8} />}>
          <Board {...selecting} columns={columns} mayMove={mayChange} slug={slug} />
        </Suspense>
      )}
      {mayChange && selection.selected.length > 0 && (
        <Suspense fallback={null}>
          <BulkBar onClear={selection.clear} slug={slug} statuses={ofTeam} tickets={selection.selected} />
        </Suspense>
      )}
    </>
  )
}
