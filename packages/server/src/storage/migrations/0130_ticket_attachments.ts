import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Files on tickets. The id of an attachment is that of its blob. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table ticket_attachments (
    id uuid primary key,
    workspace_id uuid not null references workspaces,
    ticket_id uuid not null references tickets on delete cascade,
    name text not null,
    size integer not null,
    content_type text not null,
    sha256 text not null,
    author_kind text not null check (author_kind in ('user', 'agent', 'apiKey')),
    author_id uuid not null,
    created_at timestamptz not null
  )`
  yield* sql`create index ticket_attachments_ticket on ticket_attachments (ticket_id, created_at, id)`

  // Tickets take their attachments with them, also where a server of an earlier version deletes them.
  yield* sql`create function discard_attachment_blobs() returns trigger language plpgsql as $$
    begin
      insert into pending_blobs (id, workspace_id, run_id, lapses_at)
        select id, workspace_id, ticket_id, now() from gone;
      return null;
    end
  $$`
  yield* sql`create trigger ticket_attachments_gone after delete on ticket_attachments
    referencing old table as gone for each statement execute function discard_attachment_blobs()`
})
