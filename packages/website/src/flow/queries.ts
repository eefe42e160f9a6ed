import type { TestRule } from "@delivery/domain/flow/TestRule"
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

/** The open ticket about each of some tests of a product, in their order; null where none is, as where no finished run has the test. */
export const ticketsAboutQuery = (slug: string, product: string, caseIds: ReadonlyArray<string>) =>
  queryOptions({
    queryKey: workspaceKey(slug, "cases", product, "tickets", caseIds),
    queryFn: async ({ signal }) => {
      const found = await Promise.all(
        caseIds.map((caseId) => client.safe.cases.get({ params: { slug, product, caseId }, query: {} }, { signal }))
      )
      return found.map((one) => (one.ok ? one.value.ticket : null))
    }
  })

/** The newest runs that a rule may be for. What is found contains the branch. */
export const ruleRunsQuery = (
  slug: string,
  { branch, environment, product }: Pick<TestRule, "product" | "environment" | "branch">
) =>
  queryOptions({
    queryKey: workspaceKey(slug, "runs", "of-rule", product, environment, branch),
    queryFn: ({ signal }) =>
      client.testRuns.list(
        {
          params: { slug },
          query: {
            product,
            ...(environment === null ? {} : { environment }),
            ...(branch === null ? {} : { q: branch })
          }
        },
        { signal }
      )
  })
