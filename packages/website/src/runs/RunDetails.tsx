import type { TestRun } from "@delivery/domain/runs/TestRun"
import { actorName } from "../api/actors.ts"
import { Copyable } from "../ui/Copy.tsx"
import { Facts } from "../ui/Facts.tsx"
import { counted, formatCount } from "../ui/format.ts"
import { Empty } from "../ui/States.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Time } from "../ui/Time.tsx"

const cleanupOf = ({ cleanup }: Pick<TestRun, "cleanup">): string => {
  if (cleanup === null) return "No Fixture API"
  const { deleted, remaining, status } = cleanup
  if (deleted === null) return status
  return `${status}: ${formatCount(deleted)} deleted, ${formatCount(remaining ?? 0)} left`
}

/** Everything else of a run. */
export const RunDetails = ({ run }: { readonly run: TestRun }) => (
  <Facts
    facts={[
      ["Tested address", <Copyable key="base" label="Copy the address" text={run.baseUrl} />],
      [
        "Address of the deployment",
        run.deploymentBaseUrl === null ? (
          "Unknown"
        ) : (
          <Copyable key="deployment" label="Copy the address of the deployment" text={run.deploymentBaseUrl} />
        )
      ],
      ["Release", run.release === null ? "Unknown" : `Release ${run.release}`],
      ["Machine", `${run.machine.hostname} (${run.machine.platform})`],
      ["Commit", <Copyable key="commit" label="Copy the commit" text={run.git.sha} />],
      ["Published by", actorName(run.publishedBy)],
      ["Started", <Time at={run.startedAt} key="started" />],
      ["Finished", run.finishedAt === null ? "Not yet" : <Time at={run.finishedAt} key="finished" />],
      ["Test data", cleanupOf(run)],
      ["Deployment locked", run.locked ? "Yes: its version could not change meanwhile" : "No"],
      ["Id", <Copyable key="id" label="Copy the id" text={run.id} />]
    ]}
  />
)

export const RunRetries = ({ run }: { readonly run: TestRun }) =>
  run.retries.length === 0 ? (
    <Empty command={`npx @delivery/cli runs retry ${run.number}`} icon="runs" title="The failed tests were not retried">
      A failed test that passes every attempt of a retry counts as flaky.
    </Empty>
  ) : (
    <ul aria-label="Retries">
      {run.retries.map((retry) => (
        <li
          className="border-border flex min-h-(--row) flex-wrap items-center gap-x-4 border-b px-4 py-1"
          key={retry.number}
        >
          <StatusMark
            status={retry.state === "running" ? "running" : retry.state === "interrupted" ? "interrupted" : "passed"}
          />
          <span className="font-medium">Retry {retry.number}</span>
          <span className="text-muted">
            {counted(retry.testCount, "test")}, {formatCount(retry.flakyCount)} flaky
          </span>
          <span className="text-muted">{counted(retry.requiredPasses, "pass", "passes")} required</span>
          <span className="flex-1" />
          <span className="text-muted">{actorName(retry.publishedBy)}</span>
          <span className="text-muted">
            <Time at={retry.startedAt} />
          </span>
        </li>
      ))}
    </ul>
  )
