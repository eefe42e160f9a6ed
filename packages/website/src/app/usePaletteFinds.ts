import { queryOptions, useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useDeferredValue } from "react"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { productsQuery } from "../catalog/queries.ts"
import { ticketListQuery } from "../planning/queries.ts"
import { visible } from "../ui/format.ts"
import type { Command } from "./palette.ts"

/** What the server finds by words: tickets, and tests of products. */

/** As long as a search may be. */
const longest = 200
const mostWords = 10

const mostTickets = 12

/** Of each product that many tests, of that many products. */
const mostCases = 6
const mostProducts = 12

/** The tests of each product that have the words. A product that does not answer has none. */
const foundCasesQuery = (slug: string, products: ReadonlyArray<string>, q: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "cases", products, "found", q),
    queryFn: ({ signal }) =>
      Promise.all(
        products.map(async (product) => {
          const answer = await client.safe.cases.list({ params: { slug, product }, query: { q } }, { signal })
          return answer.ok ? answer.value.cases : []
        })
      )
  })

export const usePaletteFinds = (slug: string, typed: string): ReadonlyArray<Command> => {
  const navigate = useNavigate()
  const q = useDeferredValue(typed.trim().split(/\s+/).slice(0, mostWords).join(" ").slice(0, longest))
  const isAsking = q.length > 1
  const { data } = useQuery({ ...ticketListQuery(slug, { q }), enabled: isAsking })
  const { data: products } = useQuery(productsQuery(slug))
  const asked = products?.products.slice(0, mostProducts) ?? []
  const slugs = asked.map((product) => product.slug)
  const { data: cases } = useQuery({ ...foundCasesQuery(slug, slugs, q), enabled: isAsking && slugs.length > 0 })
  if (!isAsking) return []
  return [
    ...(data?.tickets ?? []).slice(0, mostTickets).map((one): Command => ({
      id: one.id,
      label: one.identifier,
      hint: visible(one.title),
      icon: "ticket",
      run: () => void navigate({ to: "/w/$slug/tickets/$ticket", params: { slug, ticket: one.identifier } })
    })),
    ...asked.flatMap((product, index) =>
      (cases?.[index] ?? []).slice(0, mostCases).map((one): Command => ({
        id: `${product.id} ${one.caseId}`,
        label: visible(one.title.slice(0, longest)),
        hint: `test of ${visible(product.name)}`,
        icon: "tests",
        run: () =>
          void navigate({
            to: "/w/$slug/products/$product/cases/$case",
            params: { slug, product: product.slug, case: one.caseId }
          })
      }))
    )
  ]
}
