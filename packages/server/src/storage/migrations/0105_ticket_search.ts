import type { TeamId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import { wordsOf } from "@delivery/domain/planning/TicketSearch"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { integers, texts, uuids } from "../Columns.ts"

/**
 * The search of tickets by their words. Servers of before the migration may run beside newer ones. They store no words, so
 * triggers note what they write: they leave `wording` as it is.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table ticket_words (
    ticket_id uuid primary key references tickets on delete cascade,
    workspace_id uuid not null,
    team_id uuid not null,
    title_words tsvector not null,
    words tsvector not null
  )`
  yield* sql`create table unworded_tickets (ticket_id uuid primary key references tickets on delete cascade)`
  while (yield* storeWords(sql));
  // Made after the words, which is quicker.
  yield* sql`create index ticket_words_words on ticket_words using gin (title_words, words)`
  yield* sql`create index tickets_changed on tickets (workspace_id, updated_at desc, id desc)`
  yield* sql`analyze ticket_words`
  // Only now, since nobody reads tickets from then on until all is done.
  yield* sql`alter table tickets add column wording integer not null default 0`

  yield* sql`create function note_unworded_ticket() returns trigger language plpgsql as $$
    begin
      insert into unworded_tickets values (new.id) on conflict do nothing;
      return null;
    end
  $$`
  yield* sql`create trigger tickets_made_unworded after insert on tickets
    for each row when (new.wording = 0) execute function note_unworded_ticket()`
  yield* sql`create trigger tickets_changed_unworded after update of title, description, team_id, number on tickets
    for each row when (new.wording = old.wording and (new.title, new.description, new.team_id, new.number)
      is distinct from (old.title, old.description, old.team_id, old.number))
    execute function note_unworded_ticket()`
})

interface Ticket {
  readonly id: TicketId
  readonly workspaceId: WorkspaceId
  readonly teamId: TeamId
  readonly number: number
  readonly title: string
  readonly description: string | null
}

/** Stores the words of the next tickets: of few at once, whose descriptions fit in memory. Returns whether there were any. */
const storeWords = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const tickets = yield* sql<Ticket>`select id, workspace_id as "workspaceId", team_id as "teamId", number, title,
      description
    from tickets where id > coalesce((select ticket_id from ticket_words order by ticket_id desc limit 1),
      '00000000-0000-0000-0000-000000000000')
    order by id limit 50`
  if (tickets.length === 0) return false
  yield* sql`insert into ticket_words (ticket_id, workspace_id, team_id, title_words, words)
    select id, workspace_id, team_id, array_to_tsvector(title), array_to_tsvector(title || description)
    from (
      select r.id, r.workspace_id, r.team_id, string_to_array(r.description, ' ') as description,
        array[r.workspace_id::text, lower(team.key collate "C"), r.number::text] || string_to_array(r.title, ' ') as title
      from unnest(${uuids(tickets.map(({ id }) => id))}, ${uuids(tickets.map(({ workspaceId }) => workspaceId))},
          ${uuids(tickets.map(({ teamId }) => teamId))}, ${integers(tickets.map(({ number }) => number))},
          ${texts(tickets, ({ title }) => wordsOf(title).join(" "))},
          ${texts(tickets, ({ description }) => wordsOf(description ?? "").join(" "))})
        as r (id, workspace_id, team_id, number, title, description) join teams team on team.id = r.team_id
    ) worded`
  return true
})
