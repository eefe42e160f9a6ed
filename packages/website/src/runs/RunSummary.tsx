import { Link } from "@tanstack/react-router"
import type { TestRun } from "@delivery/domain/runs/TestRun"
import { testsDeployment } from "@delivery/domain/runs/TestedAddress"
import type { ReactNode } from "react"
import { actorName } from "../api/actors.ts"
import { Badge } from "../ui/Badge.tsx"
import { formatDuration } from "../ui/duration.ts"
import { formatCount, shortSha } from "../ui/format.ts"
import { Icon, type IconName } from "../ui/Icon.tsx"
import { later } from "../ui/later.tsx"
import { Elapsed } from "../ui/Elapsed.tsx"
import { Time } from "../ui/Time.tsx"
import { Truncated } from "../ui/Truncated.tsx"
import { CountsBar } from "./Counts.tsx"

const CodeBlock = later(async () => ({ default: (await import("../ui/Code.tsx")).CodeBlock }))

const Copyable = later(
  async () => ({ default: (await import("../ui/Copy.tsx")).Copyable }),
  ({ shown }) => <span className="foreign truncate font-mono text-xs">{shown}</span>
)

const OtherAddress = later(() => import("./OtherAddress.tsx"))

const RunGate = later(() => import("./RunGate.tsx"))

/** What one wants to know of a run first: of which commit, where, how many, and how long. */

const Fact = ({ children, icon }: { readonly children: ReactNode; readonly icon?: IconName }) => (
  <span className="text-muted inline-flex max-w-full min-w-0 items-center gap-1.5">
    {icon !== undefined && <Icon name={icon} size={14} />}
    {children}
  </span>
)

const numbers = [
  ["failed", "text-danger"],
  ["flaky", "text-warning"],
  ["passed", "text-success"],
  ["skipped", "text-muted"]
] as const

export const RunSummary = ({ run, slug }: { readonly run: TestRun; readonly slug: string }) => (
  <section aria-label="Summary" className="flex flex-col gap-2 px-4 pt-3 pb-3">
    <p className="text-md foreign font-medium">{run.git.subject === "" ? "No commit message" : run.git.subject}</p>
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <Fact icon="deployments">
        <Link
          className="text-text truncate hover:underline"
          params={{ slug, product: run.product.slug, environment: run.environment.slug }}
          to="/w/$slug/deployments/$product/$environment"
        >
          {run.product.name} in {run.environment.name}
        </Link>
        {run.environment.class === "production" && <Badge tone="warning">production</Badge>}
      </Fact>
      {!testsDeployment(run) && <OtherAddress run={run} />}
      <Fact icon="branch">
        <Truncated text={run.git.branch} />
      </Fact>
      <Fact icon="commit">
        <Copyable label="Copy the commit" shown={shortSha(run.git.sha)} text={run.git.sha} />
      </Fact>
      {run.deploymentVersion !== null && (
        <Fact>
          version{" "}
          <Copyable label="Copy the version" shown={shortSha(run.deploymentVersion)} text={run.deploymentVersion} />
          {run.deploymentChanged && (
            <Badge title="The version changed while it ran" tone="warning">
              changed meanwhile
            </Badge>
          )}
        </Fact>
      )}
      <Fact icon="clock">
        <span className="tabular">
          {run.state === "running" ? <Elapsed since={run.startedAt} /> : formatDuration(run.durationMs)}
        </span>
      </Fact>
      <Fact icon="person">
        <span className="truncate">{actorName(run.publishedBy)}</span>
        {run.state !== "running" && <Time at={run.startedAt} />}
      </Fact>
      {run.coverage !== null && <Fact>{run.coverage} tests</Fact>}
      {run.shards !== null && (
        <Fact>
          {run.shards.finished} of {run.shards.total} shards finished
        </Fact>
      )}
    </div>
    {run.counts.total > 0 && (
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <span className="w-48 max-sm:w-full">
          <CountsBar counts={run.counts} />
        </span>
        {numbers.map(([name, colour]) =>
          run.counts[name] === 0 ? null : (
            <span className={colour} key={name}>
              <b className="tabular font-semibold">{formatCount(run.counts[name])}</b> {name}
            </span>
          )
        )}
        <RunGate run={run} />
      </div>
    )}
    {run.error !== null && <CodeBlock label="the error of the run" text={run.error} tone="danger" />}
  </section>
)
