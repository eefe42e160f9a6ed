import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { CaseRun, CaseWithResults } from "@delivery/domain/runs/Case"
import { failureOf } from "../api/failures.ts"
import { Badge, type Tone } from "../ui/Badge.tsx"
import { formatDuration, formatRate } from "../ui/format.ts"
import { Bone } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Time } from "../ui/Time.tsx"
import { caseQuery } from "./queries.ts"

/** A test over many runs: since when it fails, how often, and its newest results. */

interface Props {
  readonly slug: string
  readonly product: string
  readonly caseId: string
  /** The run that is looked at. */
  readonly run: number
}

const tones: Readonly<Record<string, Tone>> = {
  failing: "danger",
  flaky: "warning",
  slow: "warning",
  passing: "success"
}

const colours = { failed: "bg-danger", flaky: "bg-warning", passed: "bg-success" }

const RunLink = ({ run, slug }: { readonly run: CaseRun | null; readonly slug: string }) =>
  run === null ? (
    "Never"
  ) : (
    <Link className="hover:underline" params={{ slug, run: String(run.run) }} to="/w/$slug/test-runs/$run">
      Run {run.run}, <Time at={run.at} />
    </Link>
  )

/** Its newest results, oldest on the left: a bar each, whose height is how long it took. */
const Heat = ({
  caseId,
  results,
  run,
  slug
}: { readonly results: CaseWithResults["results"] } & Omit<Props, "product">) => {
  const shown = results.slice(0, 30).toReversed()
  const longest = Math.max(1, ...shown.map((one) => one.durationMs))
  return (
    <ol aria-label="Newest results" className="flex h-10 items-end gap-0.5">
      {shown.map((one) => (
        <li className="flex h-full min-w-1 flex-1 items-end" key={one.run}>
          <Link
            aria-label={`Run ${one.run}: ${one.status}, ${formatDuration(one.durationMs)}`}
            className={`w-full rounded-sm ${colours[one.status]} ${one.run === run ? "outline-text outline-2" : "opacity-80 hover:opacity-100"} ${one.status === "failed" ? "min-h-full" : "min-h-1"}`}
            data-tip={`Run ${one.run}: ${one.status}, ${formatDuration(one.durationMs)}`}
            params={{ slug, run: String(one.run), case: caseId }}
            style={{ height: `${Math.max(12, (one.durationMs / longest) * 100)}%` }}
            to="/w/$slug/test-runs/$run/tests/$case"
          />
        </li>
      ))}
    </ol>
  )
}

export const CaseHistory = ({ caseId, product, run, slug }: Props) => {
  const { data, error } = useQuery(caseQuery(slug, product, caseId))
  if (data === undefined) {
    return (
      <div className="flex flex-col gap-3 p-4">
        <h2 className="font-medium">History</h2>
        {error === null ? <Bone width="w-full" /> : <p className="text-muted">{historyText(error)}</p>}
      </div>
    )
  }
  return (
    <div className="flex flex-col gap-3 p-4">
      <h2 className="flex items-center gap-2 font-medium">
        History
        {data.states.map((state) => (
          <Badge key={state} tone={tones[state] ?? "plain"}>
            {state}
          </Badge>
        ))}
      </h2>
      <Heat caseId={caseId} results={data.results} run={run} slug={slug} />
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        {(
          [
            [
              "Failing since",
              data.failingSince === null ? (
                "It does not fail now"
              ) : (
                <RunLink key="since" run={data.failingSince} slug={slug} />
              )
            ],
            ["First failure", <RunLink key="first" run={data.firstFailure} slug={slug} />],
            ["Pass rate, 30 days", data.passRate === null ? "—" : formatRate(data.passRate)],
            ["Flaky, 30 days", data.flakeRate === null ? "—" : formatRate(data.flakeRate)],
            ["Duration, half", formatDuration(data.durationP50Ms)],
            ["Duration, 95 %", formatDuration(data.durationP95Ms)]
          ] as const
        ).map(([name, value]) => (
          <div className="contents" key={name}>
            <dt className="text-muted">{name}</dt>
            <dd className="tabular text-right">{value}</dd>
          </div>
        ))}
      </dl>
      <ul aria-label="Results" className="border-border -mx-4 border-t">
        {data.results.slice(0, 12).map((one) => (
          <li key={one.run}>
            <Link
              className={`hover:bg-hover border-border flex h-(--row) items-center gap-2 border-b px-4 ${one.run === run ? "bg-selected" : ""}`}
              params={{ slug, run: String(one.run), case: caseId }}
              to="/w/$slug/test-runs/$run/tests/$case"
            >
              <StatusMark size={14} status={one.status} />
              <span className="tabular">#{one.run}</span>
              <span className="text-muted min-w-0 flex-1 truncate font-mono text-xs">{one.branch}</span>
              <span className="text-muted">
                <Time at={one.at} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Runs are counted behind their finish, and cases of skipped tests are none. */
const historyText = (error: unknown): string =>
  failureOf(error)._tag === "NotFound" ? "No finished run of it is counted yet." : failureOf(error).message
