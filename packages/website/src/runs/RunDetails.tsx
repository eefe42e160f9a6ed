import type { TestRun } from "@delivery/domain/runs/TestRun"
import { actorName } from "../api/actors.ts"
import { Copyable } from "../ui/Copy.tsx"
import { Facts } from "../ui/Facts.tsx"
import { formatAbsolute, formatCount } from "../ui/format.ts"
import { Time } from "../ui/Time.tsx"

const cleanupOf = ({ cleanup }: Pick<TestRun, "cleanup">): string => {
  if (cleanup === null) return "No Fixture API"
  const { deleted, remaining, status } = cleanup
  if (deleted === null) return status
  return `${status}: ${formatCount(deleted)} deleted, ${formatCount(remaining ?? 0)} left`
}

/** In full, beside how long ago that is: it is looked for in the logs of other machines. */
const Moment = ({ at }: { readonly at: string }) => (
  <>
    {formatAbsolute(new Date(at))}{" "}
    <span className="text-muted">
      (<Time at={at} />)
    </span>
  </>
)

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
      ["Started", <Moment at={run.startedAt} key="started" />],
      ["Finished", run.finishedAt === null ? "Not yet" : <Moment at={run.finishedAt} key="finished" />],
      ["Test data", cleanupOf(run)],
      ["Deployment locked", run.locked ? "Yes: its version could not change meanwhile" : "No"],
      ["Id", <Copyable key="id" label="Copy the id" text={run.id} />]
    ]}
  />
)
