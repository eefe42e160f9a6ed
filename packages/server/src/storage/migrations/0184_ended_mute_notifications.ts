import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** People are told when the time of a mute is over. Rows of before are right, and not looked at again. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table ticket_notifications drop constraint ticket_notifications_kind_check,
    add constraint ticket_notifications_kind_check
      check (kind in ('ticket_assigned', 'ticket_mentioned', 'ticket_commented', 'ticket_mute_ended')) not valid`
})
