import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The search of tickets by the words of their comments. Nothing waits for those that there are: servers store their words in the
 * background. Servers of before the migration may run beside newer ones. They store no words, so a trigger notes what they
 * write: of what newer ones write, the words are there when it looks.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table comment_words (
    comment_id uuid primary key references comments on delete cascade,
    ticket_id uuid not null,
    workspace_id uuid not null,
    body_md5 text not null,
    words tsvector not null
  )`
  yield* sql`create index comment_words_words on comment_words using gin (words)`
  yield* sql`create index comment_words_ticket on comment_words (ticket_id)`
  yield* sql`create table unworded_comments (comment_id uuid primary key)`
  yield* sql`create function note_unworded_comment() returns trigger language plpgsql as $$
    begin
      insert into unworded_comments select new.id where not exists (
        select from comment_words where comment_id = new.id and body_md5 = md5(new.body)
      ) on conflict do nothing;
      return null;
    end
  $$`
  yield* sql`create trigger comments_unworded after insert or update of body on comments
    for each row execute function note_unworded_comment()`
  yield* sql`insert into unworded_comments select id from comments on conflict do nothing`
})
