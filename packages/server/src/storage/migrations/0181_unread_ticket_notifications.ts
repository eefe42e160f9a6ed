import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What is unread is listed and counted without what a person has read in years. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index ticket_notifications_unread
    on ticket_notifications (workspace_id, person_id, created_at desc, id desc) where read_at is null`
})
