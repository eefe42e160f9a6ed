import type { TestRunSummary } from "@delivery/domain/runs/TestRun"

/** Of each product in each environment its newest finished run, newest first. */
export const newestOfPairs = (runs: ReadonlyArray<TestRunSummary>): ReadonlyArray<TestRunSummary> => {
  const newest = new Map<string, TestRunSummary>()
  for (const run of runs) {
    const pair = `${run.product.slug} ${run.environment.slug}`
    if (run.state === "finished" && !newest.has(pair)) newest.set(pair, run)
  }
  return [...newest.values()]
}
