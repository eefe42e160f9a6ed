import type { TestRun } from "@delivery/domain/runs/TestRun"
import { counted } from "../ui/format.ts"
import { Empty } from "../ui/States.tsx"
import { AllTests } from "./AllTests.tsx"
import { RunDetails } from "./RunDetails.tsx"
import { RunningRun } from "./RunningRun.tsx"
import { RunRetries } from "./RunRetries.tsx"
import { RunSemaphores } from "./RunSemaphores.tsx"

interface Props {
  readonly run: TestRun
  readonly slug: string
  readonly view: "none" | "tests" | "retries" | "details"
}

/** In place of failures: why there are none. */
const NoFailures = ({ run, slug }: Pick<Props, "run" | "slug">) => {
  if (run.state === "running") return <RunningRun run={run} slug={slug} />
  if (run.error !== null) return <Empty icon="warning" title="It failed outside of its tests" />
  if (run.tests.length === 0) return <Empty icon="runs" title="No test was reported" />
  return (
    <Empty icon="check" title={`No test failed: ${counted(run.counts.passed, "test")} passed`}>
      {run.counts.skipped > 0 && `${counted(run.counts.skipped, "test")} skipped.`}
    </Empty>
  )
}

/** What is asked of a run after its failures, and loaded when it is. */
const RunViews = ({ run, slug, view }: Props) => {
  if (view === "none") return <NoFailures run={run} slug={slug} />
  if (view === "tests") return <AllTests run={run} slug={slug} />
  if (view === "retries") return <RunRetries run={run} slug={slug} />
  return (
    <>
      <RunDetails run={run} />
      <RunSemaphores run={run.number} slug={slug} />
    </>
  )
}

export default RunViews
