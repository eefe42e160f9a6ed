import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { TrendDay } from "@delivery/domain/runs/Case"
import { useMemo } from "react"
import { FailureView } from "../api/FailureView.tsx"
import { Button } from "../ui/Button.tsx"
import { DayTable } from "../ui/DayTable.tsx"
import { withoutUndefined } from "../ui/address.ts"
import { Filter } from "../ui/Filter.tsx"
import { formatDuration } from "../ui/duration.ts"
import { formatCount } from "../ui/format.ts"
import { formatRate } from "../ui/rate.ts"
import { Header } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Plot, type PlotProps } from "../ui/Plot.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { CasesFilterBar, useProduct } from "./CasesFilterBar.tsx"
import { CasesTabs } from "./CasesTabs.tsx"
import { trendsQuery } from "./queries.ts"
import { type TrendsSearch, trendDays } from "./search.ts"

/** How the runs of a product do from day to day: as plots, and the same numbers as a table one key away. */

const NoTrends = later(() => import("./NoTrends.tsx"))
const NoProduct = later(() => import("./NoProduct.tsx"))

const plotsOf = (found: ReadonlyArray<TrendDay>): ReadonlyArray<PlotProps> => {
  const days = found.map(({ date }) => date)
  const valuesOf = (name: "passRate" | "firstAttemptPassRate" | "flaky" | "durationP50Ms" | "durationP95Ms" | "runs") =>
    found.map((day) => (day.runs === 0 ? null : day[name]))
  return [
    {
      title: "Passed",
      days,
      kind: "line",
      most: 1,
      format: formatRate,
      series: [
        { label: "In the end", tone: "success", values: valuesOf("passRate") },
        { label: "At the first attempt", tone: "info", values: valuesOf("firstAttemptPassRate") }
      ]
    },
    {
      title: "Duration of a test",
      days,
      kind: "line",
      format: formatDuration,
      series: [
        { label: "Median", tone: "info", values: valuesOf("durationP50Ms") },
        { label: "95th percentile", tone: "accent", values: valuesOf("durationP95Ms") }
      ]
    },
    {
      title: "Flaky tests",
      days,
      kind: "bars",
      format: formatCount,
      series: [{ label: "A day", tone: "warning", values: valuesOf("flaky") }]
    },
    {
      title: "Finished runs",
      days,
      kind: "bars",
      format: formatCount,
      series: [{ label: "A day", tone: "accent", values: valuesOf("runs") }]
    }
  ]
}

const TrendTable = ({ days }: { readonly days: ReadonlyArray<TrendDay> }) => {
  const column = (name: string, textOf: (day: TrendDay) => string) => ({
    name,
    textAt: (index: number) => textOf(days[index]!)
  })
  const rate = (value: number | null) => (value === null ? "–" : formatRate(value))
  const duration = (value: number | null) => (value === null ? "–" : formatDuration(value))
  return (
    <DayTable
      columns={[
        column("Runs", ({ runs }) => formatCount(runs)),
        column("Passed", ({ passRate }) => rate(passRate)),
        column("At first attempt", ({ firstAttemptPassRate }) => rate(firstAttemptPassRate)),
        column("Flaky", ({ flaky }) => formatCount(flaky)),
        column("Median duration", ({ durationP50Ms }) => duration(durationP50Ms)),
        column("95th percentile", ({ durationP95Ms }) => duration(durationP95Ms))
      ]}
      days={days.map(({ date }) => date)}
    />
  )
}

const dayMillis = 86_400_000
const firstDay = (days: number): string => new Date(Date.now() - (days - 1) * dayMillis).toISOString().slice(0, 10)

const Trends = ({ product, slug }: { readonly product: string; readonly slug: string }) => {
  const { days = 30, environment, view } = useSearch({ from: "/w/$slug/trends" })
  const { data, error, refetch } = useQuery(trendsQuery(slug, product, firstDay(days), environment))
  const plots = useMemo(() => plotsOf(data?.days ?? []), [data])
  if (data === undefined) {
    return error === null ? <SkeletonRows rows={14} /> : <FailureView error={error} onRetry={() => void refetch()} />
  }
  if (data.days.every(({ runs }) => runs === 0)) {
    return <NoTrends days={days} environment={environment} product={product} slug={slug} />
  }
  if (view === "table") return <TrendTable days={data.days} />
  return (
    <div className="grid grid-cols-1 gap-x-8 gap-y-6 p-4 lg:grid-cols-2">
      {plots.map((plot) => (
        <Plot key={plot.title} {...plot} />
      ))}
    </div>
  )
}

const TrendsScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/trends" })
  const search = useSearch({ from: "/w/$slug/trends" })
  const navigate = useNavigate({ from: "/w/$slug/trends" })
  const { days, environment, product: asked, view } = search
  const product = useProduct(slug, asked)
  const set = (change: { readonly [Name in keyof TrendsSearch]?: TrendsSearch[Name] | undefined }) =>
    void navigate({ search: (before) => withoutUndefined<TrendsSearch>({ ...before, ...change }), replace: true })
  const toggle = () => set({ view: view === "table" ? undefined : "table" })
  useKeys([{ keys: "t", label: "Plots or a table", group: "Trends", run: toggle }])
  return (
    <>
      <Header crumbs={[]} title="Trends" />
      <CasesTabs slug={slug} target={withoutUndefined({ product: asked, environment })} />
      <CasesFilterBar
        count={days === undefined ? 0 : 1}
        end={
          <Button look="quiet" onClick={toggle} shortcut="t">
            {view === "table" ? "As plots" : "As a table"}
          </Button>
        }
        environment={environment}
        label="Trends"
        onChange={set}
        product={product ?? undefined}
        slug={slug}
      >
        <Filter
          choices={[
            { value: "30", label: "30 days" },
            ...trendDays.map((one) => ({ value: String(one), label: `${one} days` }))
          ]}
          isRequired
          noun="time"
          onChange={(next) => set({ days: trendDays.find((one) => String(one) === next) })}
          value={String(days ?? 30)}
        />
      </CasesFilterBar>
      {product === undefined ? (
        <SkeletonRows rows={14} />
      ) : product === null ? (
        <NoProduct slug={slug} />
      ) : (
        <Trends product={product} slug={slug} />
      )}
    </>
  )
}

export default TrendsScreen
