import type { TestRunRow } from "./TestRunsRepo.ts"

/**
 * What a finished run tells by what it ran (docs/contract.md, Readiness and Test runs): in memory, and in SQL of the rows of `test_runs`.
 */

export const hasFailed = ({ gateResult, result }: Pick<TestRunRow, "gateResult" | "result">): boolean =>
  (gateResult ?? result) === "failed"

export const hasFailedSql = "coalesce(gate_result, result) = 'failed'"

/** Whether anything passed or failed, muted tests aside: else it tells nothing. */
export const hasTested = (run: Pick<TestRunRow, "flaky" | "gateResult" | "passed" | "result">): boolean =>
  hasFailed(run) || run.passed + run.flaky > 0

export const hasTestedSql = `(${hasFailedSql} or passed + flaky > 0)`

/** Whether somebody else can run the same again, and it was not an agent who says what came of it. */
export const isReproducible = ({ gitDirty, publisherKind }: Pick<TestRunRow, "gitDirty" | "publisherKind">): boolean =>
  !gitDirty && publisherKind !== "agent"

export const isReproducibleSql = "(not git_dirty and publisher_kind <> 'agent')"

/** Whether what passed in it proves something: the same, while the deployment did not change. */
export const proves = (run: Pick<TestRunRow, "deploymentChanged" | "gitDirty" | "publisherKind">): boolean =>
  run.deploymentChanged !== true && isReproducible(run)

export const provesSql = `(deployment_changed is distinct from true and ${isReproducibleSql})`

/** Whether it was to run all tests of its coverage. */
export const isWhole = ({ selection }: { readonly selection: TestRunRow["selection"] }): boolean =>
  selection.folders.length + selection.caseIds.length === 0

/** That of the indexes of readiness, word for word. */
export const isWholeSql = `selection = '{"folders":[],"caseIds":[]}'`
