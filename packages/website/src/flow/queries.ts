import { queryOptions } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

/** What is muted, of a product or of all: what is overdue first. */
export const mutesQuery = (slug: string, product?: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "mutes", product),
    queryFn: ({ signal }) =>
      client.mutes.list({ params: { slug }, query: product === undefined ? {} : { product } }, { signal })
  })

/** What proves that the tests of a ticket pass again. */
export const evidenceQuery = (slug: string, ticket: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "evidence", ticket),
    queryFn: ({ signal }) => client.evidence.get({ params: { slug, ticket } }, { signal })
  })

export const testRulesQuery = (slug: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "test-rules", "list"),
    queryFn: ({ signal }) => client.testRules.list({ params: { slug } }, { signal })
  })

/** The tickets that a rule has made. */
export const ruleTicketsQuery = (slug: string, rule: string) =>
  queryOptions({
    queryKey: workspaceKey(slug, "test-rules", "tickets", rule),
    queryFn: ({ signal }) => client.testRules.tickets({ params: { slug, testRule: rule } }, { signal })
  })
