import type { HidingFilter, View, ViewFiltersInput } from "@delivery/domain/planning/View"
import { filterNames, type TicketFilters, type TicketsSearch } from "./search.ts"

/** What a view keeps of a search, and what a search is of a view. Pure. */

export const filtersToSave = (search: TicketFilters): ViewFiltersInput =>
  Object.fromEntries(filterNames.map((name) => [name, search[name] ?? []])) as ViewFiltersInput

export const searchOf = ({
  filters,
  group,
  layout,
  sort
}: Pick<View, "filters" | "group" | "layout" | "sort">): TicketsSearch => ({
  ...(Object.fromEntries(
    filterNames.flatMap((name) => (filters[name].length === 0 ? [] : [[name, filters[name]]]))
  ) as TicketFilters),
  layout,
  group,
  ...(sort === null ? {} : { sort })
})

/** The filter of the scope of a view. */
export const inScope = (scope: View["scope"]): TicketFilters =>
  scope.kind === "team" ? { teams: [scope.key] } : scope.kind === "project" ? { projects: [scope.key] } : {}

/**
 * Whether no ticket that the viewer sees can match: one that is in what they cannot see is not shown to them, and no other value
 * of the filter is left.
 */
export const isShut = (hidden: ReadonlyArray<HidingFilter>, search: TicketFilters): boolean =>
  hidden.some((name) => (search[name] ?? []).length === 0)
