import { useQuery } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { environmentsQuery, productsQuery } from "../catalog/queries.ts"
import { serviceUrl } from "../api/client.ts"
import { Filter } from "../ui/Filter.tsx"
import { Empty } from "../ui/States.tsx"
import { latestRunsQuery } from "./queries.ts"

/** The product that tests over time are of, and the environment that their runs ran in. */

export interface CasesTarget {
  readonly product?: string
  readonly environment?: string
}

/** The product that is asked for, or that of the newest run, or the first one; undefined while that is unknown, null where there is none. */
export const useProduct = (slug: string, asked: string | undefined): string | null | undefined => {
  const { data } = useQuery(productsQuery(slug))
  const { data: latest, isPending } = useQuery(latestRunsQuery(slug))
  if (asked !== undefined) return asked
  if (data === undefined || isPending) return undefined
  const [newest] = latest?.runs ?? []
  return newest?.product.slug ?? (data.products.find((one) => !one.archived) ?? data.products[0])?.slug ?? null
}

interface Props {
  readonly slug: string
  readonly label: string
  readonly product: string | undefined
  readonly environment: string | undefined
  readonly onChange: (change: { readonly [Name in keyof CasesTarget]?: string | undefined }) => void
  readonly children?: ReactNode
}

export const CasesFilterBar = ({ children, environment, label, onChange, product, slug }: Props) => {
  const { data: products } = useQuery(productsQuery(slug))
  const { data: environments } = useQuery(environmentsQuery(slug))
  return (
    <search aria-label={label} className="border-border flex flex-wrap items-center gap-1 border-b px-3 py-1.5">
      <Filter
        choices={(products?.products ?? []).map((one) => ({ value: one.slug, label: one.name }))}
        isRequired
        noun="product"
        onChange={(next) => onChange({ product: next })}
        value={product}
      />
      <Filter
        choices={(environments?.environments ?? []).map((one) => ({ value: one.slug, label: one.name }))}
        noun="environment"
        onChange={(next) => onChange({ environment: next })}
        value={environment}
      />
      {children}
    </search>
  )
}

export const NoProduct = ({ slug }: { readonly slug: string }) => (
  <Empty
    command={`curl -X POST ${serviceUrl}/v1/workspaces/${slug}/products \\\n  -H "Authorization: Bearer $DELIVERY_API_KEY" -H "Content-Type: application/json" \\\n  -d '{"slug": "shop", "name": "Shop", "type": "website"}'`}
    icon="deployments"
    title="Tests belong to a product, and there is none yet"
  />
)
