import type { LeaseId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { LeaseHolder } from "@delivery/domain/LeaseHolder"
import { type Lease, maxWaitingShown, type QueuedLease, type WaitingPlace } from "@delivery/domain/runs/Semaphore"
import { timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { ActorRef } from "../access/Access.ts"
import { lookUp } from "../identity/Credentials.ts"
import { madeAt } from "../ids/NextId.ts"
import { batched } from "../storage/Batched.ts"
import { uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError, iso, isoOfJson } from "../storage/Sql.ts"
import type { HourOfUse } from "./SemaphoreUse.ts"
import {
  type Held,
  type LeaseOwner,
  type LeaseRequest,
  type NotHolder,
  type RunNotRunning,
  SemaphoresRepo,
  type Taken,
  type TokenHolder
} from "./SemaphoresRepo.ts"

/** Each operation is a call of one function of migration 0020, which is alone with the semaphore. Migration 0161 joins calls. */

export const layer = Layer.effect(
  SemaphoresRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const call = calls(sql)
    const durable = answers(sql)
    return SemaphoresRepo.of({
      take: take(call, durable),
      lookUpPlace: lookUpPlace(sql, durable),
      leave: leave(sql),
      renew: renew(call, durable),
      release: release(call),
      list: list(sql),
      usage: usage(sql),
      load: load(sql),
      settle: settle(sql),
      replaceToken: replaceToken(sql),
      authenticate: authenticate(sql)
    })
  })
)

/** Ends what runs hold of semaphores, as a column of the statement that ends the runs: `ids` is an array of them. */
export const endLeases = (sql: SqlClient.SqlClient, ids: Statement.Fragment): Statement.Fragment =>
  sql`semaphore_end_runs(${ids}) as ended`

/** What is asked of a semaphore, as migration 0161 reads it. Times are in milliseconds. */
type Call = {
  readonly lease: LeaseId
  readonly workspace: WorkspaceId
  readonly name: string
  readonly run: TestRunId
  readonly retry: number | null
} & (
  | {
      readonly kind: "take"
      readonly capacity: number
      readonly run_number: number
      readonly token_expires_at: string
      readonly request: string | null
      readonly test: string | null
      readonly ttl_ms: number
      readonly wait_ms: number
    }
  | { readonly kind: "renew"; readonly ttl_ms: number | null }
  | { readonly kind: "release" }
)

type Json = TakenJson | keyof typeof releases

/** One call alone, which needs no locks beside those of its function. */
const alone = (sql: PgClient.PgClient, call: Call) => {
  const { lease, name, retry, run, workspace } = call
  switch (call.kind) {
    case "take":
      return sql<{ readonly json: Json }>`select semaphore_take(${lease}::uuid, ${workspace}::uuid, ${name},
        ${call.capacity}::integer, ${run}::uuid, ${call.run_number}::integer, ${PgTypes.int4(retry)},
        ${date(call.token_expires_at)}::timestamptz, ${call.request}::text, ${call.test}::text,
        ${call.ttl_ms}::integer, ${call.wait_ms}::integer) as json`
    case "renew":
      return sql<{ readonly json: Json }>`select semaphore_renew(${lease}::uuid, ${workspace}::uuid, ${name},
        ${run}::uuid, ${PgTypes.int4(retry)}, ${PgTypes.int4(call.ttl_ms)}) as json`
    case "release":
      return sql<{ readonly json: Json }>`select to_jsonb(semaphore_release(${lease}::uuid, ${workspace}::uuid,
        ${name}, ${run}::uuid, ${PgTypes.int4(retry)})) as json`
  }
}

/** Calls of one moment share a statement. */
const calls = (sql: PgClient.PgClient): ((call: Call) => Effect.Effect<Json>) => {
  const together = (all: ReadonlyArray<Call>) => {
    const numbered = PgTypes.json(all.map((call, place) => ({ ...call, place })))
    return sql<{ readonly json: Json }>`select semaphore_calls(${numbered}::jsonb) as json`
  }
  const ask = (all: ReadonlyArray<Call>) => {
    const asked = all.length === 1 ? alone(sql, all[0]!) : together(all)
    return Effect.map(asked, (rows) => rows.map(({ json }) => json))
  }
  const asked = batched(sql, ask, { running: 2 })
  return (call) => dieOnSqlError(asked(call))
}

