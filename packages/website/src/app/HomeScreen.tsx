import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import type { Event } from "@delivery/domain/events/Event"
import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import { useState } from "react"
import { FailureView } from "../api/FailureView.tsx"
import { EventList } from "../events/EventList.tsx"
import { eventsQuery } from "../events/queries.ts"
import { countsText } from "../runs/countsText.ts"
import { deploymentRunsQuery, latestRunsQuery } from "../runs/queries.ts"
import { statusOf } from "../runs/status.ts"
import { formatDuration } from "../ui/duration.ts"
import { Header } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import { later } from "../ui/later.tsx"
import { Section } from "../ui/Section.tsx"
import { SkeletonRows } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Elapsed } from "../ui/Elapsed.tsx"
import { Time } from "../ui/Time.tsx"

/** What needs somebody now: what waits for them, what fails, what runs, and what changed. In a new workspace: how to begin. */

const FirstSteps = later(() => import("./FirstSteps.tsx"))
const Waiting = later(() => import("../agents/Waiting.tsx"))
const MyTickets = later(() => import("../planning/MyTickets.tsx"))

const RunLine = ({ run, slug }: { readonly run: TestRunSummary; readonly slug: string }) => (
  <Link
    className="border-border hover:bg-hover two-lines flex h-(--row) items-center gap-3 border-b px-4"
    data-tall
    params={{ slug, run: String(run.number) }}
    to="/w/$slug/test-runs/$run"
  >
    <StatusMark status={statusOf(run)} />
    <span className="truncate font-medium sm:shrink-0">
      {run.product.name} <span className="text-faint">/</span> {run.environment.name}
    </span>
    {/* On narrow screens how many failed comes before what may be cut. */}
    <span className="second-line">
      <span className="text-muted foreign min-w-0 flex-1 truncate max-sm:order-1">
        <span className="tabular">#{run.number}</span> {run.git.subject}
      </span>
      {run.state === "running" ? (
        <span className="text-info tabular max-sm:order-2">
          <Elapsed since={run.startedAt} />
        </span>
      ) : (
        <>
          <span className={run.counts.failed > 0 ? "text-danger" : "text-muted"}>{countsText(run.counts)}</span>
          <span className="text-muted tabular max-md:hidden">{formatDuration(run.durationMs)}</span>
        </>
      )}
      <span className={run.state === "running" ? "text-muted max-sm:hidden" : "text-muted max-sm:order-2"}>
        <Time at={run.startedAt} />
      </span>
    </span>
  </Link>
)

const mostEvents = 15

/** Of each run its newest event alone: what people did is not gone between those of a build. */
const changesIn = (events: ReadonlyArray<Event>): ReadonlyArray<Event> => {
  const runs = new Set<string>()
  const isNews = ({ kind, subject }: Event) =>
    !kind.startsWith("run_") || (!runs.has(subject.id) && runs.add(subject.id))
  return events.filter(isNews).slice(0, mostEvents)
}

const Home = ({ slug }: { readonly slug: string }) => {
  const { data: latest } = useQuery(latestRunsQuery(slug))
  const { data, error, refetch } = useQuery(deploymentRunsQuery(slug))
  const { data: events } = useInfiniteQuery(eventsQuery(slug))
  const running = latest?.runs.filter((run) => run.state === "running") ?? []
  const failing = data?.filter((run) => run.result === "failed") ?? []
  // Whether there had been a run when the page was opened: what somebody reads stays where it is.
  const [isBegun, setBegun] = useState<boolean>()
  if (isBegun === undefined && latest !== undefined) setBegun(latest.runs.length > 0)
  return (
    <>
      <Header crumbs={[]} title="Home" />
      <Waiting slug={slug} />
      <MyTickets slug={slug} />
      {isBegun !== undefined && <FirstSteps part={isBegun ? "passkey" : "all"} slug={slug} />}
      {data === undefined ? (
        error === null ? (
          <SkeletonRows rows={6} />
        ) : (
          <FailureView error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <>
          {failing.length > 0 && (
            <Section isFlush title="Failing now">
              {failing.map((run) => (
                <RunLine key={run.id} run={run} slug={slug} />
              ))}
            </Section>
          )}
          {running.length > 0 && (
            <Section isFlush title="Running">
              {running.map((run) => (
                <RunLine key={run.id} run={run} slug={slug} />
              ))}
            </Section>
          )}
          {failing.length === 0 && data.length > 0 && (
            <p className="text-success flex items-center gap-2 px-4 pt-4">
              <Icon name="check" /> The newest run of every deployment passed.
            </p>
          )}
        </>
      )}
      {events !== undefined && events.pages[0] !== undefined && (
        <Section isFlush title="What changed">
          <EventList events={changesIn(events.pages[0].events)} />
        </Section>
      )}
      {isBegun === true && <FirstSteps part="rest" slug={slug} />}
    </>
  )
}

const HomeScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/" })
  return <Home key={slug} slug={slug} />
}

export default HomeScreen
