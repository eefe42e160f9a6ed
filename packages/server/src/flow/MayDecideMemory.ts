import { compare } from "@delivery/domain/Order"
import { deploymentReleases } from "../catalog/ReleaseRows.ts"
import { hasFailed, hasTested, isWhole, proves } from "../runs/RunScope.ts"
import { testsDeploymentNow } from "../runs/TestedDeployment.ts"
import { type TestRunRow, testRuns } from "../runs/TestRunsRepo.ts"
import type { MemoryDatabase } from "../storage/MemoryStorage.ts"
import { isBefore } from "../runs/TestTimes.ts"

/** Which runs may decide whether a version goes out (docs/contract.md, Readiness), as `MayDecideSql` has it. */

/** That which finished last first. */
export const lastFirst = (a: TestRunRow, b: TestRunRow): number =>
  compare(b.finishedAt!, a.finishedAt!) || b.number - a.number

/** Whether a run decides, or would if it had tested the deployment. */
export const mayDecide = (run: TestRunRow): boolean => run.result !== null && hasTested(run) && proves(run)

const hasFailedThere = (run: TestRunRow): boolean => hasFailed(run) || run.retriedElsewhere === true

/**
 * Whether a run was started when all its tests had begun, and passed, and they began before its release, or before those of a run that failed
 * on that and finished earlier.
 */
export const ranBefore = (database: MemoryDatabase, run: TestRunRow): boolean => {
  const { coverage, deploymentId, lastTestAt, release } = run
  if (lastTestAt === null || deploymentId === null || release === null || run.result === null) return false
  if (hasFailedThere(run) || !isBefore(lastTestAt, run.startedAt)) return false
  const released = database.table(deploymentReleases).get(`${deploymentId}/${release}`)
  return (
    (released !== undefined && isBefore(lastTestAt, released.at)) ||
    database
      .table(testRuns)
      .filter(
        (broken) =>
          broken.deploymentId === deploymentId &&
          broken.release === release &&
          broken.coverage === coverage &&
          isBefore(lastTestAt, broken.firstTestAt) &&
          mayDecide(broken) &&
          isWhole(broken) &&
          hasFailedThere(broken) &&
          lastFirst(broken, run) > 0 &&
          testsDeploymentNow(database, broken)
      ).length > 0
  )
}

/** Whether a run that may decide does: it tested the deployment as it is, and did not run before that. */
export const testsWhatIsThere = (database: MemoryDatabase, run: TestRunRow): boolean =>
  testsDeploymentNow(database, run) && !ranBefore(database, run)
