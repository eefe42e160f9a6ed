import type { TestRunSummary } from "./TestRun.ts"

/** Where the result of a run says less than one may think (docs/contract.md, Readiness). Pure. */

/** The words of what a run rests on, the same for all who read of it. */
export const runRemarkTexts = {
  nothingTested: "nothing tested",
  deploymentChanged: "the deployment changed while it ran",
  partOfTests: "a part of the tests"
} as const

/** What people are told beside the result. */
export const runRemarks = (
  run: Pick<TestRunSummary, "counts" | "deploymentChanged" | "gateResult" | "partOfTests">
): ReadonlyArray<string> => [
  ...(testedNothing(run) ? [runRemarkTexts.nothingTested] : []),
  ...(run.deploymentChanged ? [runRemarkTexts.deploymentChanged] : []),
  ...(run.partOfTests ? [runRemarkTexts.partOfTests] : [])
]

/** Whether a run has ended, and nothing in it passed or failed, muted tests aside. */
export const testedNothing = ({ counts, gateResult }: Pick<TestRunSummary, "counts" | "gateResult">): boolean =>
  gateResult === "passed" && counts.passed + counts.flaky === 0
