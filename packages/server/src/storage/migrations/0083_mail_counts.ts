import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What was counted of the network that asked for a mail: it is given back when the mail is used. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table mailed_proofs add column counter text, add column counted_from timestamptz`
})
