import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { DeliveryMetrics, MeasuredRelease } from "@delivery/domain/flow/DeliveryMetrics"
import { type ReactNode, useMemo, useState } from "react"
import { FailureView } from "../api/FailureView.tsx"
import { useEnvironmentName } from "../catalog/useEnvironmentName.ts"
import { useProductName } from "../catalog/useProductName.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { formatDuration } from "../ui/duration.ts"
import { counted, formatCount, shortSha } from "../ui/format.ts"
import { later } from "../ui/later.tsx"
import { Plot } from "../ui/Plot.tsx"
import { Section } from "../ui/Section.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { Time } from "../ui/Time.tsx"
import { deliveryQuery } from "./delivery.ts"
import { plotsOf } from "./deliveryPlots.ts"

/** The four measures, their course over days, and what they are made of. */

const PlotTable = later(
  () => import("../ui/PlotTable.tsx"),
  () => <SkeletonRows rows={14} />
)

interface MeasureProps {
  readonly name: string
  readonly value: string
  readonly meaning: string
  /** The list of what it is made of. */
  readonly target: string
}

const Measure = ({ meaning, name, target, value }: MeasureProps) => (
  <a className="border-border hover:bg-hover flex flex-col gap-1 rounded-lg border p-3" href={`#${target}`}>
    <span className="text-muted text-xs font-medium">{name}</span>
    <span className="tabular text-lg font-medium">{value}</span>
    <span className="text-muted text-xs">{meaning}</span>
  </a>
)

const perPeriod = (perDay: number): string =>
  perDay >= 1
    ? `${perDay.toFixed(1)} a day`
    : perDay * 7 >= 1
      ? `${(perDay * 7).toFixed(1)} a week`
      : `${(perDay * 30).toFixed(1)} a month`

/** Rounded, since a rate of failures that is cut off flatters. */
const percent = (rate: number): string => `${Number((rate * 100).toFixed(1))} %`

const durationOr = (millis: number | null): string => (millis === null ? "–" : formatDuration(millis))

const Measures = ({ metrics }: { readonly metrics: DeliveryMetrics }) => {
  const { changeFailureRate, deploymentFrequency, leadTime, timeToRestore } = metrics
  return (
    <div className="grid grid-cols-1 gap-3 p-4 sm:grid-cols-2 xl:grid-cols-4">
      <Measure
        meaning={counted(deploymentFrequency.count, "release")}
        name="Deployment frequency"
        target="releases"
        value={perPeriod(deploymentFrequency.perDay)}
      />
      <Measure
        meaning={`from commit to production, median of ${counted(leadTime.commits.length, "commit")}`}
        name="Lead time for changes"
        target="commits"
        value={durationOr(leadTime.medianMs)}
      />
      <Measure
        meaning={`${formatCount(changeFailureRate.failed.length)} of ${counted(changeFailureRate.total, "release")} rolled back`}
        name="Change failure rate"
        target="failures"
        value={changeFailureRate.rate === null ? "–" : percent(changeFailureRate.rate)}
      />
      <Measure
        meaning={`until it was rolled back, median of ${formatCount(timeToRestore.failures.length)}`}
        name="Time to restore"
        target="failures"
        value={durationOr(timeToRestore.medianMs)}
      />
    </div>
  )
}

const row = "border-border hover:bg-hover flex min-h-(--row) flex-wrap items-center gap-x-3 border-b px-4"

/** How many rows a list has at first. */
const few = 20

interface ListProps<A> {
  readonly label: string
  readonly title: string
  readonly noun: string
  readonly items: ReadonlyArray<A>
  readonly none?: string
  readonly row: (item: A) => ReactNode
}

/** Some at first, and all when asked. */
const List = <A,>({ items, label, none, noun, row, title }: ListProps<A>) => {
  const [isWhole, setWhole] = useState(false)
  return (
    <Section isFlush title={title}>
      {items.length === 0 && <p className="text-muted px-4 py-2">{none}</p>}
      {items.length > 0 && <ul aria-label={label}>{(isWhole ? items : items.slice(0, few)).map(row)}</ul>}
      {items.length > few && !isWhole && (
        <div className="px-3 py-2">
          <Button look="quiet" onClick={() => setWhole(true)}>
            Show all {counted(items.length, noun)}
          </Button>
        </div>
      )}
    </Section>
  )
}

const ReleaseLink = ({ release, slug }: { readonly release: MeasuredRelease; readonly slug: string }) => {
  const [productName, environmentName] = [useProductName(slug), useEnvironmentName(slug)]
  return (
    <Link
      className="min-w-0 truncate hover:underline"
      params={{ slug, product: release.product, environment: release.environment }}
      to="/w/$slug/deployments/$product/$environment"
    >
      <span className="font-mono text-xs">{shortSha(release.version)}</span> {productName(release.product)} in{" "}
      {environmentName(release.environment)}
    </Link>
  )
}

