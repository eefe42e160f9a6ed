import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The tests that tickets are about, and those that they mute; what runs were told of the latter, and judge by. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table tickets add column cases jsonb, add column mute jsonb`
  // Few tickets are about tests: each index has those alone.
  yield* sql`create index tickets_cases on tickets using gin ((cases->'caseIds')) where cases is not null`
  yield* sql`create index tickets_mutes on tickets (workspace_id, (mute->>'productId')) where mute is not null`
  yield* sql`alter table test_runs add column mutes jsonb, add column muted_count integer,
    add column gate_result text check (gate_result in ('passed', 'failed'))`
})
