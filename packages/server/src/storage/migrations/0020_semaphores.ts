import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Semaphores with their leases and queues (docs/contract.md, Semaphores).
 *
 * Whatever changes a lease holds the row of its semaphore, so the functions see a semaphore as if they were alone with
 * it, and `clock_timestamp()`, read once the row is held, decides what has lapsed. Who needs the rows of several
 * semaphores takes them in the order of their ids. A function is one round trip and one transaction, which is worth
 * more than twice the throughput of statements between `begin` and `commit`.
 *
 * The functions do not wait for the disk, since they would hold the row meanwhile and one semaphore would change as
 * often as the disk flushes. Whoever answers that a lease is held has the log flushed first (`SemaphoresRepo`).
 */
// oxlint-disable-next-line max-lines-per-function -- A migration is history, and stays as it was released.
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table semaphores (
    id bigint generated always as identity primary key,
    workspace_id uuid not null references workspaces,
    name text collate "C" not null,
    capacity integer not null check (capacity between 1 and 100),
    constraint semaphores_key unique (workspace_id, name)
  )`
  yield* sql`create sequence semaphore_places`
  yield* sql`create sequence semaphore_fences`

  // A lease from its place in the queue to its end. 'granted': it has a slot and waits for the next poll of its place.
  // What has ended stays until the run does, so that a run's own ended leases are told from unknown ones.
  // No foreign key on the run: its check would lock the run's row at every lease. The run's end deletes the rows.
  yield* sql`create table semaphore_leases (
    id uuid primary key,
    semaphore_id bigint not null,
    run_id uuid not null,
    run_number integer not null,
    retry integer,
    token_expires_at timestamptz not null,
    request_id text,
    test text,
    ttl_ms integer not null,
    state text not null check (state in ('queued', 'granted', 'held', 'ended')),
    place bigint,
    polls integer not null,
    slot integer,
    fence bigint,
    since timestamptz,
    expires_at timestamptz not null,
    constraint semaphore_leases_slot check (state not in ('granted', 'held') or slot is not null)
  )`
  // No slot is held twice, whatever the functions do.
  yield* sql`create unique index semaphore_leases_slots on semaphore_leases (semaphore_id, slot)
    where state in ('granted', 'held')`
  yield* sql`create index semaphore_leases_queue on semaphore_leases (semaphore_id, place) where state = 'queued'`
  yield* sql`create unique index semaphore_leases_requests
    on semaphore_leases (run_id, coalesce(retry, 0), semaphore_id, request_id)
    where request_id is not null and state <> 'ended'`
  yield* sql`create index semaphore_leases_run on semaphore_leases (run_id)`

  yield* sql`create function semaphore_run_is_running(in_run uuid, in_retry integer) returns boolean
    language sql stable as $$
      select exists (
        select from test_runs
        where id = in_run and case
          when in_retry is null then state = 'running' and expires_at > clock_timestamp()
          else running_retry = in_retry and running_retry_expires_at > clock_timestamp()
        end
      )
    $$`

  // Milliseconds until the first slot lapses, unless it is renewed or released before; null where none is held.
  yield* sql`create function semaphore_lapses_in_ms(in_semaphore bigint, at timestamptz) returns integer
    language sql stable as $$
      select ceil(extract(epoch from min(expires_at) - at) * 1000)::integer from semaphore_leases
      where semaphore_id = in_semaphore and state in ('granted', 'held') and expires_at > at
    $$`

  yield* sql`create function semaphore_holders(in_semaphore bigint, at timestamptz) returns jsonb
    language sql stable as $$
      select coalesce(
        jsonb_agg(
          jsonb_build_object('lease', id, 'run', run_number, 'retry', retry, 'test', test, 'since', since,
            'expiresAt', expires_at)
          order by since, fence
        ),
        '[]'
      )
      from semaphore_leases
      where semaphore_id = in_semaphore and state in ('granted', 'held') and expires_at > at
    $$`

  yield* sql`create function semaphore_held_json(s semaphores, l semaphore_leases, in_is_new boolean) returns jsonb
    language sql stable as $$
      select jsonb_build_object('outcome', 'held', 'isNew', in_is_new, 'lease', l.id, 'name', s.name,
        'capacity', s.capacity, 'slot', l.slot, 'fence', l.fence, 'run', l.run_number, 'retry', l.retry,
        'test', l.test, 'since', l.since, 'expiresAt', l.expires_at, 'ttlMs', l.ttl_ms)
    $$`

  yield* sql`create function semaphore_queued_json(s semaphores, l semaphore_leases, at timestamptz) returns jsonb
    language sql stable as $$
      select jsonb_build_object('outcome', 'queued', 'lease', l.id, 'name', s.name, 'capacity', s.capacity,
        'position', (
          select count(*) + 1 from semaphore_leases
          where semaphore_id = s.id and state = 'queued' and place < l.place and expires_at > at
        ),
        'expiresAt', l.expires_at, 'polls', l.polls, 'lapsesInMs', semaphore_lapses_in_ms(s.id, at))
    $$`

  yield* sql`create function semaphore_refused_json(s semaphores, in_outcome text, at timestamptz) returns jsonb
    language sql stable as $$
      select jsonb_build_object('outcome', in_outcome, 'capacity', s.capacity,
        'holders', semaphore_holders(s.id, at), 'lapsesInMs', semaphore_lapses_in_ms(s.id, at))
    $$`

  // Ends what has lapsed, gives free slots to the queue in its order and tells who waits. Answers the slots in use, in
  // order; where one is free, the queue is empty. A place without a request id is polled once, by the server that
  // keeps its call: if that does not come within 5 s, it is dead.
  yield* sql`create function semaphore_settle(s semaphores, at timestamptz) returns integer[]
    language plpgsql as $$
      declare
        taken integer[];
        lapsed integer;
        free integer;
        next semaphore_leases;
      begin
        select coalesce(array_agg(slot order by slot), '{}'), count(*) filter (where expires_at <= at)
          into taken, lapsed
          from semaphore_leases where semaphore_id = s.id and state in ('granted', 'held');
        if lapsed > 0 then
          update semaphore_leases set state = 'ended'
            where semaphore_id = s.id and state in ('granted', 'held') and expires_at <= at;
          select coalesce(array_agg(slot order by slot), '{}') into taken
            from semaphore_leases where semaphore_id = s.id and state in ('granted', 'held');
        end if;
        if cardinality(taken) >= s.capacity then
          return taken;
        end if;
        for next in select * from semaphore_leases where semaphore_id = s.id and state = 'queued' order by place loop
          if next.expires_at <= at then
            update semaphore_leases set state = 'ended' where id = next.id;
          else
            free := semaphore_free_slot(taken);
            update semaphore_leases
              set state = 'granted', slot = free, fence = nextval('semaphore_fences'), since = at,
                expires_at = least(
                  at + case when request_id is null then interval '5 seconds' else interval '30 seconds' end,
                  token_expires_at
                )
              where id = next.id;
            perform pg_notify('semaphores', next.id::text);
            taken := taken[1 : free - 1] || free || taken[free :];
            exit when cardinality(taken) >= s.capacity;
          end if;
        end loop;
        return taken;
      end
    $$`

  // The lowest slot that is not among those in order.
  yield* sql`create function semaphore_free_slot(taken integer[]) returns integer
    language plpgsql immutable as $$
      begin
        for n in 1 .. cardinality(taken) loop
          if taken[n] <> n then
            return n;
          end if;
        end loop;
        return cardinality(taken) + 1;
      end
    $$`

  // Hands a granted lease over: its time begins.
  yield* sql`create function semaphore_hand_over(in_lease uuid, at timestamptz) returns semaphore_leases
    language sql as $$
      update semaphore_leases
        set state = 'held', expires_at = least(at + ttl_ms * interval '1 millisecond', token_expires_at)
        where id = in_lease
        returning *
    $$`

  yield* sql`create function semaphore_take(in_lease uuid, in_workspace uuid, in_name text, in_capacity integer,
      in_run uuid, in_run_number integer, in_retry integer, in_token_expires_at timestamptz, in_request text,
      in_test text, in_ttl_ms integer, in_wait_ms integer) returns jsonb
    language plpgsql as $$
      declare
        s semaphores;
        l semaphore_leases;
        at timestamptz;
        taken integer[];
      begin
        perform set_config('synchronous_commit', 'off', true);
        -- The end of the run waits for this, or this for it: no lease outlives its run unseen.
        perform pg_advisory_xact_lock_shared(hashtextextended('semaphore_leases/' || in_run, 0));
        if not semaphore_run_is_running(in_run, in_retry) then
          return jsonb_build_object('outcome', 'run_not_running');
        end if;
        select * into s from semaphores where workspace_id = in_workspace and name = in_name for update;
        if not found then
          insert into semaphores (workspace_id, name, capacity) values (in_workspace, in_name, in_capacity)
            on conflict do nothing;
          select * into s from semaphores where workspace_id = in_workspace and name = in_name for update;
        end if;
        at := date_trunc('milliseconds', clock_timestamp());
        taken := semaphore_settle(s, at);

        if in_request is not null then
          select * into l from semaphore_leases
            where run_id = in_run and coalesce(retry, 0) = coalesce(in_retry, 0) and semaphore_id = s.id
              and request_id = in_request and state <> 'ended';
          if l.state = 'held' then
            return semaphore_held_json(s, l, false);
          elsif l.state = 'granted' then
            return semaphore_held_json(s, semaphore_hand_over(l.id, at), true);
          elsif l.expires_at > at then
            update semaphore_leases
              set polls = polls + 1,
                expires_at = least(
                  greatest(expires_at, at + in_wait_ms * interval '1 millisecond' + interval '30 seconds'),
                  token_expires_at
                )
              where id = l.id
              returning * into l;
            return semaphore_queued_json(s, l, at);
          elsif l.id is not null then
            update semaphore_leases set state = 'ended' where id = l.id;
          end if;
        end if;

        if s.capacity <> in_capacity then
          if cardinality(taken) > 0 then
            return semaphore_refused_json(s, 'capacity_mismatch', at);
          end if;
          update semaphores set capacity = in_capacity where id = s.id;
          s.capacity := in_capacity;
        end if;

        if cardinality(taken) < s.capacity then
          insert into semaphore_leases (id, semaphore_id, run_id, run_number, retry, token_expires_at, request_id,
              test, ttl_ms, state, polls, slot, fence, since, expires_at)
            values (in_lease, s.id, in_run, in_run_number, in_retry, in_token_expires_at, in_request,
              in_test, in_ttl_ms, 'held', 1, semaphore_free_slot(taken), nextval('semaphore_fences'), at,
              least(at + in_ttl_ms * interval '1 millisecond', in_token_expires_at))
            returning * into l;
          return semaphore_held_json(s, l, true);
        end if;
        if in_request is null and in_wait_ms = 0 then
          return semaphore_refused_json(s, 'full', at);
        end if;
        insert into semaphore_leases (id, semaphore_id, run_id, run_number, retry, token_expires_at, request_id,
            test, ttl_ms, state, place, polls, expires_at)
          values (in_lease, s.id, in_run, in_run_number, in_retry, in_token_expires_at, in_request,
            in_test, in_ttl_ms, 'queued', nextval('semaphore_places'), 1,
            least(
              at + in_wait_ms * interval '1 millisecond'
                + case when in_request is null then interval '5 seconds' else interval '30 seconds' end,
              in_token_expires_at
            ))
          returning * into l;
        return semaphore_queued_json(s, l, at);
      end
    $$`

  // Holds the semaphore of a lease.
  yield* sql`create function semaphore_lock_of(in_lease uuid) returns semaphores
    language sql as $$
      select semaphores.* from semaphores
        where id = (select semaphore_id from semaphore_leases where id = in_lease) for update
    $$`

  // What has become of a place while its call waited. A lease that is not found has ended with its run.
  yield* sql`create function semaphore_look(in_lease uuid, in_is_last boolean) returns jsonb
    language plpgsql as $$
      declare
        s semaphores := semaphore_lock_of(in_lease);
        at timestamptz := date_trunc('milliseconds', clock_timestamp());
        l semaphore_leases;
      begin
        perform set_config('synchronous_commit', 'off', true);
        if s.id is not null then
          perform semaphore_settle(s, at);
          select * into l from semaphore_leases where id = in_lease;
        end if;
        if l.state = 'held' then
          return semaphore_held_json(s, l, false);
        elsif l.state = 'granted' then
          return semaphore_held_json(s, semaphore_hand_over(l.id, at), true);
        elsif l.state = 'queued' and l.expires_at > at and not (in_is_last and l.request_id is null) then
          return semaphore_queued_json(s, l, at);
        elsif l.id is null or not semaphore_run_is_running(l.run_id, l.retry) then
          return jsonb_build_object('outcome', 'run_not_running');
        end if;
        update semaphore_leases set state = 'ended' where id = l.id and state = 'queued';
        return semaphore_refused_json(s, 'full', at);
      end
    $$`

  // The call that waited is gone. A place that nobody can poll again ends; another lapses as after a poll, unless a
  // later poll has come.
  yield* sql`create function semaphore_leave(in_lease uuid, in_polls integer) returns void
    language plpgsql as $$
      declare
        s semaphores := semaphore_lock_of(in_lease);
        at timestamptz := date_trunc('milliseconds', clock_timestamp());
      begin
        perform set_config('synchronous_commit', 'off', true);
        update semaphore_leases set state = 'ended'
          where id = in_lease and request_id is null and state in ('queued', 'granted');
        update semaphore_leases set expires_at = least(expires_at, at + interval '30 seconds')
          where id = in_lease and state = 'queued' and polls = in_polls;
        if s.id is not null then
          perform semaphore_settle(s, at);
        end if;
      end
    $$`

  yield* sql`create function semaphore_renew(in_lease uuid, in_workspace uuid, in_name text, in_run uuid,
      in_retry integer, in_ttl_ms integer) returns jsonb
    language plpgsql as $$
      declare
        s semaphores := semaphore_lock_of(in_lease);
        at timestamptz := date_trunc('milliseconds', clock_timestamp());
        l semaphore_leases;
      begin
        perform set_config('synchronous_commit', 'off', true);
        select * into l from semaphore_leases where id = in_lease;
        if l.id is null or s.workspace_id <> in_workspace or s.name <> in_name then
          return jsonb_build_object('outcome', 'unknown');
        elsif l.run_id <> in_run or l.retry is distinct from in_retry then
          return jsonb_build_object('outcome', 'foreign');
        elsif l.state <> 'held' or l.expires_at <= at then
          return jsonb_build_object('outcome', 'unknown');
        end if;
        update semaphore_leases
          set ttl_ms = coalesce(in_ttl_ms, ttl_ms),
            expires_at = greatest(
              expires_at,
              least(at + coalesce(in_ttl_ms, ttl_ms) * interval '1 millisecond', token_expires_at)
            )
          where id = l.id
          returning * into l;
        return semaphore_held_json(s, l, false);
      end
    $$`

  yield* sql`create function semaphore_release(in_lease uuid, in_workspace uuid, in_name text, in_run uuid,
      in_retry integer) returns text
    language plpgsql as $$
      declare
        s semaphores := semaphore_lock_of(in_lease);
        l semaphore_leases;
      begin
        perform set_config('synchronous_commit', 'off', true);
        select * into l from semaphore_leases where id = in_lease;
        if l.id is null or s.workspace_id <> in_workspace or s.name <> in_name then
          return 'unknown';
        elsif l.run_id <> in_run or l.retry is distinct from in_retry then
          return 'foreign';
        elsif l.state <> 'ended' then
          update semaphore_leases set state = 'ended' where id = l.id;
          if l.state = 'queued' then
            perform pg_notify('semaphores', l.id::text);
          else
            perform semaphore_settle(s, date_trunc('milliseconds', clock_timestamp()));
          end if;
        end if;
        return 'released';
      end
    $$`

  // Settles the semaphores of places whose calls wait. Answers the places that no longer do, and in how many
  // milliseconds the next slot lapses.
  yield* sql`create function semaphore_settle_places(in_leases uuid[]) returns jsonb
    language plpgsql as $$
      declare
        s semaphores;
        at timestamptz;
        lapses_in_ms integer;
      begin
        perform set_config('synchronous_commit', 'off', true);
        for s in
          select semaphores.* from semaphores
            where id in (select semaphore_id from semaphore_leases where id = any(in_leases)) order by id for update
        loop
          at := date_trunc('milliseconds', clock_timestamp());
          perform semaphore_settle(s, at);
          lapses_in_ms := least(lapses_in_ms, semaphore_lapses_in_ms(s.id, at));
        end loop;
        return jsonb_build_object(
          'changed', (
            select coalesce(jsonb_agg(waiting.id), '[]') from unnest(in_leases) as waiting (id)
              where not exists (
                select from semaphore_leases
                where semaphore_leases.id = waiting.id and state = 'queued' and expires_at > clock_timestamp()
              )
          ),
          'lapsesInMs', lapses_in_ms
        );
      end
    $$`

  // Ends all that the runs, or the retries of them that run, hold and wait for. Part of the statement that ends them.
  yield* sql`create function semaphore_end_runs(in_runs uuid[]) returns integer
    language plpgsql as $$
      declare
        run uuid;
        s semaphores;
        semaphore_ids bigint[];
        ended integer;
      begin
        for run in select id from unnest(in_runs) as runs (id) order by id loop
          perform pg_advisory_xact_lock(hashtextextended('semaphore_leases/' || run, 0));
        end loop;
        semaphore_ids := array(
          select distinct semaphore_id from semaphore_leases where run_id = any(in_runs) and state <> 'ended'
        );
        perform from semaphores where id = any(semaphore_ids) order by id for update;
        with gone as (
          delete from semaphore_leases where run_id = any(in_runs) returning id, state
        )
        select count(pg_notify('semaphores', id::text)) into ended from gone where state in ('queued', 'granted');
        for s in select semaphores.* from semaphores where id = any(semaphore_ids) order by id loop
          perform semaphore_settle(s, date_trunc('milliseconds', clock_timestamp()));
        end loop;
        return ended;
      end
    $$`
})
