import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Tickets that are completed only with evidence, and who owned tickets until when. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table tickets add column completion text not null default 'free'
      check (completion in ('free', 'evidence')),
    add column passes integer not null default 1, add column past_owners jsonb`
  yield* sql`create index tickets_evidence on tickets (status_id) where completion = 'evidence'`
})
