import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { CaseRun } from "@delivery/domain/runs/Case"
import { failureOf } from "../api/failures.ts"
import { formatDuration } from "../ui/duration.ts"
import { formatRate } from "../ui/rate.ts"
import { Bone } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Time } from "../ui/Time.tsx"
import { HeatLinks } from "./Heat.tsx"
import { caseQuery } from "./queries.ts"
import { StateBadge } from "./StateBadge.tsx"

/** A test over many runs: since when it fails, how often, and its newest results. */

interface Props {
  readonly slug: string
  readonly product: string
  readonly caseId: string
  readonly environment?: string | undefined
  /** The run that is looked at. */
  readonly run?: number
}

const RunLink = ({ run, slug }: { readonly run: CaseRun | null; readonly slug: string }) =>
  run === null ? (
    "Never"
  ) : (
    <Link className="hover:underline" params={{ slug, run: String(run.run) }} to="/w/$slug/test-runs/$run">
      Run {run.run}, <Time at={run.at} />
    </Link>
  )

const CaseHistory = ({ caseId, environment, product, run, slug }: Props) => {
  const { data, error } = useQuery(caseQuery(slug, product, caseId, environment))
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
        {(run === undefined ? [] : data.states).map((state) => (
          <StateBadge key={state} state={state} />
        ))}
      </h2>
      <HeatLinks caseId={caseId} results={data.results} run={run} slug={slug} />
      <dl className="grid sm:max-w-80 grid-cols-[auto_1fr] gap-x-4 gap-y-1">
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
            ["Median duration", formatDuration(data.durationP50Ms)],
            ["95th percentile", formatDuration(data.durationP95Ms)]
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

export default CaseHistory
