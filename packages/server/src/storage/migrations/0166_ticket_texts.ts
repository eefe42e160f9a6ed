import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The descriptions and plans that tickets had, with who replaced them. What servers of before replace is not kept. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table ticket_texts (
    workspace_id uuid not null references workspaces,
    ticket_id uuid not null references tickets on delete cascade,
    number integer not null,
    field text not null check (field in ('description', 'plan')),
    text text,
    author_kind text not null check (author_kind in ('user', 'agent', 'apiKey')),
    author_id uuid not null,
    replaced_at timestamptz not null,
    primary key (ticket_id, number)
  )`
})
