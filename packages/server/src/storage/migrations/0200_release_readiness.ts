import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What readiness said when a version went out. Null for releases of before, and for those that servers of before store. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table deployment_releases add column readiness jsonb`
})
