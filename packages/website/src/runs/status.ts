import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import type { Status } from "../ui/StatusMark.tsx"

/** What a run came to, in one word. A passed run with flaky tests is flaky, and one whose tests passed elsewhere alone has failed. */
export const statusOf = ({
  counts,
  gateResult,
  result,
  state
}: Pick<TestRunSummary, "counts" | "gateResult" | "result" | "state">): Status =>
  state === "running"
    ? "running"
    : state === "interrupted"
      ? "interrupted"
      : [result, gateResult].includes("failed")
        ? "failed"
        : counts.flaky > 0
          ? "flaky"
          : "passed"
