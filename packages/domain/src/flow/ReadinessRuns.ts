import { shortened } from "../catalog/ShortVersion.ts"
import { isSameCommit } from "../catalog/WholeVersion.ts"
import type { Readiness, RunExclusion } from "./Readiness.ts"

/** What the runs that decide rest on (docs/contract.md, Readiness), for people. Pure. */

type Runs = Readiness["runs"]

/** How many tests failed in runs that pass since those were muted. */
export const mutedIn = (runs: Runs): number =>
  runs.reduce((sum, { gateResult, mutedFailures }) => sum + (gateResult === "passed" ? mutedFailures.count : 0), 0)

/** Which commit a run tested, in short; undefined where git did not say. */
export const commitText = ({ git: { branch, sha } }: Runs[number]): string | undefined =>
  sha === "unknown" ? undefined : [branch, sha.slice(0, 7)].join(" ").trim()

/** The same; where that is not what was tested, also against what its tests ran. */
export const testedText = (run: Runs[number], version: string | null): string | undefined => {
  const tests = commitText(run)
  return tests === undefined || version === null || isSameCommit(run.git.sha, version)
    ? tests
    : `tests of ${tests} against ${shortened(version)}`
}

/** What is to be known of what a run says: its retry that is running, and another run of the same tests that has no result. */
export const pendingTexts = ({ coverage, newer, run, runningRetry }: Runs[number]): ReadonlyArray<string> => [
  ...(runningRetry === null ? [] : [`Retry ${runningRetry} of run ${run} is running.`]),
  ...(newer === null
    ? []
    : [
        newer.state === "running"
          ? `Run ${newer.run} is still running: until it ends, run ${run} decides for the coverage ${coverage}.`
          : `Run ${newer.run} is newer and was interrupted: run ${run} decides for the coverage ${coverage}.`
      ])
]

const whyUncounted: Readonly<Record<RunExclusion, (baseUrl: string) => string>> = {
  other_address: (baseUrl) => `it tested ${baseUrl}, not the address that the deployment had then and has now`,
  deployment_changed: () => "the deployment changed while it ran",
  uncommitted_changes: () => "it ran changes that are in no commit",
  of_agent: () => "an agent published it",
  part_of_tests: () => "it ran a part of the tests",
  no_coverage: () => "it names no coverage",
  nothing_tested: () => "nothing in it passed or failed, muted tests aside",
  ran_before: () =>
    "by the times of its tests they ran before the version was set there, or before those of a run that failed"
}

/** That a run decides nothing, and why. */
export const uncountedText = ({
  baseUrl,
  reason,
  result,
  run
}: Pick<Readiness["notCounted"][number], "baseUrl" | "reason" | "result" | "run">): string =>
  `Run ${run} ${result}, but does not count: ${whyUncounted[reason](baseUrl)}.`

/** What would have decided, and what failed since, had it counted. */
export const notCountedTexts = ({ notCounted }: Pick<Readiness, "notCounted">): ReadonlyArray<string> =>
  notCounted.map(uncountedText)
