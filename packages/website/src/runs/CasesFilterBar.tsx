import { useQuery } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { environmentsQuery, productsQuery } from "../catalog/queries.ts"
import { Filter } from "../ui/Filter.tsx"
import { FilterBar } from "../ui/FilterBar.tsx"
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
  /** The field that finds by words, before all else. */
  readonly search?: ReactNode
  readonly children?: ReactNode
  /** How many of its children are set. */
  readonly count: number
  /** What stays in view behind the filters. */
  readonly end?: ReactNode
}

export const CasesFilterBar = ({
  children,
  count,
  end,
  environment,
  label,
  onChange,
  product,
  search,
  slug
}: Props) => {
  const { data: products } = useQuery(productsQuery(slug))
  const { data: environments } = useQuery(environmentsQuery(slug))
  return (
    <FilterBar
      count={count + (environment === undefined ? 0 : 1)}
      end={end}
      label={label}
      search={
        <>
          {search}
          {/* Where the filters are folded, one still sees of which product the tests are. */}
          <span className={`text-muted truncate px-2 md:hidden ${search === undefined ? "" : "text-right"}`}>
            {products?.products.find((one) => one.slug === product)?.name}
          </span>
        </>
      }
    >
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
    </FilterBar>
  )
}
