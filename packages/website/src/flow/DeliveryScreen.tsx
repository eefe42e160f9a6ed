import { useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { productsQuery } from "../catalog/queries.ts"
import { CasesTabs } from "../runs/CasesTabs.tsx"
import { trendDays } from "../runs/search.ts"
import { oneAt, withoutUndefined } from "../ui/address.ts"
import { Button } from "../ui/Button.tsx"
import { Filter } from "../ui/Filter.tsx"
import { FilterBar } from "../ui/FilterBar.tsx"
import { Header } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { useMarkedPlace } from "../ui/useMarkedPlace.ts"
import { SkeletonRows } from "../ui/States.tsx"

/** How often, how fast and how safely versions come to production: the four DORA measures, with what is behind each. */

const DeliveryMeasures = later(
  () => import("./DeliveryMeasures.tsx"),
  () => <SkeletonRows rows={14} />
)

const fewestDays = 30

/** How the numbers of days are shown. */
const views = ["plots", "table"] as const

const DeliveryScreen = ({ product, slug }: { readonly product?: string; readonly slug: string }) => {
  const search = useSearch({ strict: false })
  const longer = oneAt(search, "days", trendDays)
  const view = oneAt(search, "view", views)
  const days = longer ?? fewestDays
  const navigate = useNavigate()
  const { data: products } = useQuery(productsQuery(slug))
  useMarkedPlace("/w/$slug/trends")
  const go = (to: string | undefined, days: number | undefined, next = view) =>
    void navigate({
      to: "/w/$slug/$",
      params: { slug, _splat: to === undefined ? "delivery" : `products/${to}/delivery` },
      search: { ...withoutUndefined({ days, view: next === "plots" ? undefined : next }) },
      replace: true
    })
  const toggle = () => go(product, longer, view === "table" ? "plots" : "table")
  useKeys([{ keys: "t", label: "Plots or a table", group: "Delivery", run: toggle }])
  return (
    <>
      <Header crumbs={[]} title="Delivery" />
      <CasesTabs slug={slug} target={product === undefined ? {} : { product }} />
      <FilterBar
        count={[product, longer].filter((one) => one !== undefined).length}
        end={
          <Button look="quiet" onClick={toggle} shortcut="t">
            {view === "table" ? "As plots" : "As a table"}
          </Button>
        }
        label="Delivery"
      >
        <Filter
          choices={(products?.products ?? []).map((one) => ({ value: one.slug, label: one.name }))}
          noun="product"
          onChange={(next) => go(next, longer)}
          value={product}
        />
        <Filter
          choices={[fewestDays, ...trendDays].map((one) => ({ value: String(one), label: `${one} days` }))}
          isRequired
          noun="time"
          onChange={(next) =>
            go(
              product,
              trendDays.find((one) => String(one) === next)
            )
          }
          value={String(days)}
        />
      </FilterBar>
      <DeliveryMeasures
        days={days}
        isTable={view === "table"}
        slug={slug}
        {...(product === undefined ? {} : { product })}
      />
    </>
  )
}

export default DeliveryScreen
