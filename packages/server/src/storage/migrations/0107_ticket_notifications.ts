import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What persons are told of tickets: assignments, mentions and comments. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table ticket_notifications (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    person_id uuid not null references persons,
    kind text not null check (kind in ('ticket_assigned', 'ticket_mentioned', 'ticket_commented')),
    ticket_id uuid not null references tickets on delete cascade,
    comment_id uuid references comments on delete cascade,
    actor_kind text not null,
    actor_id uuid not null,
    read_at timestamptz,
    created_at timestamptz not null
  )`
  yield* sql`create index ticket_notifications_person
    on ticket_notifications (workspace_id, person_id, created_at desc, id desc)`
  yield* sql`create index ticket_notifications_ticket on ticket_notifications (ticket_id)`
  yield* sql`create index ticket_notifications_comment on ticket_notifications (comment_id)
    where comment_id is not null`
})
