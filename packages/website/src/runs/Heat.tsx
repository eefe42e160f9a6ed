import { Link } from "@tanstack/react-router"
import type { ListedResult } from "@delivery/domain/runs/Case"
import { formatDuration } from "../ui/duration.ts"
import { counted } from "../ui/format.ts"
import { listedResults } from "./queries.ts"

/** The newest results of a test, oldest on the left: a bar each. A failure fills it. */

const colours = { failed: "bg-danger", flaky: "bg-warning", passed: "bg-success" }

/** Of one test by itself: how high a bar is, is how long it took. */
const timedBarsOf = (results: ReadonlyArray<ListedResult>) => {
  const shown = results.slice(0, listedResults).toReversed()
  const longest = Math.max(1, ...shown.map((one) => one.durationMs))
  return shown.map((result) => ({
    result,
    height: result.status === "failed" ? 100 : Math.max(12, Math.round((result.durationMs / longest) * 100))
  }))
}

const tipOf = ({ durationMs, run, status }: ListedResult): string =>
  `Run ${run}: ${status}, ${formatDuration(durationMs)}`

interface Props {
  readonly slug: string
  readonly caseId: string
  readonly results: ReadonlyArray<ListedResult>
  /** The run that is looked at. */
  readonly run?: number | undefined
}

/** Each bar leads to the test in its run. */
export const HeatLinks = ({ caseId, results, run, slug }: Props) => (
  <ol aria-label="Newest results" className="flex h-10 items-end gap-0.5">
    {timedBarsOf(results).map(({ height, result }) => (
      <li className="flex h-full max-w-6 min-w-1 flex-1 items-end" key={result.run}>
        <Link
          aria-label={tipOf(result)}
          className={`w-full rounded-sm ${colours[result.status]} ${result.run === run ? "outline-text outline-2" : "opacity-80 hover:opacity-100"}`}
          data-tip={tipOf(result)}
          params={{ slug, run: String(result.run), case: caseId }}
          style={{ height: `${height}%` }}
          to="/w/$slug/test-runs/$run/tests/$case"
        />
      </li>
    ))}
  </ol>
)

const heatText = (results: ReadonlyArray<ListedResult>): string => {
  const shown = results.slice(0, listedResults)
  const count = (status: ListedResult["status"]) => shown.filter((one) => one.status === status).length
  return `Of ${counted(shown.length, "result")}: ${count("failed")} failed, ${count("flaky")} flaky`
}

/** Among others: what went wrong stands out, whatever the test. */
const heights = { failed: 100, flaky: 70, passed: 35 }

const barsOf = (results: ReadonlyArray<ListedResult>) =>
  results
    .slice(0, listedResults)
    .toReversed()
    .map((result) => ({ result, height: heights[result.status] }))

/** A bar takes 3 of 4 units of the width of the picture. */
const barUnits = 4

/** The bars of one status, as one path: a list has thousands. The newest is on the right. */
const pathOf = (bars: ReturnType<typeof barsOf>, status: ListedResult["status"]): string =>
  bars
    .map(({ height, result }, index) =>
      result.status === status
        ? `M${(listedResults - bars.length + index) * barUnits} 100v${-height}h${barUnits - 1}v${height}z`
        : ""
    )
    .join("")

const fills = { failed: "fill-danger", flaky: "fill-warning", passed: "fill-success" }
const statuses = ["failed", "flaky", "passed"] as const

/** The same as a picture, in a row. */
export const Heat = ({ results }: { readonly results: ReadonlyArray<ListedResult> }) => {
  const bars = barsOf(results)
  const text = heatText(results)
  return (
    <svg
      aria-label={text}
      className="h-5 w-full"
      data-tip={text}
      preserveAspectRatio="none"
      role="img"
      viewBox={`0 0 ${listedResults * barUnits} 100`}
    >
      {statuses.map((status) => (
        <path className={fills[status]} d={pathOf(bars, status)} key={status} />
      ))}
    </svg>
  )
}
