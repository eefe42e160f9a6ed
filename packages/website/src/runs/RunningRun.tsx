import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { Semaphore } from "@delivery/domain/runs/Semaphore"
import type { TestRun, TestRunSummary } from "@delivery/domain/runs/TestRun"
import { type ReactNode, useEffect, useState } from "react"
import { formatDuration } from "../ui/duration.ts"
import { counted, formatCount } from "../ui/format.ts"
import { List } from "../ui/List.tsx"
import { Section } from "../ui/Section.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Elapsed } from "../ui/Elapsed.tsx"
import { Time } from "../ui/Time.tsx"
import { type Alike, alikeOf, typicalMillis } from "./alike.ts"
import { latestRunsQuery, semaphoresQuery } from "./queries.ts"
import { usersOf } from "./semaphoreUsers.ts"
import { statusOf } from "./status.ts"

/** What is known of a run while it is running: how long it usually takes, which shards are done, what it holds and waits for. */

interface Props {
  readonly run: TestRun
  readonly slug: string
}

/** The share of the usual time that is over, from 0 to 1, as it goes on. */
const useShare = (startedAt: string, usual: number): number => {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return Math.max(0, Math.min(1, (now - Date.parse(startedAt)) / usual))
}

interface UsualProps {
  readonly alike: Alike
  readonly run: TestRun
  readonly usual: number
}

const Usual = ({ alike, run, usual }: UsualProps) => {
  const share = useShare(run.startedAt, usual)
  const where = alike.isOfBranch ? "of this branch" : "of all branches"
  return (
    <>
      <span aria-hidden="true" className="bg-hover flex h-1.5 w-full overflow-hidden rounded-full">
        <span className="bg-info rounded-full" style={{ width: `${share * 100}%` }} />
      </span>
      <span className="text-muted flex flex-wrap justify-between gap-x-4">
        <span>
          <Elapsed since={run.startedAt} />
          {share === 1 ? ", longer than usual" : " so far"}
        </span>
        <span title={`The median of the last ${counted(alike.runs.length, "run")} ${where} with the same tests`}>
          usually {formatDuration(usual)}
        </span>
      </span>
    </>
  )
}

/** A slot for each, as far as they can be told apart. */
const mostSlots = 40

const Shards = ({ finished, started, total }: NonNullable<TestRun["shards"]>) => {
  const running = started - finished
  const words = [
    `${formatCount(finished)} of ${counted(total, "shard")} finished`,
    ...(running > 0 ? [`${formatCount(running)} running`] : []),
    ...(started < total ? [`${formatCount(total - started)} not started yet`] : [])
  ]
  const slotOf = (slot: number): string =>
    slot < finished
      ? "bg-success border-transparent"
      : slot < started
        ? "bg-info-soft border-info"
        : "border-strong border-dashed"
  return (
    <span className="text-muted flex flex-wrap items-center gap-x-3 gap-y-1">
      {total <= mostSlots && (
        <span aria-hidden="true" className="inline-flex flex-wrap gap-0.5">
          {Array.from({ length: total }, (_, slot) => (
            <span className={`size-2.5 rounded-sm border ${slotOf(slot)}`} key={slot} />
          ))}
        </span>
      )}
      {words.join(", ")}
    </span>
  )
}

const Row = ({ children }: { readonly children: ReactNode }) => (
  <li className="border-border flex min-h-(--row) flex-wrap items-center gap-x-3 border-b px-4 py-1">{children}</li>
)

interface Use {
  readonly key: string
  readonly name: string
  readonly word: string
  readonly test: string | null
  readonly since: string
}

/** What the run itself holds, and what it waits for. Its retries begin later. */
const usesOf = (semaphores: ReadonlyArray<Semaphore>, number: number): ReadonlyArray<Use> =>
  semaphores.flatMap((semaphore) =>
    usersOf(semaphore, number).map(({ lease, place, since, test }): Use => ({
      key: lease,
      name: semaphore.name,
      word: place === undefined ? "holds" : `waits, ${formatCount(place)}. in the queue`,
      test,
      since
    }))
  )

