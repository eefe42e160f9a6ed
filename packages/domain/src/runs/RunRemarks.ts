import type { TestRunSummary } from "./TestRun.ts"

/** Where the result of a run says less than one may think (docs/contract.md, Readiness). Pure. */

/** Whether a run has ended, and nothing in it passed or failed, muted tests aside. */
export const testedNothing = ({ counts, gateResult }: Pick<TestRunSummary, "counts" | "gateResult">): boolean =>
  gateResult === "passed" && counts.passed + counts.flaky === 0
