import { useQuery } from "@tanstack/react-query"
import { environmentsQuery } from "./queries.ts"

/** What environments are called, by their slugs: these are shown until the names are known, and of those that are archived. */
export const useEnvironmentName = (slug: string) => {
  const { data } = useQuery(environmentsQuery(slug))
  return (environment: string): string =>
    data?.environments.find((one) => one.slug === environment)?.name ?? environment
}
