import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import type { ReactNode } from "react"
import { serviceUrl } from "../api/client.ts"
import { FailureView } from "../api/FailureView.tsx"
import { deploymentsQuery, productsQuery } from "../catalog/queries.ts"
import { EventList } from "../events/EventList.tsx"
import { eventsQuery } from "../events/queries.ts"
import { countsText } from "../runs/Counts.tsx"
import { latestRunsQuery } from "../runs/queries.ts"
import { statusOf } from "../runs/status.ts"
import { formatDuration, visible } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Command, SkeletonRows } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Elapsed, Time } from "../ui/Time.tsx"
import { vaultQuery } from "../vault/queries.ts"
import { newestOfPairs } from "./attention.ts"

/** What needs somebody now: what fails, what runs, and what changed. In a new workspace: how to begin. */

const Section = ({ children, title }: { readonly title: string; readonly children: ReactNode }) => (
  <section aria-label={title}>
    <h2 className="text-muted border-border border-b px-4 pt-5 pb-1 text-xs font-medium">{title}</h2>
    {children}
  </section>
)

const RunLine = ({ run, slug }: { readonly run: TestRunSummary; readonly slug: string }) => (
  <Link
    className="border-border hover:bg-hover flex h-(--row) items-center gap-3 border-b px-4"
    params={{ slug, run: String(run.number) }}
    to="/w/$slug/test-runs/$run"
  >
    <StatusMark status={statusOf(run)} />
    <span className="shrink-0 font-medium">
      {run.product.name} <span className="text-faint">/</span> {run.environment.name}
    </span>
    <span className="text-muted foreign min-w-0 flex-1 truncate">
      <span className="tabular">#{run.number}</span> {visible(run.git.subject)}
    </span>
    {run.state === "running" ? (
      <span className="text-info tabular">
        <Elapsed since={run.startedAt} />
      </span>
    ) : (
      <>
        <span className={run.counts.failed > 0 ? "text-danger max-sm:hidden" : "text-muted max-sm:hidden"}>
          {countsText(run.counts)}
        </span>
        <span className="text-muted tabular max-md:hidden">{formatDuration(run.durationMs)}</span>
      </>
    )}
    <span className="text-muted">
      <Time at={run.startedAt} />
    </span>
  </Link>
)

interface Step {
  readonly title: string
  readonly isDone: boolean
  readonly command: string
}

const FirstSteps = ({ slug, steps }: { readonly slug: string; readonly steps: ReadonlyArray<Step> }) => (
  <Section title="The first minute">
    <p className="text-muted px-4 pt-3">
      Make an{" "}
      <Link className="text-accent hover:underline" params={{ slug }} to="/w/$slug/settings/api-keys">
        API key
      </Link>{" "}
      and put it into <code className="font-mono text-xs">DELIVERY_API_KEY</code>. Each line is ticked when it has
      happened.
    </p>
    <ol className="flex flex-col gap-4 p-4">
      {steps.map(({ command, isDone, title }) => (
        <li className="flex min-w-0 gap-3" key={title}>
          <span className={isDone ? "text-success" : "text-faint"}>
            <Icon name={isDone ? "check" : "arrowRight"} />
            <span className="sr-only">{isDone ? "Done:" : "To do:"}</span>
          </span>
          <div className="flex min-w-0 flex-1 flex-col gap-1.5">
            <h3 className={isDone ? "text-muted line-through" : "font-medium"}>{title}</h3>
            {!isDone && <Command text={command} />}
          </div>
        </li>
      ))}
    </ol>
  </Section>
)

const useSteps = (slug: string): ReadonlyArray<Step> | undefined => {
  const { data: products } = useQuery(productsQuery(slug))
  const { data: deployments } = useQuery(deploymentsQuery(slug))
  const { data: runs } = useQuery(latestRunsQuery(slug))
  const { data: vault } = useQuery(vaultQuery(slug))
  if (products === undefined || deployments === undefined || runs === undefined || vault === undefined) return undefined
  const api = (path: string, body: string) =>
    `curl -H "Authorization: Bearer $DELIVERY_API_KEY" -H "Content-Type: application/json" \\\n  ${serviceUrl}/v1/workspaces/${slug}/${path} -d '${body}'`
  const line = `DELIVERY_URL=${serviceUrl} DELIVERY_WORKSPACE=${slug}`
  return [
    {
      title: "Add a product",
      isDone: products.products.length > 0,
      command: api("products", '{"slug": "shop", "name": "Shop", "type": "website"}')
    },
    {
      title: "Say where it runs",
      isDone: deployments.deployments.length > 0,
      command: `${api("environments", '{"slug": "staging", "name": "Staging", "class": "non-production"}')}\n${api("deployments", '{"product": "shop", "environment": "staging", "baseUrl": "https://staging.shop.example.com"}')}`
    },
    {
      title: "Publish a run",
      isDone: runs.runs.length > 0,
      command: `${line} npx @delivery/cli runs publish results.xml --product shop --environment staging`
    },
    {
      title: "Put a secret",
      isDone: vault.secrets.length > 0,
      command: `${line} npx @delivery/cli secrets import .env --product shop --environment staging`
    }
  ]
}

const HomeScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/" })
  const { data, error, refetch } = useQuery(latestRunsQuery(slug))
  const { data: events } = useInfiniteQuery(eventsQuery(slug))
  const steps = useSteps(slug)
  const running = data?.runs.filter((run) => run.state === "running") ?? []
  const failing = newestOfPairs(data?.runs ?? []).filter((run) => run.result === "failed")
  return (
    <>
      <Header crumbs={[]} title="Home" />
      {steps?.some((step) => !step.isDone) === true && <FirstSteps slug={slug} steps={steps} />}
      {data === undefined ? (
        error === null ? (
          <SkeletonRows rows={6} />
        ) : (
          <FailureView error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <>
          {failing.length > 0 && (
            <Section title="Failing now">
              {failing.map((run) => (
                <RunLine key={run.id} run={run} slug={slug} />
              ))}
            </Section>
          )}
          {running.length > 0 && (
            <Section title="Running">
              {running.map((run) => (
                <RunLine key={run.id} run={run} slug={slug} />
              ))}
            </Section>
          )}
          {failing.length === 0 && data.runs.length > 0 && (
            <p className="text-success flex items-center gap-2 px-4 pt-4">
              <Icon name="check" /> The newest run of every deployment passed.
            </p>
          )}
        </>
      )}
      {events !== undefined && events.pages[0] !== undefined && (
        <Section title="What changed">
          <EventList events={events.pages[0].events.slice(0, 15)} />
        </Section>
      )}
    </>
  )
}

export default HomeScreen
