import type { NewerRun, Readiness, RunExclusion } from "@delivery/domain/flow/Readiness"
import type { ReadinessPolicy } from "@delivery/domain/flow/ReadinessPolicy"
import { shownName } from "@delivery/domain/flow/ShownName"
import type { Findings } from "./ReadinessReasons.ts"
import type { ElsewhereRun, FoundRun, UncountedRun, UnresolvedRun } from "./ReadinessRepo.ts"

/** What is said of runs beside those that decide (docs/contract.md, Readiness). Pure. */

/** Whether a run would decide in place of the one that does: where one of them alone is of the environment that versions come from, that. */
const wouldDecide = (from: string | null, one: ElsewhereRun, run: FoundRun): boolean =>
  (one.environment === from) === (run.environment.slug === from)
    ? run.finishedAt < one.finishedAt
    : one.environment === from

/** What the runs that tested another address would have decided, and what failed after all that decides; each by the coverages in the order of the policy. */
export const notCountedOf = (
  { from, requires }: ReadinessPolicy,
  { elsewhere, runs, uncounted }: Findings
): Readiness["notCounted"] => {
  const coverages = requires.map(({ coverage }) => coverage)
  const others = [...coverages, null].flatMap((coverage) =>
    uncounted.filter((one) => one.coverage === coverage && isNewest(one, coverages, runs))
  )
  return [
    ...coverages.flatMap((coverage) =>
      elsewhere
        .filter((one) => one.coverage === coverage)
        .filter((one) => runs.every((run) => run.coverage !== coverage || wouldDecide(from, one, run)))
        .map((one) => presentUncounted(one, one.result, "other_address"))
    ),
    ...others.map((one) => presentUncounted(one, "failed", one.reason))
  ]
}

/** Whether it finished after the runs that decide for its coverage, or for one of all where it names none. */
const isNewest = (
  { coverage, finishedAt }: UncountedRun,
  coverages: ReadonlyArray<string>,
  runs: ReadonlyArray<FoundRun>
): boolean =>
  (coverage === null ? coverages : [coverage]).some((asked) =>
    runs.every((run) => run.coverage !== asked || run.finishedAt < finishedAt)
  )

const presentUncounted = (
  { baseUrl, coverage, environment, number }: UncountedRun | ElsewhereRun,
  result: Readiness["notCounted"][number]["result"],
  reason: RunExclusion
) => ({ coverage, run: number, environment, result, reason, baseUrl: shownName(baseUrl) })

/** The run that may decide in place of the one that does: also one that started earlier, while it is running. */
export const pendingOf = (
  from: string | null,
  { environment, number }: Pick<FoundRun, "environment" | "number">,
  run: UnresolvedRun | undefined
): NewerRun | null => {
  if (run === undefined || (environment.slug === from && run.environment !== from)) return null
  return run.state === "running" || run.number > number ? { run: run.number, state: run.state } : null
}
