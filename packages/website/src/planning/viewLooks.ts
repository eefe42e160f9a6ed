import type { UpdateView, View } from "@delivery/domain/planning/View"
import type { TicketsSearch } from "./search.ts"

/** How a view shows its tickets. Pure. */

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