/** Reads what was answered. A lease is answered once it is on the disk. */
const answers = (sql: PgClient.PgClient) => {
  // A record in the log that is flushed with all before it, whichever connection wrote that. While one is on its
  // way to the disk, the next is at the database already and follows at once.
  const flush = sql`select pg_logical_emit_message(true, 'delivery', '')::text`
  const flushed = batched(sql, (asked: ReadonlyArray<undefined>) => Effect.as(flush, asked), { running: 2 })
  return (json: TakenJson): Effect.Effect<Taken | NotHolder> => {
    const taken = readTaken(json)
    return taken._tag === "Held" ? dieOnSqlError(Effect.as(flushed(undefined), taken)) : Effect.succeed(taken)
  }
}

type Calls = ReturnType<typeof calls>
type Answers = ReturnType<typeof answers>

const take = (call: Calls, durable: Answers) => (owner: LeaseOwner, request: LeaseRequest) =>
  Effect.flatMap(
    call({
      kind: "take",
      lease: request.id,
      workspace: owner.workspaceId,
      name: request.name,
      capacity: request.capacity,
      run: owner.runId,
      run_number: owner.run,
      retry: owner.retry,
      token_expires_at: owner.expiresAt,
      request: request.requestId,
      test: request.test,
      ttl_ms: request.ttlMillis,
      wait_ms: request.waitMillis
    }),
    (json) => durable(json as TakenJson)
  ) as Effect.Effect<Taken>

const lookUpPlace = (sql: PgClient.PgClient, durable: Answers) => (place: LeaseId, isLast: boolean) =>
  sql<{ readonly json: TakenJson }>`select semaphore_look(${place}::uuid, ${isLast}::boolean) as json`.pipe(
    dieOnSqlError,
    Effect.flatMap(([row]) => durable(row!.json))
  ) as Effect.Effect<Taken>

const leave = (sql: PgClient.PgClient) => (place: LeaseId, polls: number) =>
  dieOnSqlError(Effect.asVoid(sql`select semaphore_leave(${place}::uuid, ${polls}::integer)`))

const renew =
  (call: Calls, durable: Answers) => (owner: LeaseOwner, name: string, lease: LeaseId, ttlMillis: number | undefined) =>
    Effect.flatMap(call({ kind: "renew", ...ofOwner(owner), name, lease, ttl_ms: ttlMillis ?? null }), (json) =>
      durable(json as TakenJson)
    ) as Effect.Effect<Held | NotHolder>

const release = (call: Calls) => (owner: LeaseOwner, name: string, lease: LeaseId) =>
  Effect.map(
    call({ kind: "release", ...ofOwner(owner), name, lease }),
    (json) => releases[json as keyof typeof releases]
  )

const ofOwner = ({ retry, runId, workspaceId }: LeaseOwner) => ({ workspace: workspaceId, run: runId, retry })

const releases = {
  released: { _tag: "Released" },
  unknown: { _tag: "Unknown" },
  foreign: { _tag: "Foreign" }
} as const

interface ListedRow {
  readonly name: string
  readonly capacity: number
  readonly holders: ReadonlyArray<LeaseHolder>
  readonly queued: number
  readonly waiting: ReadonlyArray<Omit<WaitingPlace, "since">>
}

const list = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId, name?: string) =>
  sql<ListedRow>`
    select name, capacity, semaphore_holders(id, clock_timestamp()) as holders, (
        select count(*)::integer from semaphore_leases
        where semaphore_id = semaphores.id and state = 'queued' and expires_at > clock_timestamp()
      ) as queued, (
        select coalesce(
          jsonb_agg(jsonb_build_object('lease', id, 'run', run_number, 'retry', retry, 'test', test) order by place),
          '[]'
        )
        from (
          select * from semaphore_leases
          where semaphore_id = semaphores.id and state = 'queued' and expires_at > clock_timestamp()
          order by place limit ${maxWaitingShown}
        ) first
      ) as waiting
    from semaphores where workspace_id = ${workspaceId}
      ${name === undefined ? sql.literal("") : sql`and name = ${name}`}`.pipe(
    Effect.map((rows) =>
      rows.map((row) => ({ ...row, holders: row.holders.map(readHolder), waiting: row.waiting.map(readPlace) }))
    ),
    dieOnSqlError
  )

