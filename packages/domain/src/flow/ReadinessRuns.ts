import type { Readiness } from "./Readiness.ts"

/** What the runs that decide rest on (docs/contract.md, Readiness), for people. Pure. */

type Runs = Readiness["runs"]

/** How many tests failed in runs that pass since those were muted. */
export const mutedIn = (runs: Runs): number =>
  runs.reduce((sum, { gateResult, mutedFailures }) => sum + (gateResult === "passed" ? mutedFailures.count : 0), 0)

/** Which commit a run tested, in short; undefined where git did not say. */
export const commitText = ({ git: { branch, sha } }: Runs[number]): string | undefined =>
  sha === "unknown" ? undefined : [branch, sha.slice(0, 7)].join(" ").trim()

/** What is to be known of what a run says: its retry that is running, and another run of the same tests that has no result. */
export const pendingTexts = ({ newer, run, runningRetry }: Runs[number]): ReadonlyArray<string> => [
  ...(runningRetry === null ? [] : [`Retry ${runningRetry} of run ${run} is running.`]),
  ...(newer === null
    ? []
    : [
        newer.state === "running"
          ? `Run ${newer.run} is still running: until it ends, run ${run} decides.`
          : `Run ${newer.run} is newer and was interrupted: run ${run} decides.`
      ])
]

/** What would have decided, had it tested the deployment. */
export const notCountedTexts = ({ notCounted }: Pick<Readiness, "notCounted">): ReadonlyArray<string> =>
  notCounted.map(({ baseUrl, run }) => `Run ${run} tested ${baseUrl} and does not count.`)
