import type { ListedCase } from "@delivery/domain/runs/Case"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useDeferredValue } from "react"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { productsQuery } from "../catalog/queries.ts"
import { ticketListQuery } from "../planning/queries.ts"
import { beginningsOf, type FoundCases, narrowed } from "./foundCases.ts"
import { latestRunsQuery } from "../runs/queries.ts"
import { type Command, runNumberOf } from "./palette.ts"
import { hintOfRun, useRunCommand } from "./usePaletteThings.ts"

/** What the server finds by words: tickets, and tests of products. */

/** As long as a search may be. */
const longest = 200
const mostWords = 10

const mostTickets = 12

/** Of each product that many tests, of that many products. */
const mostCases = 6
const mostProducts = 12

/** Fewer characters find too much. */
const shortest = 2

type Found = ReadonlyArray<FoundCases<ListedCase>>

const foundKey = (slug: string, products: ReadonlyArray<string>, q: string) =>
  workspaceKey(slug, "cases", products, "found", q)

/**
 * The tests of each product that have the words. A product that does not answer has none; one of which all are known that have the
 * beginning of the words is not asked again.
 */
const foundCasesQuery = (slug: string, products: ReadonlyArray<string>, q: string) =>
  queryOptions({
    queryKey: foundKey(slug, products, q),
    queryFn: ({ client: queries, signal }) => {
      const known = beginningsOf(q, shortest).flatMap((beginning) => {
        const state = queries.getQueryState<Found>(foundKey(slug, products, beginning))
        return state?.data === undefined || state.isInvalidated ? [] : [state.data]
      })
      const found = async (product: string, index: number): Promise<Found[number]> => {
        const now = Date.now()
        for (const one of known) {
          const narrower = narrowed(one[index], q, now)
          if (narrower !== undefined) return narrower
        }
        const answer = await client.safe.cases.list({ params: { slug, product }, query: { q } }, { signal })
        return answer.ok
          ? { cases: answer.value.cases, isWhole: answer.value.nextCursor === null, at: now }
          : { cases: [], isWhole: false, at: now }
      }
      return Promise.all(products.map(found))
    }
  })

/** A run that is older than those that are known, by its number. It is offered at once, and no more where it turns out to be gone. */
const useRun = (slug: string, typed: string): ReadonlyArray<Command> => {
  const commandOfRun = useRunCommand(slug)
  const { data: latest } = useQuery(latestRunsQuery(slug))
  const number = runNumberOf(typed) ?? 0
  const runs = latest?.runs ?? []
  const isOlder = number > 0 && latest?.nextCursor != null && number < (runs.at(-1)?.number ?? 0)
  // The list has no tests, of which a run may have thousands.
  const { data } = useQuery({
    queryKey: workspaceKey(slug, "runs", "numbered", number),
    queryFn: ({ signal }) => client.testRuns.list({ params: { slug }, query: { cursor: number + 1 } }, { signal }),
    enabled: isOlder
  })
  const found = data?.runs.find((run) => run.number === number)
  if (!isOlder || (data !== undefined && found === undefined)) return []
  return [{ ...commandOfRun(number), id: `run ${number}`, hint: found === undefined ? "" : hintOfRun(found) }]
}

export const usePaletteFinds = (slug: string, typed: string): ReadonlyArray<Command> => {
  const navigate = useNavigate()
  const q = useDeferredValue(typed.trim().split(/\s+/).slice(0, mostWords).join(" ").slice(0, longest))
  const run = useRun(slug, typed)
  const isAsking = q.length >= shortest
  const { data } = useQuery({ ...ticketListQuery(slug, { q }), enabled: isAsking })
  const { data: products } = useQuery(productsQuery(slug))
  const asked = products?.products.slice(0, mostProducts) ?? []
  const slugs = asked.map((product) => product.slug)
  const { data: cases } = useQuery({ ...foundCasesQuery(slug, slugs, q), enabled: isAsking && slugs.length > 0 })
  if (!isAsking) return run
  return [
    ...run,
    ...(data?.tickets ?? []).slice(0, mostTickets).map((one): Command => ({
      id: one.id,
      label: one.identifier,
      hint: one.title,
      icon: "ticket",
      run: () => void navigate({ to: "/w/$slug/tickets/$ticket", params: { slug, ticket: one.identifier } })
    })),
    ...asked.flatMap((product, index) =>
      (cases?.[index]?.cases ?? []).slice(0, mostCases).map((one): Command => ({
        id: `${product.id} ${one.caseId}`,
        label: one.title.slice(0, longest),
        hint: `test of ${product.name}`,
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
