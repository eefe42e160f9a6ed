import type { Readiness } from "./Readiness.ts"

/** What the runs that decide rest on (docs/contract.md, Readiness), for people. Pure. */

type Runs = Readiness["runs"]

/** How many tests failed in runs that pass since those were muted. */
export const mutedIn = (runs: Runs): number =>
  runs.reduce((sum, { gateResult, mutedFailures }) => sum + (gateResult === "passed" ? mutedFailures.count : 0), 0)

/** That a newer run of the same tests has no result; undefined where there is none. */
export const newerText = ({ newer, run }: Runs[number]): string | undefined =>
  newer === null
    ? undefined
    : `Run ${newer.run} is newer and ${newer.state === "running" ? "still running" : "was interrupted"}: run ${run} decides.`
