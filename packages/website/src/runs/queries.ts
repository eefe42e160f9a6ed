import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { queryOf, type RunFilters } from "./filters.ts"

export const runsQuery = (slug: string, filters: RunFilters) =>
  infiniteQueryOptions({
    queryKey: workspaceKey(slug, "runs", filters),
    queryFn: ({ pageParam, signal }) =>
      client.testRuns.list(
        { params: { slug }, query: { ...queryOf(filters), ...(pageParam === null ? {} : { cursor: pageParam }) } },
        { signal }
      ),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.nextCursor,
    // What was found stays until the next filter has found something.
    placeholderData: (previous, query) => (query?.queryKey[1] === slug ? previous : undefined)
  })

/** The newest runs: of all, of a product, in an environment. Nothing stands in for them until they are there. */
export const latestRunsQuery = (slug: string, of: Pick<RunFilters, "product" | "environment"> = {}) =>
  queryOptions({
    queryKey: workspaceKey(slug, "runs", "latest", of),
    queryFn: ({ signal }) => client.testRuns.list({ params: { slug }, query: of }, { signal })
  })

/** How many pages of 50 deployments are asked for at most. */
const mostPages = 10

/** The newest finished run of each deployment. */
export const deploymentRunsQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "runs", "of deployments"),
    queryFn: ({ signal }) => {
      const from = async (cursor: number | undefined, left: number): Promise<ReadonlyArray<TestRunSummary>> => {
        const query = { latest: "true", ...(cursor === undefined ? {} : { cursor }) } as const
        const { nextCursor, runs } = await client.testRuns.list({ params: { slug }, query }, { signal })
        return nextCursor === null || left === 1 ? runs : [...runs, ...(await from(nextCursor, left - 1))]
      }
      return from(undefined, mostPages)
    }
  })

export const runQuery = (slug: string, run: number) =>
  queryOptions({
    queryKey: workspaceKey(slug, "run", run),
    queryFn: ({ signal }) => client.testRuns.get({ params: { slug, run } }, { signal })
  })

/** Of the cases, since they name tickets: whatever changes one of these has them read again. */
export const runErrorsQuery = (slug: string, run: number) =>
  queryOptions({
    queryKey: workspaceKey(slug, "cases", "errors", run),
    queryFn: ({ signal }) => client.cases.errors({ params: { slug, run } }, { signal })
  })

export const caseQuery = (slug: string, product: string, caseId: string, environment?: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "cases", product, caseId, environment),
    queryFn: ({ signal }) =>
      client.cases.get(
        { params: { slug, product, caseId }, query: environment === undefined ? {} : { environment } },
        { signal }
      )
  })

/** Which tests of a product are asked for. */
interface CaseFilters {
  readonly environment?: string
  readonly state?: "failing" | "flaky" | "slow" | "muted" | "passing"
  readonly q?: string
}

/** The newest results come with the cases, so that a page of them asks once. */
export const listedResults = 30

export const casesQuery = (slug: string, product: string, filters: CaseFilters) =>
  infiniteQueryOptions({
    queryKey: workspaceKey(slug, "cases", product, "list", filters),
    queryFn: ({ pageParam, signal }) =>
      client.cases.list(
        {
          params: { slug, product },
          query: { ...filters, results: listedResults, ...(pageParam === null ? {} : { cursor: pageParam }) }
        },
        { signal }
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: (previous, query) => (query?.queryKey[3] === product ? previous : undefined)
  })

export const trendsQuery = (slug: string, product: string, from: string, environment: string | undefined) =>
  queryOptions({
    queryKey: workspaceKey(slug, "cases", product, "trends", from, environment),
    queryFn: ({ signal }) =>
      client.cases.trends(
        { params: { slug, product }, query: { from, ...(environment === undefined ? {} : { environment }) } },
        { signal }
      )
  })

/** Leases are no events: they are asked for again while they are looked at. */
const leaseMillis = 1_000

/** The hour that goes on, and what ends, is counted again each minute. */
const usageMillis = 60_000

export const semaphoreUsageQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "semaphores", "usage"),
    queryFn: ({ signal }) => client.semaphores.usage({ params: { slug } }, { signal }),
    refetchInterval: ({ state }) => (state.error === null ? usageMillis : false)
  })

export const semaphoresQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "semaphores", "list"),
    queryFn: ({ signal }) => client.semaphores.list({ params: { slug } }, { signal }),
    refetchInterval: ({ state }) => (state.error === null ? leaseMillis : false)
  })
