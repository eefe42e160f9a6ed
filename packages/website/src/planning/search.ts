import { type Address, oneAt, textAt, textsAt, withoutUndefined } from "../ui/address.ts"

/** Which tickets are shown, and how, as it stands in the address. A ticket matches one value of each filter that has any. */

/** The filters, by the names that views of the API have. */
export const filterNames = ["categories", "statuses", "owners", "tags", "teams", "projects", "milestones"] as const
export type FilterName = (typeof filterNames)[number]

export type TicketFilters = { readonly [Name in FilterName]?: ReadonlyArray<string> }

export const groupings = ["status", "owner", "project", "milestone"] as const
export type Grouping = (typeof groupings)[number]

/** Other orders than their own: the last one changed, or made, first. */
export const sortings = ["updated", "created"] as const
export type Sorting = (typeof sortings)[number]

export interface TicketsSearch extends TicketFilters {
  readonly q?: string
  readonly layout?: "list" | "board"
  readonly group?: Grouping
  readonly sort?: Sorting
  /** The filters are those of the address, and no longer those of the view. */
  readonly own?: true
}

export const readTicketsSearch = (address: Address): TicketsSearch =>
  withoutUndefined({
    ...(Object.fromEntries(filterNames.map((name) => [name, textsAt(address, name)])) as TicketFilters),
    q: textAt(address, "q"),
    layout: oneAt(address, "layout", ["list", "board"] as const),
    group: oneAt(address, "group", groupings),
    sort: oneAt(address, "sort", sortings),
    own: String(address["own"]) === "true" ? (true as const) : undefined
  })
