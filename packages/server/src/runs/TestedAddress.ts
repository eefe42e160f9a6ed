import { plainAddress, testsDeployment as testsTheDeployment } from "@delivery/domain/runs/TestedAddress"
import type { PgClient } from "@effect/sql-pg"
import type { Statement } from "effect/sql"

/** What the domain says of addresses that were tested, in SQL. */

const plain = (url: string): string =>
  [
    ["^(https?://[^/:?#]*[^/:?#.])\\.([/:?#]|$)", "\\1\\2"],
    ["^(https://[^/]+):443(/|$)", "\\1\\2"],
    ["^(http://[^/]+):80(/|$)", "\\1\\2"]
  ].reduce(
    (so, [pattern, by]) => `regexp_replace(${so}, '${pattern}', '${by}')`,
    `lower(regexp_replace(${url}, '/*\\??#?$', ''))`
  )

/** Whether two expressions are of one address. */
export const sameAddress = (sql: PgClient.PgClient, one: string, other: string): Statement.Fragment =>
  sql.literal(`(${one} = ${other} or ${plain(one)} = ${plain(other)})`)

/** Of the rows of `test_runs`, called `of` where they are not alone. */
export const testsDeployment = (sql: PgClient.PgClient, of?: string): Statement.Fragment => {
  const column = (name: string) => (of === undefined ? name : `${of}.${name}`)
  const deployed = column("deployment_base_url")
  return sql`(${sql.literal(deployed)} is null or ${sameAddress(sql, column("base_url"), deployed)})`
}

/**
 * The same of the address that the deployment has now, too: an address that was changed for a run and back is not the deployment's, and
 * nobody has tested one that is new. `of` is called so in the statement.
 */
export const testsDeploymentNow = (sql: PgClient.PgClient, of: string): Statement.Fragment => {
  const run = sql.literal(of)
  return sql`(${testsDeployment(sql, of)} and not exists (select 1 from deployments now
    where now.product_id = ${run}.product_id and now.environment_id = ${run}.environment_id and now.deleted_at is null
      and now.base_url is not null and not ${sameAddress(sql, `${of}.base_url`, "now.base_url")}))`
}

/** Whether the run `of` tested the deployment, which has another address by now. */
export const hasMoved = (sql: PgClient.PgClient, of: string): Statement.Fragment =>
  sql`(${testsDeployment(sql, of)} and not ${testsDeploymentNow(sql, of)})`

/** What a run tested, where another is asked for that tested the same. */
export interface TestedAt {
  readonly baseUrl: string
  readonly deploymentBaseUrl: string | null
}

/** Whether the run `of` tested the same: the deployment, whatever address that had then, or else this address. */
export const testedSame = (sql: PgClient.PgClient, of: string, at: TestedAt): Statement.Fragment =>
  testsTheDeployment(at)
    ? testsDeployment(sql, of)
    : sql`${sql.literal(plain(`${of}.base_url`))} = ${plainAddress(at.baseUrl)}`

/** Among how many of the newest runs of a deployment that which tested it is looked for. */
export const mostElsewhere = 200

/** Among how many of the newest that tested a deployment the one is looked for that tells how it fares. */
export const mostTelling = 20
