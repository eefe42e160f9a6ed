import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * A position for each event, by which a reader goes on and misses nothing (docs/architecture.md, Events).
 *
 * The trigger gives it, so that a server of an earlier version does, too. Before its first event a transaction takes a
 * shared advisory lock that names the last position taken until then: all of its own are higher. `readable_events` reads
 * the last position first, and then the locks. Whoever had taken a position up to that had its lock before, and holds it
 * until its commit can be seen. So below the lowest lock nothing is open, and nothing comes any more: a statement that
 * begins after it sees all that there will ever be up to `readable`. Only writers of events have such a lock.
 *
 * A notice makes commits wait for each other, so only the first event in 100 ms has one. It looks for an earlier one before
 * it takes its position. So whoever is told of that one is told after the position of the other can be seen in `last`.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create sequence event_positions minvalue 0`
  yield* sql`create sequence event_notices minvalue 0`
  yield* sql`alter table events add column position bigint`
  yield* sql`update events set position = placed.position
    from (select id, row_number() over (order by id) as position from events) placed
    where placed.id = events.id`
  yield* sql`select setval('event_positions', coalesce(max(position), 0))::text from events`
  yield* sql`alter table events alter column position set not null`
  yield* sql`create unique index events_position on events (workspace_id, position)`
  yield* sql`create index events_kind on events (workspace_id, kind, position)`
  yield* sql`create index events_subject on events (workspace_id, subject_id, position)`
  yield* sql`create function place_event() returns trigger language plpgsql as $$
    declare
      at bigint := extract(epoch from clock_timestamp()) * 1000;
      is_told boolean;
    begin
      select abs(at - last_value) < 100 into is_told from event_notices;
      if coalesce(current_setting('delivery.writes_events', true), '') = '' then
        perform pg_advisory_xact_lock_shared((25974::bigint << 48) | last_value) from event_positions;
        perform set_config('delivery.writes_events', 'true', true);
      end if;
      new.position := nextval('event_positions');
      if not is_told then
        perform setval('event_notices', at);
        perform pg_notify('events', '');
      end if;
      return new;
    end $$`
  yield* sql`create trigger events_place before insert on events for each row execute function place_event()`
  yield* sql`create function readable_events(out last bigint, out readable bigint) language plpgsql as $$
    begin
      select last_value into last from event_positions;
      select least(last, min(((classid::bigint & 65535) << 32) | objid::bigint)) into readable
        from pg_locks
        where locktype = 'advisory' and objsubid = 1 and classid::bigint >> 16 = 25974
          and database = (select oid from pg_database where datname = current_database());
    end $$`
})
