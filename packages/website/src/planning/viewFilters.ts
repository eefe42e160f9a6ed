import type { UpdateView, View, ViewFiltersInput } from "@delivery/domain/planning/View"
import { filterNames, type TicketFilters, type TicketsSearch } from "./search.ts"

/** What a view keeps of a search, and what a search is of a view. Pure. */

export const filtersToSave = (search: TicketFilters): ViewFiltersInput =>
  Object.fromEntries(filterNames.map((name) => [name, search[name] ?? []])) as ViewFiltersInput

/** How the tickets of a search are shown. */
export const looksToSave = ({
  group = "status",
  layout = "list",
  sort = null
}: Pick<TicketsSearch, "group" | "layout"> & { readonly sort?: TicketsSearch["sort"] | null }): Required<
  Pick<UpdateView, "group" | "layout" | "sort">
> => ({ group, layout, sort })

/** Whether the tickets are shown otherwise than the view keeps it. */
export const hasOtherLooks = (view: View, search: TicketsSearch): boolean =>
  JSON.stringify(looksToSave(view)) !== JSON.stringify(looksToSave(search))

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
