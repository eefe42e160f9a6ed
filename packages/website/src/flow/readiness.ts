import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { askAgainIn } from "./askAgain.ts"

/** Whether a version may go out, and what says so. */

/** Of the version, or of the one that the policy names. */
export const readinessQuery = (slug: string, product: string, environment: string, version?: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "readiness", product, environment, version ?? null),
    queryFn: ({ signal }) =>
      client.readiness.get(
        { params: { slug, product, environment }, query: version === undefined ? {} : { version } },
        { signal }
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data === undefined ? false : askAgainIn(state.data, state.dataUpdatedAt, Date.now()),
    refetchIntervalInBackground: true
  })

export const policyQuery = (slug: string, product: string, environment: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "readiness", product, environment, "policy"),
    queryFn: ({ signal }) => client.readiness.policy({ params: { slug, product, environment } }, { signal })
  })

/** How its secrets differ from what the product has loaded, and from those of the environment that versions come from. */
export const driftQuery = (slug: string, product: string, environment: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "readiness", product, environment, "drift"),
    queryFn: ({ signal }) => client.readiness.drift({ params: { slug, product, environment }, query: {} }, { signal })
  })
