import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { environmentsQuery, productsQuery } from "../catalog/queries.ts"
import { Select } from "../ui/Select.tsx"

/** The product and environment that a form is about. */
export const useTarget = (slug: string, preferred: string | undefined) => {
  const { data: products } = useQuery(productsQuery(slug))
  const { data: environments } = useQuery(environmentsQuery(slug))
  const [product, setProduct] = useState(preferred)
  const [environment, setEnvironment] = useState<string>()
  const allProducts = (products?.products ?? []).filter((one) => !one.archived)
  const allEnvironments = (environments?.environments ?? []).filter((one) => !one.archived)
  const safest = allEnvironments.find((one) => one.class !== "production") ?? allEnvironments[0]
  const chosen = {
    product: allProducts.find((one) => one.slug === product) ?? allProducts[0],
    environment: allEnvironments.find((one) => one.slug === environment) ?? safest
  }
  return {
    ...chosen,
    fields: (
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Select
          label="Product"
          onChange={setProduct}
          options={allProducts.map(({ name, slug }) => ({ value: slug, label: name }))}
          value={chosen.product?.slug ?? ""}
        />
        <Select
          label="Environment"
          onChange={setEnvironment}
          options={allEnvironments.map((one) => ({
            value: one.slug,
            label: one.name,
            ...(one.class === "production" ? { hint: "production" } : {})
          }))}
          value={chosen.environment?.slug ?? ""}
        />
      </div>
    )
  }
}
