import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import type { Status } from "../ui/StatusMark.tsx"

/** What a run came to, in one word. A passed run with flaky tests is flaky. */
export const statusOf = ({ counts, result, state }: Pick<TestRunSummary, "counts" | "result" | "state">): Status =>
  state === "running"
    ? "running"
    : state === "interrupted"
      ? "interrupted"
      : result === "failed"
        ? "failed"
        : counts.flaky > 0
          ? "flaky"
          : "passed"
