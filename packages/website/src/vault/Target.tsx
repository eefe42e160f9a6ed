import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { deploymentsQuery, environmentsQuery, productsQuery } from "../catalog/queries.ts"
import { Select } from "../ui/Select.tsx"
import type { Preferred } from "./preferred.ts"

/** The product and environment that a form is about. Until somebody says otherwise, the product runs there. */
export const useTarget = (slug: string, preferred: Preferred) => {
  const { data: products } = useQuery(productsQuery(slug))
  const { data: environments } = useQuery(environmentsQuery(slug))
  const { data: deployments, isPending } = useQuery(deploymentsQuery(slug))
  const [product, setProduct] = useState(preferred.product)
  const [environment, setEnvironment] = useState(preferred.environment)
  const allProducts = (products?.products ?? []).filter((one) => !one.archived)
  const allEnvironments = (environments?.environments ?? []).filter((one) => !one.archived)
  const deployed = (deployments?.deployments ?? []).filter(({ active }) => active)
  const ofProduct =
    allProducts.find((one) => one.slug === product) ??
    // What was chosen does not move when it is known what runs where.
    (isPending ? undefined : allProducts.find((one) => deployed.some((some) => some.product.slug === one.slug)))
  const where = allEnvironments.filter((one) =>
    deployed.some((some) => some.product.slug === ofProduct?.slug && some.environment.slug === one.slug)
  )
  const chosen = {
    product: ofProduct,
    environment:
      allEnvironments.find((one) => one.slug === environment) ??
      where.find((one) => one.class !== "production") ??
      where[0]
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
