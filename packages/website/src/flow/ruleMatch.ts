import type { TestRule } from "@delivery/domain/flow/TestRule"
import type { TestRunSummary } from "@delivery/domain/runs/TestRun"
import { testsDeployment } from "@delivery/domain/runs/TestedAddress"
import { counted } from "../ui/format.ts"

/** Whether any of the newest runs is one that a rule is for. Pure. */

type For = Pick<TestRule, "branch" | "coverage">

interface Found {
  readonly runs: ReadonlyArray<
    Pick<TestRunSummary, "baseUrl" | "coverage" | "deploymentBaseUrl"> & { readonly git: { readonly branch: string } }
  >
  readonly nextCursor: number | null
}

/** Says that none is, of those that were found of its product, environment and branch; undefined where one is. */
export const matchOf = ({ branch, coverage }: For, { nextCursor, runs }: Found): string | undefined => {
  const isFor = (run: Found["runs"][number]) =>
    testsDeployment(run) &&
    (branch === null || run.git.branch === branch) &&
    (coverage === null || run.coverage === coverage)
  if (runs.some(isFor)) return undefined
  return nextCursor === null
    ? "No run so far is one that it is for."
    : `None of the newest ${counted(runs.length, "run")} is one that it is for.`
}
