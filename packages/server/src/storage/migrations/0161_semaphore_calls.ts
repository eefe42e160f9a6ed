import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Takes, renewals and releases of one moment, in their order, as one statement (docs/contract.md, Semaphores).
 *
 * It holds what each of them needs before the first is done, in an order that all who need several keep: the locks of
 * runs, then semaphores that are made, then the rows of semaphores by their ids. So it waits for nobody who waits for it.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create function semaphore_calls(in_calls jsonb) returns setof jsonb
    language plpgsql as $$
      declare
        run uuid;
        c record;
      begin
        perform set_config('synchronous_commit', 'off', true);
        for run in
          select distinct call.run from jsonb_to_recordset(in_calls) as call (run uuid, capacity integer)
            where call.capacity is not null order by call.run
        loop
          perform pg_advisory_xact_lock_shared(hashtextextended('semaphore_leases/' || run, 0));
        end loop;
        insert into semaphores (workspace_id, name, capacity)
          select distinct on (call.workspace, call.name) call.workspace, call.name, call.capacity
          from jsonb_to_recordset(in_calls)
            as call (workspace uuid, name text, capacity integer, run uuid, retry integer, place integer)
          where call.capacity is not null and semaphore_run_is_running(call.run, call.retry) and not exists (
            select from semaphores s where s.workspace_id = call.workspace and s.name = call.name
          )
          order by call.workspace, call.name, call.place
          on conflict do nothing;
        perform from semaphores where id in (
          select s.id from jsonb_to_recordset(in_calls) as call (workspace uuid, name text, capacity integer)
            join semaphores s on s.workspace_id = call.workspace and s.name = call.name
            where call.capacity is not null
          union
          select l.semaphore_id from jsonb_to_recordset(in_calls) as call (lease uuid, capacity integer)
            join semaphore_leases l on l.id = call.lease
            where call.capacity is null
        ) order by id for update;
        for c in
          select * from jsonb_to_recordset(in_calls) as call (
            kind text, lease uuid, workspace uuid, name text, capacity integer, run uuid, run_number integer,
            retry integer, token_expires_at timestamptz, request text, test text, ttl_ms integer, wait_ms integer,
            place integer
          ) order by call.place
        loop
          return next case c.kind
            when 'take' then semaphore_take(c.lease, c.workspace, c.name, c.capacity, c.run, c.run_number, c.retry,
              c.token_expires_at, c.request, c.test, c.ttl_ms, c.wait_ms)
            when 'renew' then semaphore_renew(c.lease, c.workspace, c.name, c.run, c.retry, c.ttl_ms)
            when 'release' then to_jsonb(semaphore_release(c.lease, c.workspace, c.name, c.run, c.retry))
          end;
        end loop;
      end
    $$`
  yield* sql`alter function semaphore_calls set enable_seqscan = off`
})
