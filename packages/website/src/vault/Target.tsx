import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { deploymentsQuery, environmentsQuery, productsQuery } from "../catalog/queries.ts"
import { Select } from "../ui/Select.tsx"
import type { Preferred } from "./preferred.ts"

interface FirstProps {
  readonly slug: string
  /** What there is none of yet. */
  readonly what: "product" | "environment" | undefined
}

/** What is to be made before anything can be put there. */
const First = ({ slug, what }: FirstProps) =>
  what !== undefined && (
    <p className="bg-warning-soft text-warning rounded-md px-3 py-2 sm:col-span-2" role="status">
      There is no {what} yet.{" "}
      <Link className="underline" params={{ slug }} to="/w/$slug/deployments">
        Add {what === "product" ? "a product" : "an environment"}
      </Link>{" "}
      first, and where it runs.
    </p>
  )

/**
 * The product and environment that a form is about. Until somebody says otherwise, the product runs there. With `isAsked` no product
 * is chosen for them where there are several.
 */
export const useTarget = (slug: string, preferred: Preferred, isAsked = false) => {
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
    (isPending || (isAsked && allProducts.length > 1)
      ? undefined
      : allProducts.find((one) => deployed.some((some) => some.product.slug === one.slug)))
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
        <First
          slug={slug}
          what={
            products?.products !== undefined && allProducts.length === 0
              ? "product"
              : environments?.environments !== undefined && allEnvironments.length === 0
                ? "environment"
                : undefined
          }
        />
        <Select
          label="Product"
          onChange={setProduct}
          options={allProducts.map(({ name, slug }) => ({ value: slug, label: name }))}
          unchosen="Choose a product"
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
          unchosen="Choose an environment"
          value={chosen.environment?.slug ?? ""}
        />
      </div>
    )
  }
}
