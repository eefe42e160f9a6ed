import type { Retry } from "@delivery/domain/runs/TestRun"
import { counted, formatCount } from "../ui/format.ts"

/** What a retry came to (docs/contract.md, Retries). Pure. */

type Outcome = Pick<Retry, "state" | "testCount" | "flakyCount">

export const retryText = ({ flakyCount, state, testCount }: Outcome): string =>
  state === "running"
    ? counted(testCount, "test")
    : `${formatCount(flakyCount)} of ${counted(testCount, "test")} passed`
