import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What completes the tickets of a rule. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table test_rules add column completion text not null default 'free' check (completion in ('free', 'evidence'))`
})
