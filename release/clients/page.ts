// A page that lists the products of a workspace, with the small client.
import { createClient } from "@delivery/client/web"

export const productsOf = async (baseUrl: string, apiKey: string): Promise<ReadonlyArray<string>> => {
  const { products } = await createClient({ baseUrl, apiKey }).products.list({ params: { slug: "main" } })
  return products.map(({ slug }) => slug)
}
