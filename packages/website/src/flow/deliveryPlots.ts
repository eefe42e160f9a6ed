import type { DeliveryMetrics } from "@delivery/domain/flow/DeliveryMetrics"
import { formatDuration } from "../ui/duration.ts"
import { formatCount } from "../ui/format.ts"
import type { PlotProps } from "../ui/Plot.tsx"

/** The delivery metrics from day to day. Pure. */

const dayMillis = 86_400_000

/** The days of a period that ends today, in UTC, oldest first. */
export const daysBack = (days: number, now = Date.now()): ReadonlyArray<string> =>
  Array.from({ length: days }, (_, index) => new Date(now - (days - 1 - index) * dayMillis).toISOString().slice(0, 10))

const dayOf = (at: string): string => at.slice(0, 10)

const median = (values: ReadonlyArray<number>): number | null =>
  values.length === 0 ? null : values.toSorted((a, b) => a - b)[Math.ceil(values.length / 2) - 1]!

/** Releases and those that failed, and how long commits and rolling back took, from day to day. */
export const plotsOf = (
  { deploymentFrequency, leadTime, timeToRestore }: DeliveryMetrics,
  count: number
): ReadonlyArray<PlotProps> => {
  const days = daysBack(count)
  const perDay = (dates: ReadonlyArray<string>) => {
    const byDay = Map.groupBy(dates, dayOf)
    return days.map((day) => byDay.get(day)?.length ?? 0)
  }
  // The commits of the period are those that were released in it, however old they are.
  const released = Map.groupBy(leadTime.commits, ({ at, ms }) => dayOf(new Date(Date.parse(at) + ms).toISOString()))
  return [
    {
      title: "Releases to production",
      days,
      kind: "bars",
      format: formatCount,
      series: [{ label: "A day", tone: "accent", values: perDay(deploymentFrequency.releases.map(({ at }) => at)) }]
    },
    {
      title: "Releases that were rolled back",
      days,
      kind: "bars",
      format: formatCount,
      series: [{ label: "A day", tone: "danger", values: perDay(timeToRestore.failures.map(({ at }) => at)) }]
    },
    ...(leadTime.commits.length === 0
      ? []
      : [medians("Lead time of the commits released on a day", "info", days, released)]),
    ...(timeToRestore.failures.length === 0
      ? []
      : [
          medians(
            "Time to restore of the releases rolled back on a day",
            "warning",
            days,
            Map.groupBy(timeToRestore.failures, ({ restoredAt }) => dayOf(restoredAt))
          )
        ])
  ]
}

/** The median of each day on which something took its time. */
const medians = (
  title: string,
  tone: "info" | "warning",
  days: ReadonlyArray<string>,
  byDay: ReadonlyMap<string, ReadonlyArray<{ readonly ms: number }>>
): PlotProps => ({
  title,
  days,
  kind: "line",
  format: formatDuration,
  series: [{ label: "Median", tone, values: days.map((day) => median((byDay.get(day) ?? []).map(({ ms }) => ms))) }]
})
