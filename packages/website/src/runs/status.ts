import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import type { Status } from "../ui/StatusMark.tsx"

/** What a run came to. A passed run with flaky tests is flaky; one whose tests passed elsewhere alone has failed for the gate. */
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
      : result === "failed"
        ? "failed"
        : gateResult === "failed"
          ? "gateFailed"
          : counts.flaky > 0
            ? "flaky"
            : "passed"
