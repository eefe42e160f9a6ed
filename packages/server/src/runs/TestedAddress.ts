import type { PgClient } from "@effect/sql-pg"
import type { Statement } from "effect/sql"
import type { TestRunRow } from "./TestRunsRepo.ts"

/** Which address a run or a retry tested: the deployment that the run names, or another one, such as a preview (docs/contract.md, Readiness). */

const plain = (url: string): string => url.replace(/\/+$/, "").toLowerCase()

/** Whether two URLs are of one address: a slash at the end and upper case make no difference. */
export const isSameAddress = (one: string, other: string): boolean => plain(one) === plain(other)

/** The same of two expressions of SQL. */
export const sameAddress = (sql: PgClient.PgClient, one: string, other: string): Statement.Fragment =>
  sql.literal(`lower(rtrim(${one}, '/')) = lower(rtrim(${other}, '/'))`)

/** A deployment without a base URL has no address that another one could differ from. */
export const testsDeploymentInMemory = ({
  baseUrl,
  deploymentBaseUrl
}: Pick<TestRunRow, "baseUrl" | "deploymentBaseUrl">): boolean =>
  deploymentBaseUrl === null || isSameAddress(baseUrl, deploymentBaseUrl)

/** Of the rows of `test_runs`. */
export const testsDeployment = (sql: PgClient.PgClient): Statement.Fragment =>
  sql`(deployment_base_url is null or ${sameAddress(sql, "base_url", "deployment_base_url")})`
