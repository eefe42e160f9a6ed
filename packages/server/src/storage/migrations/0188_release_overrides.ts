import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Why a version went out although the readiness policy kept it back. Servers of before ask nobody, and store nothing. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table deployment_releases add column override_reason text`
})
