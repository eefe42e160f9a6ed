import type { Retry } from "./TestRun.ts"

/** What a retry came to: it passed where all of its tests passed often enough; else the run is still a failed one. */
export const retryOutcome = ({
  flakyCount,
  state,
  testCount
}: Pick<Retry, "flakyCount" | "state" | "testCount">): "running" | "passed" | "failed" | "interrupted" =>
  state !== "finished" ? state : flakyCount === testCount ? "passed" : "failed"
