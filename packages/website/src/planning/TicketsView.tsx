import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { Suspense, useMemo, useState } from "react"
import { FailureView } from "../api/FailureView.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { Button } from "../ui/Button.tsx"
import { Filter, pressedClass } from "../ui/Filter.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { BulkBar } from "./BulkBar.tsx"
import { columnsOf } from "./columns.ts"
import { isFiltered } from "./filters.ts"
import { statusesQuery } from "./queries.ts"
import { groupings, type Grouping, type TicketsSearch } from "./search.ts"
import { TicketFilterBar } from "./TicketFilterBar.tsx"
import { TicketList } from "./TicketList.tsx"
import type { TicketsData } from "./useTickets.ts"

/** Tickets as a list or a board, filtered, grouped, selected and changed together. */

const Board = later(() => import("./Board.tsx"))

export type SearchChange = { readonly [Name in keyof TicketsSearch]?: TicketsSearch[Name] | undefined }

interface Props {
  readonly slug: string
  readonly search: TicketsSearch
  readonly tickets: TicketsData
  readonly onSearch: (change: SearchChange) => void
  readonly onClear: () => void
  readonly onNew: () => void
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

const layouts = { list: "List", board: "Board" } as const

const Layouts = ({ layout, onSearch }: { readonly layout: "list" | "board"; readonly onSearch: Props["onSearch"] }) => (
  <span aria-label="Layout" className="flex items-center" role="group">
    {(["list", "board"] as const).map((one) => (
      <button
        aria-pressed={layout === one}
        className={pressedClass}
        key={one}
        onClick={() => onSearch({ layout: one })}
        type="button"
      >
        {layouts[one]}
      </button>
    ))}
  </span>
)

export const TicketsView = ({ onClear, onNew, onSearch, search, slug, tickets: { data, error, refetch } }: Props) => {
  const tickets = useMemo(() => data ?? [], [data])
  const role = useRole(slug)
  const mayChange = mayAct(role, "member")
  const selection = useSelection(tickets)
  const team = teamOf(tickets, search)
  const { data: statuses } = useQuery({ ...statusesQuery(slug, team), enabled: team !== undefined })
  const { data: template } = useQuery(statusesQuery(slug, undefined))
  const layout = search.layout ?? "list"
  const group: Grouping = search.group ?? "status"
  const ofTeam = team === undefined ? undefined : statuses?.statuses
  const columns = useMemo(() => columnsOf(tickets, group, ofTeam), [tickets, group, ofTeam])
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
      <TicketFilterBar
        onChange={onSearch}
        onClear={onClear}
        search={search}
        slug={slug}
        statuses={(ofTeam ?? template?.statuses ?? []).map(({ name }) => name)}
      >
        <Filter
          choices={groupings.map((value) => ({ value, label: value }))}
          isRequired
          noun="group"
          onChange={(value) => onSearch({ group: value === "status" ? undefined : (value as Grouping) })}
          value={group}
        />
        <Layouts layout={layout} onSearch={onSearch} />
      </TicketFilterBar>
      {error !== null && data === undefined ? (
        <FailureView error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <SkeletonRows rows={16} />
      ) : tickets.length === 0 && layout === "list" ? (
        isFiltered(search) ? (
          <Empty
            action={<Button onClick={onClear}>Clear the filters</Button>}
            icon="filter"
            title="No ticket matches these filters"
          />
        ) : (
          <Empty
            action={
              mayChange && (
                <Button look="primary" onClick={onNew} shortcut="n">
                  New ticket
                </Button>
              )
            }
            icon="ticket"
            title="Work is planned here: a ticket for each piece of it"
          />
        )
      ) : layout === "list" ? (
        <TicketList {...selecting} columns={columns} slug={slug} />
      ) : (
        <Suspense fallback={<SkeletonRows rows={8} />}>
          <Board {...selecting} columns={columns} mayMove={mayChange} slug={slug} />
        </Suspense>
      )}
      {mayChange && selection.selected.length > 0 && (
        <BulkBar onClear={selection.clear} slug={slug} statuses={ofTeam} tickets={selection.selected} />
      )}
    </>
  )
}
