import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { mayAct, useRole } from "../api/session.ts"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { BoardSkeleton } from "./BoardSkeleton.tsx"
import { columnsOf } from "./columns.ts"
import { isFiltered } from "./filters.ts"
import { statusesQuery } from "./queries.ts"
import type { TicketsSearch } from "./search.ts"
import { type ShownProps, ShownTickets } from "./ShownTickets.tsx"
import { useSelection } from "./useSelection.ts"
import type { TicketsData } from "./useTickets.ts"

/** Tickets as a list or a board, filtered, grouped, selected and changed together. */

const Skeleton = ({ layout }: Pick<ShownProps, "layout">) =>
  layout === "board" ? <BoardSkeleton /> : <SkeletonRows rows={16} />
const Grouped = later(() => import("./Grouped.tsx"), Skeleton)
const NoTickets = later(() => import("./NoTickets.tsx"))
const TicketFilterBar = later(
  () => import("./TicketFilterBar.tsx"),
  () => <div className="border-border h-10 border-b" />
)

export type SearchChange = { readonly [Name in keyof TicketsSearch]?: TicketsSearch[Name] | undefined }

interface Props {
  readonly slug: string
  readonly search: TicketsSearch
  readonly tickets: TicketsData
  readonly onSearch: (change: SearchChange) => void
  readonly onClear: () => void
  /** They are also filtered by what the person cannot see. */
  readonly isRestricted?: boolean
}

/** The one team that all tickets are of. */
const teamOf = (tickets: ReadonlyArray<TicketSummary>, search: TicketsSearch): string | undefined => {
  if (search.teams?.length === 1) return search.teams[0]
  const teams = new Set(tickets.map(({ team }) => team.key))
  return teams.size === 1 ? [...teams][0] : undefined
}

export const TicketsView = ({ isRestricted = false, onClear, onSearch, search, slug, tickets: asked }: Props) => {
  const { data, error, refetch } = asked
  const tickets = useMemo(() => data ?? [], [data])
  const mayChange = mayAct(useRole(slug), "member")
  const selection = useSelection()
  const team = teamOf(tickets, search)
  const { data: ofTeam } = useQuery({ ...statusesQuery(slug, team), enabled: team !== undefined })
  const { data: template } = useQuery(statusesQuery(slug, undefined))
  const { group = "status", layout = "list", sort } = search
  const statuses = team === undefined ? undefined : ofTeam?.statuses
  const columns = useMemo(() => columnsOf(tickets, statuses), [tickets, statuses])
  useKeys([
    {
      keys: "v",
      label: "As a board or as a list",
      group: "Tickets",
      run: () => onSearch({ layout: layout === "list" ? "board" : "list" })
    }
  ])
  const shown = { layout, mayChange, selection, slug }
  // The empty board of a team or of a project is where its first tickets are made.
  const { projects, teams, ...narrower } = search
  const isEmptied = isFiltered(narrower)
  return (
    <>
      <TicketFilterBar
        onChange={onSearch}
        onClear={onClear}
        search={search}
        slug={slug}
        statuses={(statuses ?? template?.statuses ?? []).map(({ name }) => name)}
      />
      {data === undefined && error === null ? (
        <Skeleton layout={layout} />
      ) : data === undefined || (tickets.length === 0 && (layout === "list" || isEmptied)) ? (
        <NoTickets
          error={error}
          isRestricted={isRestricted}
          mayChange={mayChange}
          onClear={isFiltered(search) ? onClear : undefined}
          onRetry={refetch}
        />
      ) : group === "status" && sort === undefined ? (
        <ShownTickets {...shown} columns={columns} />
      ) : (
        <Grouped {...shown} search={search} statuses={statuses} tickets={tickets} />
      )}
    </>
  )
}
