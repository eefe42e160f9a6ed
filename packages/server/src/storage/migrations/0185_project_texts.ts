import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The documents that projects had, with who replaced them. What servers of before replace is not kept. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table project_texts (
    workspace_id uuid not null references workspaces,
    project_id uuid not null references projects on delete cascade,
    number integer not null,
    text text,
    author_kind text not null check (author_kind in ('user', 'agent', 'apiKey')),
    author_id uuid not null,
    replaced_at timestamptz not null,
    primary key (project_id, number)
  )`
})
