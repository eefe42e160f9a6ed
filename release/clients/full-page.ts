// The same page with the whole client, which checks what it sends and decodes what it gets.
import { createClient } from "@delivery/client"

export const productsOf = async (baseUrl: string, apiKey: string): Promise<ReadonlyArray<string>> => {
  const { products } = await createClient({ baseUrl, apiKey }).products.list({ params: { slug: "main" } })
  return products.map(({ slug }) => slug)
}
