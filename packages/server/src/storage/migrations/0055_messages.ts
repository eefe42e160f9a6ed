import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Messages to agents, and what members are told of them. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table messages (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    agent_id uuid not null references agents,
    computer_id uuid references computers,
    ticket_id uuid not null references tickets on delete cascade,
    ask text not null check (ask in ('draft', 'refine', 'plan', 'build', 'mention')),
    note text,
    comment_id uuid,
    sender_id uuid not null references persons,
    status text not null check (status in ('queued', 'delivered', 'completed', 'declined')),
    reply text,
    created_at timestamptz not null,
    delivered_at timestamptz,
    completed_at timestamptz,
    declined_at timestamptz
  )`
  yield* sql`create index messages_inbox on messages (workspace_id, agent_id, created_at, id) where status = 'queued'`
  yield* sql`create index messages_newest on messages (workspace_id, created_at desc, id desc)`
  yield* sql`create index messages_agent on messages (workspace_id, agent_id, created_at desc, id desc)`
  yield* sql`create index messages_sender on messages (workspace_id, sender_id, created_at desc, id desc)`
  yield* sql`create index messages_ticket on messages (ticket_id)`
  yield* sql`create table notifications (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    person_id uuid not null references persons,
    kind text not null check (kind in ('message_received', 'message_completed', 'message_declined')),
    message_id uuid not null references messages on delete cascade,
    read_at timestamptz,
    created_at timestamptz not null,
    constraint notifications_once unique (message_id, person_id, kind)
  )`
  yield* sql`create index notifications_person on notifications (workspace_id, person_id, created_at desc, id desc)`
})
