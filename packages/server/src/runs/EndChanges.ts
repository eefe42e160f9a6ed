import type { Change } from "@delivery/domain/events/Event"
import type { Counts, RunResult } from "@delivery/domain/runs/TestRun"
import { testedNothing } from "@delivery/domain/runs/RunRemarks"
import { testsDeployment } from "@delivery/domain/runs/TestedAddress"
import type { FinishedTestRun, FoundTestRun } from "./TestRunsRepo.ts"

/** What events tell of the end of a run or of its retry (docs/contract.md, Events): what a reader of alerts asks next. Pure. */

const fact = (field: string, to: string): Change => ({ field, from: null, to })

const countsText = ({ failed, total }: Counts): string => `${failed} of ${total} failed`

/** What was tested, as it is called. */
export const tested = ({
  deploymentVersion,
  environment,
  product
}: Pick<FoundTestRun, "deploymentVersion" | "environment" | "product">): ReadonlyArray<Change> => [
  fact("product", product.name),
  fact("environment", environment.name),
  ...(deploymentVersion === null ? [] : [fact("version", deploymentVersion)])
]

/** Where a run says less of the deployment than one may think. */
const otherwise = (run: FoundTestRun, ended: Pick<FinishedTestRun, "counts" | "gateResult">): ReadonlyArray<Change> => [
  ...(testsDeployment(run) ? [] : [fact("address", run.baseUrl)]),
  ...(run.git.dirty ? [fact("uncommittedChanges", "true")] : []),
  ...(testedNothing(ended) ? [fact("nothingTested", "true")] : []),
  ...(run.deploymentChanged ? [fact("deploymentChanged", "true")] : []),
  ...(run.partOfTests ? [fact("partOfTests", "true")] : [])
]

/** Alerts are about what is held back: muted failures alone do not. */
const gate = (result: RunResult | null, gateResult: RunResult | null): ReadonlyArray<Change> =>
  gateResult === null || gateResult === result ? [] : [fact("gateResult", gateResult)]

export const endOfRun = (
  run: FoundTestRun,
  { counts, gateResult, result }: Pick<FinishedTestRun, "counts" | "gateResult" | "result">
): ReadonlyArray<Change> => [
  ...(result === null ? [] : [fact("result", result), ...gate(result, gateResult), fact("counts", countsText(counts))]),
  ...tested(run),
  ...(result === null ? [] : otherwise(run, { counts, gateResult }))
]

interface Recounted {
  readonly counts: Counts
  readonly result: RunResult
  readonly gateResult: RunResult | null
}

/** @param flaky How many tests have passed every attempt of the retry. */
export const endOfRetry = (
  run: FoundTestRun,
  flaky: number,
  { counts, gateResult, result }: Recounted
): ReadonlyArray<Change> => [
  ...(flaky === 0 ? [] : [{ field: "flakyCount", from: "0", to: String(flaky) }]),
  ...(run.result === result ? [] : [{ field: "result", from: run.result, to: result }]),
  // What had passed elsewhere alone may have passed here since.
  ...(run.result === result && gateResult === result && run.gateResult !== gateResult
    ? [{ field: "gateResult", from: run.gateResult, to: gateResult }]
    : gate(result, gateResult)),
  run.counts.failed === counts.failed
    ? fact("counts", countsText(counts))
    : { field: "counts", from: countsText(run.counts), to: countsText(counts) },
  ...tested(run),
  ...otherwise(run, { counts, gateResult })
]
