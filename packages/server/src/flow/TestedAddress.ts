import type { PgClient } from "@effect/sql-pg"
import type { TestRunRow } from "../runs/TestRunsRepo.ts"

/** Whether a run tested the deployment that it names, and not another address, such as a preview (docs/contract.md, Readiness). */

const plain = (url: string): string => url.replace(/\/+$/, "").toLowerCase()

/** A deployment without a base URL has no address that another one could differ from. */
export const testsDeploymentInMemory = ({
  baseUrl,
  deploymentBaseUrl
}: Pick<TestRunRow, "baseUrl" | "deploymentBaseUrl">): boolean =>
  deploymentBaseUrl === null || plain(baseUrl) === plain(deploymentBaseUrl)

/** Of the rows of `test_runs`. */
export const testsDeployment = (sql: PgClient.PgClient) =>
  sql`(deployment_base_url is null or lower(rtrim(base_url, '/')) = lower(rtrim(deployment_base_url, '/')))`
