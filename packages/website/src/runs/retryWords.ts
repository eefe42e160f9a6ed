import type { Retry } from "@delivery/domain/runs/TestRun"
import { counted, formatCount } from "../ui/format.ts"
import type { Status } from "../ui/StatusMark.tsx"

/** What a retry came to (docs/contract.md, Retries). Pure. */

type Outcome = Pick<Retry, "state" | "testCount" | "flakyCount">

/** It passed where all of its tests passed often enough; else the run is still a failed one. */
export const retryStatus = ({ flakyCount, state, testCount }: Outcome): Status =>
  state !== "finished" ? state : flakyCount === testCount ? "passed" : "failed"

export const retryText = ({ flakyCount, state, testCount }: Outcome): string =>
  state === "running"
    ? counted(testCount, "test")
    : `${formatCount(flakyCount)} of ${counted(testCount, "test")} passed`