const ProductName = ({ product, slug }: { readonly product: string; readonly slug: string }) => (
  <>{useProductName(slug)(product)}</>
)

interface CommitProps {
  readonly slug: string
  readonly product: string
  readonly sha: string
  readonly at: string
  readonly ms: number
  /** With which it came to production. */
  readonly release: MeasuredRelease | undefined
}

const CommitRow = ({ at, ms, product, release, sha, slug }: CommitProps) => (
  <li className={row}>
    <span className="font-mono text-xs">{shortSha(sha)}</span>
    <span className="text-muted min-w-0 flex-1 truncate">
      {release === undefined ? (
        <ProductName product={product} slug={slug} />
      ) : (
        <>
          in <ReleaseLink release={release} slug={slug} />
        </>
      )}
    </span>
    <span className="tabular">{formatDuration(ms)}</span>
    <span className="text-muted">
      <Time at={at} />
    </span>
  </li>
)

const Lists = ({ metrics, slug }: { readonly metrics: DeliveryMetrics; readonly slug: string }) => {
  const { deploymentFrequency, leadTime, timeToRestore } = metrics
  const slowest = leadTime.commits.toSorted((a, b) => b.ms - a.ms)
  const keyOf = ({ deployment, number }: MeasuredRelease) => `${deployment} ${number}`
  const failed = new Set(timeToRestore.failures.map(keyOf))
  // A commit came to production with the release that was made when its lead time ended.
  const releaseOf = new Map(
    deploymentFrequency.releases.map((release) => [`${release.product} ${Date.parse(release.at)}`, release])
  )
  return (
    <>
      <div id="failures">
        <Section isFlush title="Releases that were rolled back">
          <p className="text-muted px-4 py-2 text-xs">
            The next release of the deployment went back to a version that it had before.
          </p>
          {timeToRestore.failures.length === 0 ? (
            <p className="text-muted px-4 py-2">None in this time.</p>
          ) : (
            <ul aria-label="Failed releases">
              {timeToRestore.failures.toReversed().map((release) => (
                <li className={row} key={keyOf(release)}>
                  <ReleaseLink release={release} slug={slug} />
                  <span className="text-muted tabular ml-auto">restored in {formatDuration(release.ms)}</span>
                  <span className="text-muted">
                    <Time at={release.at} />
                  </span>
                </li>
              ))}
            </ul>
          )}
        </Section>
      </div>
      <div id="commits">
        <List
          items={slowest}
          label="Commits"
          none="No deployment told its commits with their times. “delivery deployments set-version” tells them."
          noun="commit"
          row={({ at, ms, product, sha }) => (
            <CommitRow
              at={at}
              key={`${product} ${sha}`}
              ms={ms}
              product={product}
              release={releaseOf.get(`${product} ${Date.parse(at) + ms}`)}
              sha={sha}
              slug={slug}
            />
          )}
          title="Commits to production, slowest first"
        />
      </div>
      <div id="releases">
        <List
          items={deploymentFrequency.releases.toReversed()}
          label="Releases"
          noun="release"
          row={(release) => (
            <li className={row} key={keyOf(release)}>
              <ReleaseLink release={release} slug={slug} />
              {failed.has(keyOf(release)) && <Badge tone="danger">rolled back</Badge>}
              <span className="text-muted ml-auto">
                <Time at={release.at} />
              </span>
            </li>
          )}
          title="Releases, newest first"
        />
      </div>
    </>
  )
}

const DeliveryMeasures = ({
  days,
  isTable,
  product,
  slug
}: {
  readonly days: number
  readonly isTable: boolean
  readonly product?: string
  readonly slug: string
}) => {
  const { data, error, refetch } = useQuery(deliveryQuery(slug, days, product))
  const plots = useMemo(() => (data === undefined ? [] : plotsOf(data, days)), [data, days])
  if (data === undefined) {
    return error === null ? <SkeletonRows rows={14} /> : <FailureView error={error} onRetry={() => void refetch()} />
  }
  if (data.deploymentFrequency.count === 0) {
    return (
      <Empty
        command={`npx @delivery/cli deployments set-version $(git rev-parse HEAD) --product ${product ?? "shop"} --environment production`}
        icon="deployments"
        title={`Nothing went to production in the last ${days} days`}
      >
        Say in your deployment script which version runs, and with which commits. These measures are made of that.
      </Empty>
    )
  }
  return (
    <>
      <Measures metrics={data} />
      {isTable ? (
        <PlotTable plots={plots} />
      ) : (
        <div className="grid grid-cols-1 gap-x-8 gap-y-6 p-4 lg:grid-cols-2">
          {plots.map((plot) => (
            <Plot key={plot.title} {...plot} />
          ))}
        </div>
      )}
      <Lists metrics={data} slug={slug} />
    </>
  )
}

export default DeliveryMeasures
