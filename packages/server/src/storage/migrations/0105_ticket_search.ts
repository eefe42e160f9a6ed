import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { wordTickets } from "../../planning/TicketWordsSql.ts"

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
  yield* sql`alter table tickets add column wording integer not null default 0`
  yield* sql`insert into unworded_tickets select id from tickets`
  while (yield* wordTickets(sql));
  // Made after the words, which is quicker.
  yield* sql`create index ticket_words_words on ticket_words using gin (title_words, words)`
  yield* sql`create index tickets_changed on tickets (workspace_id, updated_at desc, id desc)`
  yield* sql`analyze ticket_words`

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
