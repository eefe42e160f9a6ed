import type { PgClient } from "@effect/sql-pg"
import type { Statement } from "effect/sql"
import type { TestRunRow } from "./TestRunsRepo.ts"

/** Which address a run or a retry tested: the deployment that the run names, or another one, such as a preview (docs/contract.md, Readiness). */

const plain = (url: string): string =>
  url
    .replace(/\/+$/, "")
    .toLowerCase()
    .replace(/^(https:\/\/[^/]+):443(?=\/|$)/, "$1")
    .replace(/^(http:\/\/[^/]+):80(?=\/|$)/, "$1")

/** Whether two URLs are of one address: a slash at the end, upper case and the port of the scheme make no difference. */
export const isSameAddress = (one: string, other: string): boolean => plain(one) === plain(other)

const plainSql = (url: string): string =>
  `regexp_replace(regexp_replace(lower(rtrim(${url}, '/')), '^(https://[^/]+):443(/|$)', '\\1\\2'), '^(http://[^/]+):80(/|$)', '\\1\\2')`

/** The same of two expressions of SQL. */
export const sameAddress = (sql: PgClient.PgClient, one: string, other: string): Statement.Fragment =>
  sql.literal(`(${one} = ${other} or ${plainSql(one)} = ${plainSql(other)})`)

/** A deployment without a base URL has no address that another one could differ from. */
export const testsDeploymentInMemory = ({
  baseUrl,
  deploymentBaseUrl
}: Pick<TestRunRow, "baseUrl" | "deploymentBaseUrl">): boolean =>
  deploymentBaseUrl === null || isSameAddress(baseUrl, deploymentBaseUrl)

/** Of the rows of `test_runs`, called `of` where they are not alone. */
export const testsDeployment = (sql: PgClient.PgClient, of?: string): Statement.Fragment => {
  const column = (name: string) => (of === undefined ? name : `${of}.${name}`)
  const deployed = column("deployment_base_url")
  return sql`(${sql.literal(deployed)} is null or ${sameAddress(sql, column("base_url"), deployed)})`
}

/** Among how many of the newest runs of a deployment that which tested it is looked for. */
export const mostElsewhere = 200
