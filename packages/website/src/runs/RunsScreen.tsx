import { useInfiniteQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import { useCallback, useEffect, useRef } from "react"
import { FailureView } from "../api/FailureView.tsx"
import { formatDuration } from "../ui/duration.ts"
import { shortSha } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import { later } from "../ui/later.tsx"
import { Rows } from "../ui/Rows.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Elapsed } from "../ui/Elapsed.tsx"
import { Time } from "../ui/Time.tsx"
import { Truncated } from "../ui/Truncated.tsx"
import { CountsBar } from "./Counts.tsx"
import { countsText } from "./countsText.ts"
import { RunFilterBar } from "./RunFilterBar.tsx"
import { runsQuery } from "./queries.ts"
import { statusOf } from "./status.ts"
import { TestedElsewhere } from "./TestedElsewhere.tsx"

/** All runs, newest first. */

const RunPeek = later(
  () => import("./RunPeek.tsx"),
  () => <SkeletonRows rows={6} />
)

const NoRuns = later(() => import("./NoRuns.tsx"))
const RunMarks = later(() => import("./RunMarks.tsx"))
const SavedFilters = later(() => import("./SavedFilters.tsx"))

/** The subject is read first: what stands after it gives way before it does. */
const columns =
  "two-lines grid grid-cols-[16px_auto_minmax(0,1fr)_auto] items-center gap-3 px-4 sm:grid-cols-[16px_2.5rem_minmax(0,1fr)_8rem_minmax(8.5rem,auto)_3.75rem] sm:max-lg:gap-2 min-[80rem]:grid-cols-[16px_2.75rem_minmax(0,2fr)_minmax(0,1fr)_3.5rem_minmax(0,10rem)_12.5rem_5rem_4.5rem]"

const RunRow = ({
  isCurrent,
  run,
  slug
}: {
  readonly isCurrent: boolean
  readonly run: TestRunSummary
  readonly slug: string
}) => (
  <Link
    className={`${columns} border-border hover:bg-hover h-(--row) border-b ${isCurrent ? "bg-selected" : ""}`}
    params={{ slug, run: String(run.number) }}
    to="/w/$slug/test-runs/$run"
  >
    <StatusMark status={statusOf(run)} />
    <span className="text-muted tabular max-sm:hidden">#{run.number}</span>
    {/* Without a column of its own, the branch takes what the subject leaves it, and a third where that is nothing. */}
    <span className="flex min-w-0 gap-2 min-[80rem]:contents">
      <span className="foreign truncate font-medium" title={run.git.subject}>
        {run.git.subject === "" ? "No commit message" : run.git.subject}
      </span>
      <span className="text-muted hidden min-w-0 items-center gap-1 sm:flex max-[80rem]:max-w-1/3 max-[80rem]:shrink-0">
        <Icon name="branch" size={12} />
        <Truncated text={run.git.branch} />
      </span>
    </span>
    <span className="text-muted hidden font-mono text-xs min-[80rem]:block">{shortSha(run.git.sha)}</span>
    <span className="second-line">
      <span className="text-muted tabular sm:hidden">#{run.number}</span>
      <span className="text-muted truncate" title={`${run.product.name} in ${run.environment.name}`}>
        <TestedElsewhere run={run} />
        {run.product.name} <span className="text-faint">/</span> {run.environment.name}
      </span>
      <span className="flex items-center gap-2 max-sm:max-w-1/2 max-sm:shrink-0 sm:max-w-50">
        {run.state !== "running" && (
          <>
            {/* Words beside it take its place: the counts are not to be cut. */}
            {run.gateResult === run.result && !run.deploymentChanged && !run.partOfTests && (
              <span className="w-12 shrink-0 max-[80rem]:hidden">
                <CountsBar counts={run.counts} />
              </span>
            )}
            <span
              className={`tabular truncate ${run.counts.failed > 0 ? "text-danger" : "text-muted"}`}
              title={run.error ?? countsText(run.counts)}
            >
              {run.error === null ? countsText(run.counts) : run.error}
            </span>
            <RunMarks run={run} />
          </>
        )}
      </span>
      <span className="text-muted tabular hidden text-right min-[80rem]:block">
        {run.state === "running" ? <Elapsed since={run.startedAt} /> : formatDuration(run.durationMs)}
      </span>
      <span className="text-muted text-right max-sm:ml-auto">
        <Time at={run.startedAt} />
      </span>
    </span>
  </Link>
)

interface ListProps {
  readonly slug: string
  readonly runs: ReadonlyArray<TestRunSummary>
  readonly isLoadingMore: boolean
  /** Reads on, where there is more and nothing is being read. Another one each time that this changes. */
  readonly onMore: () => void
}

const RunList = ({ isLoadingMore, onMore, runs, slug }: ListProps) => {
  const navigate = useNavigate()
  // A list of few rows does not say when its end is near: on a large screen it is from the beginning.
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) onMore()
      },
      { root: document.querySelector("#screen"), rootMargin: "480px" }
    )
    if (end.current !== null) observer.observe(end.current)
    return () => observer.disconnect()
  }, [onMore])
  return (
    <>
      <Rows
        count={runs.length}
        isTall
        keyOf={(index) => runs[index]!.id}
        label="Runs"
        noun="run"
        onNearEnd={onMore}
        onOpen={(index) =>
          void navigate({ to: "/w/$slug/test-runs/$run", params: { slug, run: String(runs[index]!.number) } })
        }
        peek={(index) => <RunPeek run={runs[index]!.number} slug={slug} />}
        row={(index, isCurrent) => <RunRow isCurrent={isCurrent} run={runs[index]!} slug={slug} />}
      />
      <div ref={end} />
      {isLoadingMore && <SkeletonRows isTall rows={3} />}
    </>
  )
}

const RunsScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/test-runs" })
  const filters = useSearch({ from: "/w/$slug/test-runs" })
  const { data, error, fetchNextPage, hasNextPage, isFetching, isFetchingNextPage, isPending, refetch } =
    useInfiniteQuery(runsQuery(slug, filters))
  const runs = data?.pages.flatMap((page) => page.runs) ?? []
  // A list that is read again meanwhile, since others have changed it, gives up what was read on: it is asked for after that.
  const more = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage()
  }, [fetchNextPage, hasNextPage, isFetching])
  return (
    <>
      <Header
        actions={<SavedFilters filtered={{ screen: "runs", search: filters }} slug={slug} />}
        crumbs={[]}
        title="Runs"
      />
      <RunFilterBar filters={filters} slug={slug} />
      {error !== null && data === undefined ? (
        <FailureView error={error} onRetry={() => void refetch()} />
      ) : isPending ? (
        <SkeletonRows isTall rows={16} />
      ) : runs.length === 0 ? (
        <NoRuns filters={filters} slug={slug} />
      ) : (
        <RunList isLoadingMore={isFetchingNextPage} onMore={more} runs={runs} slug={slug} />
      )}
    </>
  )
}

export default RunsScreen
