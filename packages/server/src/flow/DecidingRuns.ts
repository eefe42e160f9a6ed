import type { NewerRun, Readiness, RunExclusion } from "@delivery/domain/flow/Readiness"
import { shownName } from "@delivery/domain/flow/ShownName"
import { compare } from "@delivery/domain/Order"
import type { Coverage } from "@delivery/domain/runs/TestEntry"
import type { ElsewhereRun, FoundRun, LeftOutTest as LeftOut, UncountedRun, UnresolvedRun } from "./ReadinessRepo.ts"

/** What is said of runs beside those that decide (docs/contract.md, Readiness). Pure. */

/** Whether a run that decides has passed: what a retry has passed elsewhere decides nothing. */
export const hasPassed = ({
  gateResult,
  retriedElsewhere
}: Pick<FoundRun, "gateResult" | "retriedElsewhere">): boolean => gateResult === "passed" && !retriedElsewhere

/** What a run has left out that decides, and the ticket that mutes it now, if it is muted; null of that where nobody sees it. */
export interface LeftOutTest extends LeftOut {
  readonly mutedBy: string | null | undefined
}

/** Whether it keeps the version back: it failed in a run of that, and is not muted. */
export const isMissing = ({ mutedBy, otherVersion }: LeftOutTest): boolean =>
  otherVersion === null && mutedBy === undefined

/** Whether it failed in a run of another version, and is not muted. */
export const isDropped = ({ mutedBy, otherVersion }: LeftOutTest): boolean =>
  otherVersion !== null && mutedBy === undefined

interface FoundRuns {
  readonly runs: ReadonlyArray<FoundRun>
  readonly elsewhere: ReadonlyArray<ElsewhereRun>
  readonly uncounted: ReadonlyArray<UncountedRun>
  readonly leftOut: ReadonlyArray<LeftOutTest>
}

/** What the runs that tested another address would have decided, and what else decides nothing, as also what ran before; each by the coverages in the order of the policy. */
export const notCountedOf = (
  coverages: ReadonlyArray<Coverage>,
  { elsewhere, leftOut, runs, uncounted }: FoundRuns
): Readiness["notCounted"] => {
  const rest = [...uncounted, ...elsewhere.filter(({ reason }) => reason === "ran_before")]
  const others = [...coverages, null].flatMap((coverage) =>
    rest
      .filter((one) => one.coverage === coverage && isTold(one, coverages, { leftOut, runs }))
      .toSorted((a, b) => compare(b.finishedAt, a.finishedAt) || b.number - a.number)
      .slice(0, 1)
  )
  return [
    ...coverages.flatMap((coverage) =>
      elsewhere
        .filter((one) => one.coverage === coverage && one.reason === "other_address")
        .filter((one) => runs.every((run) => run.coverage !== coverage || run.finishedAt < one.finishedAt))
        .map((one) => presentUncounted(one, one.reason))
    ),
    ...others.map((one) => presentUncounted(one, one.reason))
  ]
}

/**
 * Whether, for its coverage, or for one of all where it names none, no run decides, or it finished after the one that does and failed, or
 * passed where that one keeps the version back.
 */
const isTold = (
  { coverage, finishedAt, result }: Pick<UncountedRun, "coverage" | "finishedAt" | "result">,
  coverages: ReadonlyArray<string>,
  { leftOut, runs }: Pick<FoundRuns, "leftOut" | "runs">
): boolean =>
  (coverage === null ? coverages : [coverage]).some((asked) => {
    const deciding = runs.find((run) => run.coverage === asked)
    if (deciding === undefined) return true
    const isKeptBack =
      !hasPassed(deciding) || leftOut.some((one) => one.coverage === deciding.coverage && isMissing(one))
    return deciding.finishedAt < finishedAt && (result === "failed" || isKeptBack)
  })

const presentUncounted = (
  { baseUrl, coverage, environment, number, result }: UncountedRun | ElsewhereRun,
  reason: RunExclusion
) => ({ coverage, run: number, environment, result, reason, baseUrl: shownName(baseUrl) })

/** The run that may decide in place of the one that does: also one that started earlier, while it is running. */
export const pendingOf = ({ number }: Pick<FoundRun, "number">, run: UnresolvedRun | undefined): NewerRun | null =>
  run !== undefined && (run.state === "running" || run.number > number) ? { run: run.number, state: run.state } : null
