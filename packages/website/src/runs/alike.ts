import type { TestRunSummary } from "@delivery/domain/runs/TestRun"

/** Finished runs of the same kind as one that is running, and how long they took. Pure. */

/** So many runs say how long the next one takes. */
const mostAlike = 10

/** Fewer on its branch say less than those of all branches. */
const fewest = 3

export interface Alike {
  /** Newest first. */
  readonly runs: ReadonlyArray<TestRunSummary>
  /** Whether they are of the branch of the run; else they are of any. */
  readonly isOfBranch: boolean
}

/** Of runs of its product and environment, newest first, those of the same coverage that tell how long it takes. */
export const alikeOf = (
  run: Pick<TestRunSummary, "coverage" | "git" | "number">,
  others: ReadonlyArray<TestRunSummary>
): Alike => {
  const finished = others.filter(
    ({ coverage, durationMs, error, number, state }) =>
      state === "finished" && error === null && durationMs > 0 && number !== run.number && coverage === run.coverage
  )
  const ofBranch = finished.filter(({ git }) => git.branch === run.git.branch)
  const isOfBranch = ofBranch.length >= Math.min(fewest, finished.length)
  return { runs: (isOfBranch ? ofBranch : finished).slice(0, mostAlike), isOfBranch }
}

/** The median of how long they took, in milliseconds; undefined without any. */
export const typicalMillis = (runs: ReadonlyArray<Pick<TestRunSummary, "durationMs">>): number | undefined => {
  const sorted = runs.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return low === undefined || high === undefined ? undefined : (low + high) / 2
}
