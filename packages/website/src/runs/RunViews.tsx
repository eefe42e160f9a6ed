import type { TestRun } from "@delivery/domain/runs/TestRun"
import { AllTests } from "./AllTests.tsx"
import { RunDetails, RunRetries } from "./RunDetails.tsx"

interface Props {
  readonly run: TestRun
  readonly slug: string
  readonly view: "tests" | "retries" | "details"
}

/** What is asked of a run after its failures, and loaded when it is. */
const RunViews = ({ run, slug, view }: Props) => {
  if (view === "tests") return <AllTests run={run} slug={slug} />
  return view === "retries" ? <RunRetries run={run} /> : <RunDetails run={run} />
}

export default RunViews
