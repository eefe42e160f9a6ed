import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { TestRun } from "@delivery/domain/runs/TestRun"
import { useDeferredValue, useMemo } from "react"
import { FailureView } from "../api/FailureView.tsx"
import { Badge } from "../ui/Badge.tsx"
import { buttonClass } from "../ui/Button.tsx"
import { formatCount } from "../ui/format.ts"
import { Header, tabClass, Tabs } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { failureRows } from "./failureRows.ts"
import { mutedIds } from "./gate.ts"
import { neighbour } from "./neighbour.ts"
import { runErrorsQuery, runQuery } from "./queries.ts"
import { RunSummary } from "./RunSummary.tsx"
import { statusOf } from "./status.ts"
import { TestRows } from "./TestRows.tsx"

/** A run: what failed first, by what it says. */

const More = later(
  () => import("./RunViews.tsx"),
  () => <SkeletonRows rows={8} />
)

const CopyButton = later(
  async () => ({ default: (await import("../ui/Copy.tsx")).CopyButton }),
  () => <span className="size-6" />
)

interface ViewProps {
  readonly run: TestRun
  readonly slug: string
}

const Failures = ({ run, slug }: ViewProps) => {
  const { data, isPending } = useQuery(runErrorsQuery(slug, run.number))
  const rows = useMemo(() => failureRows(run.tests, data?.errors, mutedIds(run), run.retries), [data, run])
  // The headings come with the errors: without them all rows would move.
  if (isPending && run.counts.failed > 0) return <SkeletonRows isTall rows={10} />
  if (rows.length > 0) return <TestRows label="Failures" rows={rows} run={run.number} slug={slug} />
  return <More run={run} slug={slug} view="none" />
}

const Loaded = ({ run, slug }: ViewProps) => {
  const search = useSearch({ from: "/w/$slug/test-runs/$run" })
  const navigate = useNavigate()
  const view = search.view ?? "failures"
  // The tab answers at once; what it shows follows.
  const shownView = useDeferredValue(view)
  const go = (step: 1 | -1) => {
    const test = neighbour(run.tests, "", step)
    if (test === undefined) return
    void navigate({
      to: "/w/$slug/test-runs/$run/tests/$case",
      params: { slug, run: String(run.number), case: test.caseId }
    })
  }
  useKeys([
    { keys: "n", label: "Next failure", group: "Run", run: () => go(1) },
    { keys: "p", label: "Previous failure", group: "Run", run: () => go(-1) },
    {
      keys: "c",
      label: "Compare with the run before",
      group: "Run",
      run: () => void navigate({ to: "/w/$slug/compare", params: { slug }, search: { run: run.number } })
    }
  ])
  const views = [
    ["failures", "Failures", run.counts.failed + run.counts.flaky],
    ["tests", "All tests", run.counts.total],
    ["retries", "Retries", run.retries.length],
    ["details", "Details", 0]
  ] as const
  return (
    <>
      <RunSummary run={run} slug={slug} />
      <Tabs label="Views of the run">
        {views.map(([name, label, count]) => (
          <Link
            activeOptions={{ exact: true }}
            className={tabClass}
            from="/w/$slug/test-runs/$run"
            key={name}
            replace
            search={name === view ? search : name === "failures" ? {} : { view: name }}
            to="."
          >
            {label}
            {count > 0 && <span className="text-muted tabular text-xs font-normal">{formatCount(count)}</span>}
          </Link>
        ))}
      </Tabs>
      {shownView === "failures" ? <Failures run={run} slug={slug} /> : <More run={run} slug={slug} view={shownView} />}
    </>
  )
}

const RunScreen = () => {
  const { run: number, slug } = useParams({ from: "/w/$slug/test-runs/$run" })
  const { data: run, error, refetch } = useQuery(runQuery(slug, Number(number)))
  return (
    <>
      <Header
        actions={
          <>
            {run !== undefined && run.state !== "running" && (
              <Link className={buttonClass()} params={{ slug }} search={{ run: run.number }} to="/w/$slug/compare">
                Compare
              </Link>
            )}
            <CopyButton label="Copy the link" text={location.href} />
          </>
        }
        crumbs={[{ label: "Runs", link: { to: "/w/$slug/test-runs", params: { slug } } }]}
        state={
          run !== undefined && (
            <>
              <StatusMark isWordShown status={statusOf(run)} />
              {run.git.dirty && (
                <Badge title="The working tree had changes that were not committed">uncommitted changes</Badge>
              )}
            </>
          )
        }
        title={`Run ${number}`}
      />
      {run !== undefined ? (
        <Loaded run={run} slug={slug} />
      ) : error !== null ? (
        <FailureView error={error} onRetry={() => void refetch()} />
      ) : (
        <SkeletonRows rows={12} />
      )}
    </>
  )
}

export default RunScreen
