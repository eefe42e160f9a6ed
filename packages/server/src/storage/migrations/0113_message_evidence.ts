import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The run that an agent names when it completes a message. No reference: a run may be erased. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table messages add column evidence_run integer`
})