interface HourRow extends HourOfUse {
  readonly name: string
  readonly hour: Date | null
}

/** Leases of runs that run are yet to be counted. */
const usage = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId, from: number) => {
  const ofLeases = (state: Statement.Fragment) => sql`select l.semaphore_id, h.* from s
    join semaphore_leases l on l.semaphore_id = s.id and ${state}
    cross join lateral semaphore_lease_hours(l.id, l.since, coalesce(l.ended_at, least(clock_timestamp(), l.expires_at))) h`
  return sql<HourRow>`with s as materialized (
      select id, name from semaphores where workspace_id = ${workspaceId}
    ), used as (
      select c.semaphore_id, c.hour, c.leases, c.held_ms, c.longest_wait_ms, c.gave_up
      from s join semaphore_hours c on c.semaphore_id = s.id
      union all ${ofLeases(sql`l.state = 'ended'`)}
      union all ${ofLeases(sql`l.state in ('granted', 'held')`)}
    )
    select s.name, used.hour, coalesce(sum(used.leases), 0)::float8 as leases,
      coalesce(sum(used.held_ms), 0)::float8 as "heldMs",
      coalesce(max(used.longest_wait_ms), 0)::float8 as "longestWaitMs",
      coalesce(sum(used.gave_up), 0)::float8 as "gaveUp"
    from s left join used on used.semaphore_id = s.id and used.hour >= ${date(timestamp(from))}::timestamptz
    group by s.name, used.hour`.pipe(
    Effect.map((rows) =>
      [...Map.groupBy(rows, ({ name }) => name)].map(([name, inSemaphore]) => ({
        name,
        hours: new Map(
          inSemaphore.flatMap(({ hour, name: _, ...use }) => (hour === null ? [] : [[hour.getTime(), use] as const]))
        )
      }))
    ),
    dieOnSqlError
  )
}

const load = (sql: PgClient.PgClient) =>
  sql<{ readonly held: number; readonly queued: number }>`select
      (select count(*)::integer from semaphore_leases
        where state in ('granted', 'held') and expires_at > clock_timestamp()) as held,
      (select count(*)::integer from semaphore_leases
        where state = 'queued' and expires_at > clock_timestamp()) as queued`.pipe(
    Effect.map(([row]) => row!),
    dieOnSqlError
  )

const settle = (sql: PgClient.PgClient) => (places: ReadonlyArray<LeaseId>) =>
  sql<{ readonly json: { readonly changed: ReadonlyArray<LeaseId>; readonly lapsesInMs: number | null } }>`
    select semaphore_settle_places(${uuids(places)}) as json`.pipe(
    Effect.map(([row]) => ({ changed: row!.json.changed, lapsesInMillis: row!.json.lapsesInMs ?? undefined })),
    dieOnSqlError
  )

const replaceToken = (sql: PgClient.PgClient) => (tokenHash: string, by: string) =>
  sql<Omit<TokenHolder, "publisher"> & { readonly kind: ActorRef["kind"]; readonly id: string }>`with run as (
      update test_runs set token_hash = ${by} where token_hash = ${tokenHash} and state = 'running'
      returning id as run_id, publisher_kind, publisher_id
    ), retry as (
      update test_run_retries set token_hash = ${by} where token_hash = ${tokenHash} and state = 'running'
      returning run_id, publisher_kind, publisher_id
    ), shard as (
      update test_run_shards set token_hash = ${by} where token_hash = ${tokenHash} and finished_at is null
        and exists (select from test_runs r where r.id = run_id and r.state = 'running')
      returning run_id, publisher_kind, publisher_id
    )
    select r.workspace_id as "workspaceId", r.id as "runId", r.number as run,
      holder.publisher_kind as kind, holder.publisher_id as id
    from (select * from run union all select * from retry union all select * from shard) holder
      join test_runs r on r.id = holder.run_id`.pipe(
    Effect.map(
      ([row]) =>
        row && {
          workspaceId: row.workspaceId,
          runId: row.runId,
          run: row.run,
          publisher: { kind: row.kind, id: row.id } as ActorRef
        }
    ),
    dieOnSqlError
  )

