import { queryOptions } from "@tanstack/react-query"
import type { SavedFilter } from "@delivery/domain/runs/SavedFilter"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { withoutUndefined } from "../ui/address.ts"
import { queryOf, readRunFilters, type RunFilters } from "./filters.ts"
import { type CasesSearch, readCasesSearch } from "./search.ts"

/** Filters that were saved under names, and what stands in the address for them. */

export type Filtered =
  | { readonly screen: "runs"; readonly search: RunFilters }
  | { readonly screen: "tests"; readonly search: CasesSearch }

export const savedFiltersQuery = (slug: string, screen: SavedFilter["screen"]) =>
  queryOptions({
    queryKey: workspaceKey(slug, "filters", screen),
    queryFn: ({ signal }) => client.savedFilters.list({ params: { slug }, query: { screen } }, { signal })
  })

/** What is shown of a list where the filter is chosen. */
export const filteredBy = ({ product, query, screen }: Pick<SavedFilter, "product" | "query" | "screen">): Filtered =>
  screen === "runs"
    ? { screen, search: readRunFilters(query) }
    : { screen, search: readCasesSearch({ ...query, product }) }

/** Where the list is shown as the filter has it. */
export const filteredLink = (slug: string, filter: SavedFilter) => ({
  to: filter.screen === "runs" ? ("/w/$slug/test-runs" as const) : ("/w/$slug/tests" as const),
  params: { slug },
  search: filteredBy(filter).search
})

/** What is sent to keep what is shown. */
export const toSave = (filtered: Filtered): Pick<SavedFilter, "product" | "query"> => {
  if (filtered.screen === "runs") return { product: null, query: queryOf(filtered.search) }
  const { product, ...query } = filtered.search
  return { product: product ?? null, query: withoutUndefined<SavedFilter["query"]>(query) }
}

/** What is filtered, in a word or two each. */
export const wordsOf = ({ product, query }: Pick<SavedFilter, "product" | "query">): ReadonlyArray<string> =>
  Object.entries({ ...(product === null ? {} : { product }), ...query }).map(([name, value]) =>
    name === "mine" || name === "latest" ? name : name === "q" ? `“${value}”` : value
  )

const sorted = ({ search }: Filtered): string =>
  JSON.stringify(Object.entries(search).toSorted(([one], [other]) => (one < other ? -1 : 1)))

export const isSame = (one: Filtered, other: Filtered): boolean => sorted(one) === sorted(other)

/** Whether there is anything to keep: the tests are always those of a product. */
export const hasFilters = ({ screen, search }: Filtered): boolean =>
  Object.keys(search).some((name) => screen === "runs" || name !== "product")
