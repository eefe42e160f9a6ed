import type { TestRunSummary } from "./TestRun.ts"

/** What a run came to for the gate, where that is not its result: for the texts of the command line and of reporters. */
export const gateText = ({ gateResult, result }: Pick<TestRunSummary, "gateResult" | "result">): string | undefined => {
  if (gateResult === result || gateResult === null) return undefined
  return gateResult === "failed"
    ? "failed for the gate: what failed passed only on another release or address, or with uncommitted changes"
    : `${gateResult} without its muted tests`
}