/** Leases are no events. Here they may be a little older than on the screen of semaphores. */
const leaseMillis = 5_000

const refetchInterval = ({ state }: { readonly state: { readonly error: unknown } }) =>
  state.error === null ? leaseMillis : false

const Semaphores = ({ run, slug }: Props) => {
  const { data } = useQuery({ ...semaphoresQuery(slug), refetchInterval })
  const uses = usesOf(data?.semaphores ?? [], run.number)
  if (uses.length === 0) return null
  return (
    <Section isFlush title="Semaphores">
      <ul aria-label="Semaphores of the run">
        {uses.map(({ key, name, since, test, word }) => (
          <Row key={key}>
            <Link
              className="foreign min-w-0 truncate font-medium hover:underline"
              params={{ slug }}
              to="/w/$slug/semaphores"
            >
              {name}
            </Link>
            <span className="text-muted">{word}</span>
            <span className="text-muted foreign min-w-0 flex-1 truncate empty:max-sm:hidden max-sm:order-last max-sm:basis-full">
              {test !== null && test}
            </span>
            <span className="text-muted max-sm:ml-auto">
              for <Elapsed since={since} />
            </span>
          </Row>
        ))}
      </ul>
    </Section>
  )
}

/** So many of them are shown. */
const mostShown = 5

const Last = ({ run, slug }: { readonly run: TestRunSummary; readonly slug: string }) => (
  <Row>
    <StatusMark status={statusOf(run)} />
    <Link
      className="tabular font-medium hover:underline"
      params={{ slug, run: String(run.number) }}
      to="/w/$slug/test-runs/$run"
    >
      Run {run.number}
    </Link>
    <span className="foreign min-w-0 flex-1 truncate max-sm:order-last max-sm:basis-full">{run.git.subject}</span>
    <span className="text-muted tabular max-sm:ml-auto sm:w-24 sm:text-right">{formatDuration(run.durationMs)}</span>
    <span className="text-muted text-right sm:w-20">
      <Time at={run.startedAt} />
    </span>
  </Row>
)

const LastRuns = ({ alike, run, slug }: Props & { readonly alike: Alike }) => {
  const { branch } = run.git
  const search = {
    product: run.product.slug,
    environment: run.environment.slug,
    ...(alike.isOfBranch && branch !== "" ? { q: branch } : {})
  }
  return (
    <Section
      actions={
        <Link className="text-muted text-xs hover:underline" params={{ slug }} search={search} to="/w/$slug/test-runs">
          All of them
        </Link>
      }
      isFlush
      title={`Last runs in ${run.environment.name}${alike.isOfBranch && branch !== "" ? ` on ${branch}` : ""}`}
    >
      <List isOrdered label="Last runs of this kind" noun="run">
        {alike.runs.slice(0, mostShown).map((one) => (
          <Last key={one.id} run={one} slug={slug} />
        ))}
      </List>
    </Section>
  )
}

export const RunningRun = ({ run, slug }: Props) => {
  const { data } = useQuery(latestRunsQuery(slug, { product: run.product.slug, environment: run.environment.slug }))
  const alike = alikeOf(run, data?.runs ?? [])
  const usual = typicalMillis(alike.runs)
  const { shards } = run
  return (
    <>
      <section aria-labelledby="running" className="flex max-w-160 flex-col gap-2 px-4 pt-5 pb-2">
        <h2 className="text-md font-medium" id="running">
          This run is running
        </h2>
        {usual !== undefined && <Usual alike={alike} run={run} usual={usual} />}
        {shards !== null && <Shards {...shards} />}
        <p className="text-muted">
          {shards === null
            ? "Its tests appear when it has finished. This page shows them then by itself."
            : "The tests of each shard appear when it has finished. This page shows them then by itself."}
          {shards !== null &&
            run.counts.total > 0 &&
            ` So far ${counted(run.counts.total, "test")}, and none has failed.`}
        </p>
      </section>
      <Semaphores run={run} slug={slug} />
      {alike.runs.length > 0 && <LastRuns alike={alike} run={run} slug={slug} />}
    </>
  )
}
