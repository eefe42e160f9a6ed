import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What semaphores were used within each hour. It is counted when the leases of a run are deleted, so that no call of a lease
 * writes more than it did. The functions of migration 0020 stay as they are: triggers see what they do.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // No foreign key: its check would wait for whoever takes a lease of the semaphore.
  yield* sql`create table semaphore_hours (
    semaphore_id bigint not null,
    hour timestamptz not null,
    leases integer not null,
    held_ms bigint not null,
    longest_wait_ms bigint not null,
    gave_up integer not null,
    primary key (semaphore_id, hour)
  )`
  yield* sql`alter table semaphore_leases add column ended_at timestamptz`
  // Of what has not ended, each other index has its own condition: this one is none of theirs.
  yield* sql`create index semaphore_leases_ended on semaphore_leases (semaphore_id) where state = 'ended'`

  yield* sql`create function note_semaphore_lease_end() returns trigger language plpgsql as $$
    begin
      new.ended_at := least(new.expires_at, date_trunc('milliseconds', clock_timestamp()));
      return new;
    end
  $$`
  yield* sql`create trigger semaphore_leases_end before update of state on semaphore_leases
    for each row when (new.state = 'ended' and old.state <> 'ended') execute function note_semaphore_lease_end()`

  // What a lease adds to each hour until it ended, or until now. A place that ended without a lease has given up. The id of a
  // lease tells when it was asked for.
  yield* sql`create function semaphore_lease_hours(in_id uuid, in_since timestamptz, in_till timestamptz)
    returns table (hour timestamptz, leases integer, held_ms bigint, longest_wait_ms bigint, gave_up integer)
    language sql stable as $$
      select each.hour, (each.hour = own.first)::integer,
        case when in_since is null then 0
          else floor(extract(epoch from least(own.till, each.hour + interval '1 hour') - greatest(in_since, each.hour)) * 1000)
        end::bigint,
        case when in_since is not null and each.hour = own.first then greatest(0, floor(extract(epoch from in_since) * 1000)
          - ('x' || left(replace(in_id::text, '-', ''), 12))::bit(48)::bigint) else 0 end::bigint,
        0
      from (select date_trunc('hour', in_since, 'UTC') as first, greatest(in_since, in_till) as till) own
        cross join lateral generate_series(own.first, own.till, interval '1 hour') each (hour)
      where in_since is not null and (each.hour < own.till or each.hour = own.first)
      union all
      select date_trunc('hour', in_till, 'UTC'), 0, 0, 0, 1 where in_since is null
    $$`

  yield* sql`create function count_semaphore_hours() returns trigger language plpgsql as $$
    declare
      at timestamptz := date_trunc('milliseconds', clock_timestamp());
      kept timestamptz := date_trunc('hour', at, 'UTC') - interval '1 day';
    begin
      -- Most runs use no semaphores.
      if not exists (select from gone) then
        return null;
      end if;
      insert into semaphore_hours (semaphore_id, hour, leases, held_ms, longest_wait_ms, gave_up)
        select gone.semaphore_id, used.hour, sum(used.leases), sum(used.held_ms), max(used.longest_wait_ms),
          sum(used.gave_up)
        from gone cross join lateral semaphore_lease_hours(gone.id, gone.since,
          coalesce(gone.ended_at, least(gone.expires_at, at))) used
        where used.hour >= kept
        group by 1, 2 order by 1, 2
        on conflict (semaphore_id, hour) do update set leases = semaphore_hours.leases + excluded.leases,
          held_ms = semaphore_hours.held_ms + excluded.held_ms,
          longest_wait_ms = greatest(semaphore_hours.longest_wait_ms, excluded.longest_wait_ms),
          gave_up = semaphore_hours.gave_up + excluded.gave_up;
      -- Whoever deletes the same hours at the same time is not waited for.
      delete from semaphore_hours where (semaphore_id, hour) in (
        select semaphore_id, hour from semaphore_hours
        where semaphore_id in (select distinct gone.semaphore_id from gone) and hour < kept
        for update skip locked
      );
      return null;
    end
  $$`
  yield* sql`create trigger semaphore_leases_gone after delete on semaphore_leases
    referencing old table as gone for each statement execute function count_semaphore_hours()`
})
