import { Link } from "@tanstack/react-router"
import type { CaseWithResults, ShownResult } from "@delivery/domain/runs/Case"
import { counted, formatDuration } from "../ui/format.ts"

/** The newest results of a test, oldest on the left: a bar each, whose height is how long it took; a failure fills it. */

const colours = { failed: "bg-danger", flaky: "bg-warning", passed: "bg-success" }

/** How many results are shown. */
const shownResults = 30

type Results = CaseWithResults["results"]

const barsOf = (results: Results) => {
  const shown = results.slice(0, shownResults).toReversed()
  const longest = Math.max(1, ...shown.map((one) => one.durationMs))
  return shown.map((result) => ({
    result,
    style: { height: `${result.status === "failed" ? 100 : Math.max(12, (result.durationMs / longest) * 100)}%` }
  }))
}

const tipOf = ({ durationMs, run, status }: ShownResult): string =>
  `Run ${run}: ${status}, ${formatDuration(durationMs)}`

interface Props {
  readonly slug: string
  readonly caseId: string
  readonly results: Results
  /** The run that is looked at. */
  readonly run?: number | undefined
}

/** Each bar leads to the test in its run. */
export const HeatLinks = ({ caseId, results, run, slug }: Props) => (
  <ol aria-label="Newest results" className="flex h-10 items-end gap-0.5">
    {barsOf(results).map(({ result, style }) => (
      <li className="flex h-full max-w-6 min-w-1 flex-1 items-end" key={result.run}>
        <Link
          aria-label={tipOf(result)}
          className={`w-full rounded-sm ${colours[result.status]} ${result.run === run ? "outline-text outline-2" : "opacity-80 hover:opacity-100"}`}
          data-tip={tipOf(result)}
          params={{ slug, run: String(result.run), case: caseId }}
          style={style}
          to="/w/$slug/test-runs/$run/tests/$case"
        />
      </li>
    ))}
  </ol>
)

const heatText = (results: Results): string => {
  const shown = results.slice(0, shownResults)
  const count = (status: ShownResult["status"]) => shown.filter((one) => one.status === status).length
  return `Of ${counted(shown.length, "result")}: ${count("failed")} failed, ${count("flaky")} flaky`
}

/** The same as a picture, in a row. */
export const Heat = ({ results }: { readonly results: Results }) => (
  <span aria-label={heatText(results)} className="flex h-5 items-end gap-px" data-tip={heatText(results)} role="img">
    {barsOf(results).map(({ result, style }) => (
      <span
        className={`max-w-1.5 min-w-0.5 flex-1 rounded-sm ${colours[result.status]}`}
        key={result.run}
        style={style}
      />
    ))}
  </span>
)
