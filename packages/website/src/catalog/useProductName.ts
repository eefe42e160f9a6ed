import { useQuery } from "@tanstack/react-query"
import { productsQuery } from "./queries.ts"

/** What products are called, by their slugs: these are shown until the names are known, and of those that are archived. */
export const useProductName = (slug: string) => {
  const { data } = useQuery(productsQuery(slug))
  return (product: string): string => data?.products.find((one) => one.slug === product)?.name ?? product
}
