import { isSameAddress, testsDeployment } from "@delivery/domain/runs/TestedAddress"
import { deployments } from "../catalog/DeploymentsRepo.ts"
import type { MemoryDatabase } from "../storage/MemoryStorage.ts"
import type { TestRunRow } from "./TestRunsRepo.ts"

/** In memory, what `TestedAddress` has in SQL: whether a run tested the address that its deployment had when it started, and has now. */
export const testsDeploymentNow = (database: MemoryDatabase, run: TestRunRow): boolean => {
  const deployed = database
    .table(deployments)
    .find(
      ({ deletedAt, environmentId, productId }) =>
        deletedAt === null && productId === run.productId && environmentId === run.environmentId
    )
  const baseUrl = deployed?.baseUrl ?? null
  return testsDeployment(run) && (baseUrl === null || isSameAddress(run.baseUrl, baseUrl))
}

/** Whether the run tested its deployment, which has another address by now. */
export const hasMoved = (database: MemoryDatabase, run: TestRunRow): boolean =>
  testsDeployment(run) && !testsDeploymentNow(database, run)
