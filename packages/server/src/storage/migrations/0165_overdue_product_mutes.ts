import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Overdue mutes by ticket and product. A ticket had one row, so what it muted of another product later took its place.
 *
 * Servers of before go on with `overdue_mutes`. The triggers take over what they write, and show them one row of each
 * ticket. What triggers write calls no trigger, and rows that go with their ticket or product go in both tables.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table overdue_product_mutes (
    ticket_id uuid not null references tickets on delete cascade,
    workspace_id uuid not null references workspaces,
    product_id uuid not null references products on delete cascade,
    case_ids jsonb not null,
    until timestamptz not null,
    constraint overdue_product_mutes_key primary key (ticket_id, product_id)
  )`
  yield* sql`create index overdue_product_mutes_product on overdue_product_mutes (workspace_id, product_id)`

  yield* sql`create function take_over_overdue_mute() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        delete from overdue_product_mutes where ticket_id = old.ticket_id and product_id = old.product_id;
        insert into overdue_mutes (ticket_id, workspace_id, product_id, case_ids, until)
          select ticket_id, workspace_id, product_id, case_ids, until from overdue_product_mutes
          where ticket_id = old.ticket_id order by until, product_id limit 1;
        return null;
      end if;
      insert into overdue_product_mutes (ticket_id, workspace_id, product_id, case_ids, until)
        values (new.ticket_id, new.workspace_id, new.product_id, new.case_ids, new.until)
        on conflict (ticket_id, product_id) do nothing;
      if found then
        return null;
      end if;
      -- Such a server knows what it replaces of the product that it saw, and nothing of the others.
      if tg_op = 'UPDATE' and old.product_id = new.product_id then
        update overdue_product_mutes set case_ids = new.case_ids, until = new.until
          where ticket_id = new.ticket_id and product_id = new.product_id;
      else
        update overdue_product_mutes kept set until = least(kept.until, new.until), case_ids = (
            select jsonb_agg(distinct cases.id) from jsonb_array_elements_text(kept.case_ids || new.case_ids) as cases (id)
          )
          where ticket_id = new.ticket_id and product_id = new.product_id;
      end if;
      return null;
    end
  $$`
  yield* sql`create trigger overdue_mutes_taken_over after insert or update or delete on overdue_mutes
    for each row when (pg_trigger_depth() = 0) execute function take_over_overdue_mute()`

  yield* sql`create function show_overdue_mute() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        delete from overdue_mutes where ticket_id = old.ticket_id and product_id = old.product_id;
        insert into overdue_mutes (ticket_id, workspace_id, product_id, case_ids, until)
          select ticket_id, workspace_id, product_id, case_ids, until from overdue_product_mutes
          where ticket_id = old.ticket_id order by until, product_id limit 1
          on conflict (ticket_id) do nothing;
        return null;
      end if;
      insert into overdue_mutes (ticket_id, workspace_id, product_id, case_ids, until)
        values (new.ticket_id, new.workspace_id, new.product_id, new.case_ids, new.until)
        on conflict (ticket_id) do update set case_ids = excluded.case_ids, until = excluded.until
          where overdue_mutes.product_id = excluded.product_id;
      return null;
    end
  $$`
  yield* sql`create trigger overdue_product_mutes_shown after insert or update or delete on overdue_product_mutes
    for each row when (pg_trigger_depth() = 0) execute function show_overdue_mute()`

  // After the triggers: what such a server writes from here on waits for this.
  yield* sql`insert into overdue_product_mutes (ticket_id, workspace_id, product_id, case_ids, until)
    select ticket_id, workspace_id, product_id, case_ids, until from overdue_mutes`
})
