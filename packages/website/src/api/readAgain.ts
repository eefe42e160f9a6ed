import type { FetchQueryOptions, QueryClient, QueryKey } from "@tanstack/react-query"

/** What the server has by now: an answer that is on its way already may have been read before the last change. */
export const readAgain = async <Answer, Data, Key extends QueryKey>(
  queries: QueryClient,
  query: FetchQueryOptions<Answer, Error, Data, Key>
): Promise<Data> => {
  await queries.cancelQueries({ queryKey: query.queryKey, exact: true })
  return queries.fetchQuery({ ...query, staleTime: 0 })
}