interface OwnerRow {
  readonly place: number
  readonly workspaceId: WorkspaceId
  readonly runId: TestRunId
  readonly run: number
  readonly retry: number | null
  readonly expiresAt: Date
  readonly publisherId: string
}

const authenticate = (sql: PgClient.PgClient) => {
  const find = lookUp(
    sql,
    (asked) =>
      sql<OwnerRow>`select asked.place::int as place, r.workspace_id as "workspaceId", r.id as "runId",
        r.number as run, holder.retry, holder.expires_at as "expiresAt", holder.publisher_id as "publisherId"
      from ${asked}
      cross join lateral (
        select id, null::integer as retry, expires_at, publisher_kind, publisher_id, maker_id from test_runs
        where token_hash = asked.token_hash and state = 'running'
        union all
        select run_id, number, expires_at, publisher_kind, publisher_id, maker_id from test_run_retries
        where token_hash = asked.token_hash and state = 'running'
        union all
        select s.run_id, null, r.expires_at, s.publisher_kind, s.publisher_id, s.maker_id
        from test_run_shards s join test_runs r on r.id = s.run_id and r.state = 'running'
        where s.token_hash = asked.token_hash and s.finished_at is null
      ) as holder
      join test_runs r on r.id = holder.id
      join workspaces w on w.id = r.workspace_id and (w.slug = asked.slug or w.id = asked.id)
      left join members m on m.workspace_id = r.workspace_id and m.person_id = holder.publisher_id and m.active
      where holder.expires_at > clock_timestamp() and (m.active or holder.publisher_kind <> 'user')
        and not exists (select from api_keys k where k.id = holder.maker_id
          and (k.revoked_at is not null or k.expires_at <= clock_timestamp())
          and (k.revoked_at < k.expires_at or k.expires_at is null
            or not exists (select from trusted_publishers p where p.id = k.maker_id)))
        and not exists (select from credential_blocks b
          where b.workspace_id = r.workspace_id and b.credential_id = holder.maker_id)`,
    ({ expiresAt, place: _, publisherId, ...owner }) => ({
      owner: { ...owner, expiresAt: iso(expiresAt) },
      publisherId
    })
  )
  return (tokenHash: string, workspace: string) => find({ tokenHash, workspace })
}

/** What the functions of migration 0020 answer. */
type TakenJson =
  | ({ readonly outcome: "held"; readonly isNew: boolean } & Lease)
  | ({ readonly outcome: "queued"; readonly polls: number; readonly lapsesInMs: number | null } & QueuedLease)
  | {
      readonly outcome: "full" | "capacity_mismatch"
      readonly capacity: number
      readonly holders: ReadonlyArray<LeaseHolder>
      readonly lapsesInMs: number | null
    }
  | { readonly outcome: "run_not_running" | "unknown" | "foreign" }

const readTaken = (json: TakenJson): Taken | NotHolder => {
  switch (json.outcome) {
    case "held": {
      const { isNew, outcome: _, ...lease } = json
      const times = { since: isoOfJson(lease.since), expiresAt: isoOfJson(lease.expiresAt) }
      return { _tag: "Held", isNew, lease: { ...lease, ...times } }
    }
    case "queued": {
      const { lapsesInMs, outcome: _, polls, ...place } = json
      const expiresAt = isoOfJson(place.expiresAt)
      return { _tag: "Queued", polls, lapsesInMillis: lapsesInMs ?? undefined, place: { ...place, expiresAt } }
    }
    case "full":
    case "capacity_mismatch":
      return {
        _tag: json.outcome === "full" ? "Full" : "CapacityMismatch",
        capacity: json.capacity,
        holders: json.holders.map(readHolder),
        lapsesInMillis: json.lapsesInMs ?? undefined
      }
    case "run_not_running":
      return runNotRunning
    case "unknown":
      return { _tag: "Unknown" }
    case "foreign":
      return { _tag: "Foreign" }
  }
}

const runNotRunning: RunNotRunning = { _tag: "RunNotRunning" }

const readHolder = (holder: LeaseHolder): LeaseHolder => ({
  ...holder,
  since: isoOfJson(holder.since),
  expiresAt: isoOfJson(holder.expiresAt)
})

const readPlace = (place: Omit<WaitingPlace, "since">): WaitingPlace => ({
  ...place,
  since: timestamp(madeAt(place.lease))
})
