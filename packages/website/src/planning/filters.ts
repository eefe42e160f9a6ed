import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { categories as allCategories } from "./categories.ts"
import type { TicketsAsked } from "./queries.ts"
import { filterNames, type TicketFilters, type TicketsSearch } from "./search.ts"

/** Which tickets match. Pure. */

const filtersOf = (search: TicketFilters): TicketFilters =>
  Object.fromEntries(
    filterNames.flatMap((name) => {
      const values = search[name]
      return values === undefined || values.length === 0 ? [] : [[name, values]]
    })
  )

export const isFiltered = (search: TicketsSearch): boolean =>
  search.q !== undefined || Object.keys(filtersOf(search)).length > 0

const only = (values: ReadonlyArray<string> | undefined): string | undefined =>
  values?.length === 1 ? values[0] : undefined

/** What the server is asked for: as little as it can tell apart. The rest is for `matches`. */
export const askedOf = ({ categories = [], q, ...filters }: TicketsSearch): ReadonlyArray<TicketsAsked> => {
  const [team, project, owner] = [only(filters.teams), only(filters.projects), only(filters.owners)]
  const milestone = only(filters.milestones)
  const rest = {
    ...(q === undefined ? {} : { q }),
    ...(team === undefined ? {} : { team }),
    ...(project === undefined ? {} : { project }),
    ...(owner === undefined ? {} : { owner }),
    ...(milestone === undefined ? {} : { milestone })
  }
  const known = allCategories.filter((category) => categories.includes(category))
  // Words find the best hundred of all.
  return known.length === 0 || q !== undefined ? [rest] : known.map((category) => ({ ...rest, category }))
}

const hasOne = (values: ReadonlyArray<string> | undefined, isOne: (value: string) => boolean): boolean =>
  values === undefined || values.length === 0 || values.some(isOne)

/** Whether a ticket matches one value of each filter. `me` is whoever is signed in. */
export const matches = (ticket: TicketSummary, filters: TicketFilters, me: string | undefined): boolean =>
  hasOne(filters.categories, (one) => ticket.status.category === one) &&
  hasOne(filters.statuses, (one) => ticket.status.name.toLowerCase() === one.toLowerCase()) &&
  hasOne(filters.owners, (one) =>
    one === "none" ? ticket.owner === null : ticket.owner?.id === (one === "me" ? me : one)
  ) &&
  hasOne(filters.tags, (one) => ticket.tags.some(({ id }) => id === one)) &&
  hasOne(filters.teams, (one) => ticket.team.key === one) &&
  hasOne(filters.projects, (one) => ticket.project?.slug === one) &&
  hasOne(filters.milestones, (one) =>
    one === "none" ? ticket.milestone === null : `${ticket.project?.slug}/${ticket.milestone?.number}` === one
  )
