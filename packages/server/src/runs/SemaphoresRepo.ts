import type { LeaseId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { RunCaller } from "@delivery/domain/runs/RunAuthorization"
import type { Lease, LeaseHolder, QueuedLease, Semaphore } from "@delivery/domain/runs/Semaphore"
import { timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Result } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { lookUp } from "../identity/Credentials.ts"
import { batched } from "../storage/Batched.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dieOnSqlError, iso, isoOfJson } from "../storage/Sql.ts"
import { type MemoryLease, type MemorySemaphore, MemorySemaphores } from "./MemorySemaphores.ts"
import type { ShownTestRun } from "./TestRunRows.ts"

/** A wish for a lease. */
export interface LeaseRequest {
  /** What the lease or the place becomes, unless the wish has one already. */
  readonly id: LeaseId
  readonly name: string
  readonly capacity: number
  readonly requestId: string | null
  readonly test: string | null
  readonly ttlMillis: number
  /** How long the call will wait in the queue. */
  readonly waitMillis: number
}

/** The run, or retry, whose leases they are. */
export type LeaseOwner = RunCaller["Service"]

/** A lease of the semaphore; `isNew` where nobody has learned of it before. */
export interface Held {
  readonly _tag: "Held"
  readonly lease: Lease
  readonly isNew: boolean
}

/** A place in the queue. */
export interface Queued {
  readonly _tag: "Queued"
  readonly place: QueuedLease
  /** Counts the calls that have polled the place. */
  readonly polls: number
  /** Milliseconds until the first slot lapses, unless it is renewed or released before. */
  readonly lapsesInMillis: number | undefined
}

/** No lease and no place. */
export interface Refused {
  readonly _tag: "Full" | "CapacityMismatch"
  readonly capacity: number
  readonly holders: ReadonlyArray<LeaseHolder>
  readonly lapsesInMillis: number | undefined
}

/** The run has ended, and with it all that it held and waited for. */
export interface RunNotRunning {
  readonly _tag: "RunNotRunning"
}

/** What becomes of a wish for a lease. */
export type Taken = Held | Queued | Refused | RunNotRunning

/** Whose a lease of that id is. `Unknown` also where a lease to be renewed has ended. */
export interface NotOne {
  readonly _tag: "Unknown" | "Foreign"
}

/**
 * Stores semaphores. Each change of a semaphore is alone with it, at an instant of the storage's clock that lies within
 * that time; before anything else it ends what has lapsed and gives free slots to the queue in its order.
 */
export class SemaphoresRepo extends Context.Service<
  SemaphoresRepo,
  {
    /**
     * The lease or place that the wish has already, else a new lease, else, where the call waits or can be repeated, a
     * new place. Makes the semaphore where it is missing, and sets its capacity where nobody holds or waits.
     */
    readonly take: (owner: LeaseOwner, request: LeaseRequest) => Effect.Effect<Taken>
    /** What has become of a place. `isLast` gives it up where it cannot be polled again. */
    readonly look: (place: LeaseId, isLast: boolean) => Effect.Effect<Taken>
    /** Says that the call of a place is gone: it lapses as after a poll, or at once where it cannot be polled again. */
    readonly leave: (place: LeaseId, polls: number) => Effect.Effect<void>
    /** Lets a lease live longer, never shorter and never past the end of the token. */
    readonly renew: (
      owner: LeaseOwner,
      name: string,
      lease: LeaseId,
      ttlMillis: number | undefined
    ) => Effect.Effect<Held | NotOne>
    /** Ends a lease or gives up a place; one that has ended stays so. */
    readonly release: (
      owner: LeaseOwner,
      name: string,
      lease: LeaseId
    ) => Effect.Effect<{ readonly _tag: "Released" } | NotOne>
    /** In no order; holders oldest first. All of the workspace, or the one of that name. */
    readonly list: (workspaceId: WorkspaceId, name?: string) => Effect.Effect<ReadonlyArray<Semaphore>>
    /** How many leases are held, and how many places wait, in all workspaces. */
    readonly load: Effect.Effect<{ readonly held: number; readonly queued: number }>
    /** Settles the semaphores of places. Answers which of the places no longer wait. */
    readonly settle: (
      places: ReadonlyArray<LeaseId>
    ) => Effect.Effect<{ readonly changed: ReadonlyArray<LeaseId>; readonly lapsesInMillis: number | undefined }>
    /** Whose token it is, in the workspace (slug or id), while that runs. */
    readonly authenticate: (tokenHash: string, workspace: string) => Effect.Effect<LeaseOwner | undefined>
  }
>()("@delivery/server/runs/SemaphoresRepo") {
  static readonly layerSql = Layer.effect(
    SemaphoresRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      // A record in the log that is flushed with all before it, whichever connection wrote that. While one is on its
      // way to the disk, the next is at the database already and follows at once.
      const flush = sql`select pg_logical_emit_message(true, 'delivery', '')::text`
      const flushed = batched(sql, (asked: ReadonlyArray<undefined>) => Effect.as(flush, asked), { running: 2 })
      const call = (statement: Statement.Statement<{ readonly json: SqlTaken }>): Effect.Effect<Taken | NotOne> =>
        statement.pipe(
          Effect.map(([row]) => readTaken(row!.json)),
          Effect.tap((taken) => (taken._tag === "Held" ? flushed(undefined) : Effect.void)),
          dieOnSqlError
        )

      const authenticate = lookUp(
        sql,
        (asked) =>
          sql<SqlOwner>`select asked.place::int as place, r.workspace_id as "workspaceId", r.id as "runId",
            r.number as run, holder.retry, holder.expires_at as "expiresAt"
          from ${asked}
          cross join lateral (
            select id, null::integer as retry, expires_at from test_runs
            where token_hash = asked.token_hash and state = 'running'
            union all
            select run_id, number, expires_at from test_run_retries
            where token_hash = asked.token_hash and state = 'running'
          ) as holder
          join test_runs r on r.id = holder.id
          join workspaces w on w.id = r.workspace_id and (w.slug = asked.slug or w.id = asked.id)
          where holder.expires_at > clock_timestamp()`,
        ({ expiresAt, place: _, ...owner }): LeaseOwner => ({ ...owner, expiresAt: iso(expiresAt) })
      )

      return SemaphoresRepo.of({
        take: (owner, request) =>
          call(sql`select semaphore_take(${request.id}::uuid, ${owner.workspaceId}::uuid, ${request.name},
            ${request.capacity}::integer, ${owner.runId}::uuid, ${owner.run}::integer,
            ${PgTypes.int4(owner.retry)}, ${date(owner.expiresAt)}::timestamptz, ${request.requestId}::text,
            ${request.test}::text, ${request.ttlMillis}::integer, ${request.waitMillis}::integer) as json`) as Effect.Effect<Taken>,
        look: (place, isLast) =>
          call(sql`select semaphore_look(${place}::uuid, ${isLast}::boolean) as json`) as Effect.Effect<Taken>,
        leave: (place, polls) =>
          dieOnSqlError(Effect.asVoid(sql`select semaphore_leave(${place}::uuid, ${polls}::integer)`)),
        renew: (owner, name, lease, ttlMillis) =>
          call(sql`select semaphore_renew(${lease}::uuid, ${owner.workspaceId}::uuid, ${name}, ${owner.runId}::uuid,
            ${PgTypes.int4(owner.retry)}, ${PgTypes.int4(ttlMillis ?? null)}) as json`) as Effect.Effect<Held | NotOne>,
        release: (owner, name, lease) =>
          sql<{ readonly outcome: keyof typeof releases }>`select semaphore_release(${lease}::uuid,
              ${owner.workspaceId}::uuid, ${name}, ${owner.runId}::uuid, ${PgTypes.int4(owner.retry)}) as outcome`.pipe(
            Effect.map(([row]) => releases[row!.outcome]),
            dieOnSqlError
          ),
        list: (workspaceId, name) =>
          sql<{ readonly name: string; readonly capacity: number; readonly holders: ReadonlyArray<LeaseHolder> }>`
            select name, capacity, semaphore_holders(id, clock_timestamp()) as holders
            from semaphores where workspace_id = ${workspaceId}
              ${name === undefined ? sql.literal("") : sql`and name = ${name}`}`.pipe(
            Effect.map((rows) => rows.map((row) => ({ ...row, holders: row.holders.map(readHolder) }))),
            dieOnSqlError
          ),
        load: sql<{ readonly held: number; readonly queued: number }>`select
            (select count(*)::integer from semaphore_leases
              where state in ('granted', 'held') and expires_at > clock_timestamp()) as held,
            (select count(*)::integer from semaphore_leases
              where state = 'queued' and expires_at > clock_timestamp()) as queued`.pipe(
          Effect.map(([row]) => row!),
          dieOnSqlError
        ),
        settle: (places) =>
          sql<{ readonly json: { readonly changed: ReadonlyArray<LeaseId>; readonly lapsesInMs: number | null } }>`
            select semaphore_settle_places(${Result.getOrThrow(PgTypes.array(places, PgTypes.OID.uuid))}) as json`.pipe(
            Effect.map(([row]) => ({
              changed: row!.json.changed,
              lapsesInMillis: row!.json.lapsesInMs ?? undefined
            })),
            dieOnSqlError
          ),
        authenticate: (tokenHash, workspace) => authenticate({ tokenHash, workspace })
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    SemaphoresRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const write = <A>(write: (semaphores: MemorySemaphores, database: MemoryDatabase) => A): Effect.Effect<A> =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          memory.write((database) => Effect.sync(() => write(new MemorySemaphores(database, now), database)))
        )

      return SemaphoresRepo.of({
        take: (owner, request) =>
          write((semaphores, database): Taken => {
            if (!isRunRunning(database, owner, semaphores.now)) return runNotRunning
            let semaphore =
              semaphores.find(owner.workspaceId, request.name) ??
              semaphores.store({ workspaceId: owner.workspaceId, name: request.name, capacity: request.capacity })
            semaphores.settle(semaphore)
            const known =
              request.requestId === null ? undefined : semaphores.ofRequest(semaphore, owner, request.requestId)
            if (known?.state === "held") return held(semaphore, known, false)
            if (known?.state === "granted") return held(semaphore, semaphores.handOver(known), true)
            if (known !== undefined && known.expiresAt > semaphores.now) {
              const end = semaphores.placeEnd(known, request.waitMillis)
              const polled = { ...known, polls: known.polls + 1, expiresAt: Math.max(known.expiresAt, end) }
              return queued(semaphores, semaphore, semaphores.set(polled))
            }
            if (known !== undefined) semaphores.end(known)

            if (semaphore.capacity !== request.capacity) {
              if (semaphores.holders(semaphore).length > 0) return refused(semaphores, semaphore, "CapacityMismatch")
              semaphore = semaphores.store({ ...semaphore, capacity: request.capacity })
            }
            const lease = {
              id: request.id,
              workspaceId: owner.workspaceId,
              name: request.name,
              runId: owner.runId,
              run: owner.run,
              retry: owner.retry,
              tokenExpiresAt: Date.parse(owner.expiresAt),
              requestId: request.requestId,
              test: request.test,
              ttlMillis: request.ttlMillis,
              polls: 1
            }
            const slot = semaphores.freeSlot(semaphore)
            if (slot !== undefined) {
              const fence = semaphores.next("fence")
              const granted = { ...lease, state: "granted", place: 0, slot, fence, since: semaphores.now } as const
              return held(semaphore, semaphores.handOver({ ...granted, expiresAt: 0 }), true)
            }
            if (request.requestId === null && request.waitMillis === 0) return refused(semaphores, semaphore, "Full")
            const place = {
              ...lease,
              state: "queued",
              place: semaphores.next("place"),
              slot: 0,
              fence: 0,
              since: 0
            } as const
            const expiresAt = semaphores.placeEnd(lease, request.waitMillis)
            return queued(semaphores, semaphore, semaphores.set({ ...place, expiresAt }))
          }),

        look: (id, isLast) =>
          write((semaphores, database): Taken => {
            const address = semaphores.lease(id) ?? semaphores.ended(id)
            const semaphore = address === undefined ? undefined : semaphores.find(address.workspaceId, address.name)
            if (address === undefined || semaphore === undefined) return runNotRunning
            semaphores.settle(semaphore)
            const lease = semaphores.lease(id)
            if (lease?.state === "held") return held(semaphore, lease, false)
            if (lease?.state === "granted") return held(semaphore, semaphores.handOver(lease), true)
            if (lease !== undefined && semaphores.isWaiting(id) && !(isLast && lease.requestId === null)) {
              return queued(semaphores, semaphore, lease)
            }
            if (!isRunRunning(database, address, semaphores.now)) return runNotRunning
            if (lease !== undefined) semaphores.end(lease)
            return refused(semaphores, semaphore, "Full")
          }),

        leave: (id, polls) =>
          write((semaphores) => {
            const lease = semaphores.lease(id)
            const semaphore = semaphores.of(id)
            if (semaphore === undefined) return
            if (lease?.requestId === null && lease.state !== "held") semaphores.end(lease)
            else if (lease?.state === "queued" && lease.polls === polls) {
              semaphores.set({ ...lease, expiresAt: Math.min(lease.expiresAt, semaphores.placeEnd(lease, 0)) })
            }
            semaphores.settle(semaphore)
          }),

        renew: (owner, name, id, ttlMillis) =>
          write((semaphores): Held | NotOne => {
            const lease = semaphores.lease(id)
            const found = lease ?? semaphores.ended(id)
            const semaphore = semaphores.find(owner.workspaceId, name)
            const who = whose(owner, name, found)
            if (who !== undefined) return who
            if (semaphore === undefined || lease?.state !== "held" || lease.expiresAt <= semaphores.now) {
              return { _tag: "Unknown" }
            }
            const renewed = { ...lease, ttlMillis: ttlMillis ?? lease.ttlMillis }
            const expiresAt = Math.min(semaphores.now + renewed.ttlMillis, lease.tokenExpiresAt)
            const stored = semaphores.set({ ...renewed, expiresAt: Math.max(lease.expiresAt, expiresAt) })
            return held(semaphore, stored, false)
          }),

        release: (owner, name, id) =>
          write((semaphores) => {
            const lease = semaphores.lease(id)
            const who = whose(owner, name, lease ?? semaphores.ended(id))
            if (who !== undefined) return who
            const semaphore = semaphores.find(owner.workspaceId, name)
            if (lease !== undefined && semaphore !== undefined) {
              semaphores.end(lease)
              if (lease.state === "queued") semaphores.notify(id)
              else semaphores.settle(semaphore)
            }
            return { _tag: "Released" as const }
          }),

        list: (workspaceId, name) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            memory.read((database) => {
              const semaphores = new MemorySemaphores(database, now)
              const found = semaphores.ofWorkspace(workspaceId)
              return found
                .filter((semaphore) => name === undefined || semaphore.name === name)
                .map((semaphore) => ({
                  name: semaphore.name,
                  capacity: semaphore.capacity,
                  holders: semaphores.holders(semaphore).map(holderOf)
                }))
            })
          ),

        load: Effect.flatMap(Clock.currentTimeMillis, (now) =>
          memory.read((database) => new MemorySemaphores(database, now).load())
        ),

        settle: (places) =>
          write((semaphores) => {
            const ends: Array<number> = []
            for (const id of places) {
              const semaphore = semaphores.of(id)
              if (semaphore === undefined) continue
              semaphores.settle(semaphore)
              const lapsesIn = semaphores.lapsesIn(semaphore)
              if (lapsesIn !== undefined) ends.push(lapsesIn)
            }
            return {
              changed: places.filter((id) => !semaphores.isWaiting(id)),
              lapsesInMillis: ends.length === 0 ? undefined : Math.min(...ends)
            }
          }),

        authenticate: (tokenHash, workspaceRef) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            memory.read((database) => {
              const runs = database.table<StoredRun>("test_runs")
              const isHolder = (one: Pick<StoredRun, "tokenHash" | "state" | "expiresAt">) =>
                one.tokenHash === tokenHash && one.state === "running" && one.expiresAt > timestamp(now)
              const retry = database.table<StoredRetry>("test_run_retries").find(isHolder)
              const run = retry === undefined ? runs.find(isHolder) : runs.get(retry.runId)
              const workspace = database
                .table<{ readonly id: WorkspaceId; readonly slug: string }>("workspaces")
                .find((row) => row.id === workspaceRef || row.slug === workspaceRef)
              if (run === undefined || run.workspaceId !== workspace?.id) return undefined
              const { id: runId, number, workspaceId } = run
              const { expiresAt } = retry ?? run
              return { workspaceId, runId, run: number, retry: retry?.number ?? null, expiresAt }
            })
          )
      })
    })
  )
}

/** Ends what runs hold of semaphores, as a column of the statement that ends the runs: `ids` is an array of them. */
export const endLeases = (sql: SqlClient.SqlClient, ids: Statement.Fragment): Statement.Fragment =>
  sql`semaphore_end_runs(${ids}) as ended`

const runNotRunning: RunNotRunning = { _tag: "RunNotRunning" }

const releases = {
  released: { _tag: "Released" },
  unknown: { _tag: "Unknown" },
  foreign: { _tag: "Foreign" }
} as const

interface SqlOwner {
  readonly place: number
  readonly workspaceId: WorkspaceId
  readonly runId: TestRunId
  readonly run: number
  readonly retry: number | null
  readonly expiresAt: Date
}

/** What the functions of migration 0020 answer. */
type SqlTaken =
  | ({ readonly outcome: "held"; readonly isNew: boolean } & Lease)
  | ({ readonly outcome: "queued"; readonly polls: number; readonly lapsesInMs: number | null } & QueuedLease)
  | {
      readonly outcome: "full" | "capacity_mismatch"
      readonly capacity: number
      readonly holders: ReadonlyArray<LeaseHolder>
      readonly lapsesInMs: number | null
    }
  | { readonly outcome: "run_not_running" | "unknown" | "foreign" }

const readHolder = (holder: LeaseHolder): LeaseHolder => ({
  ...holder,
  since: isoOfJson(holder.since),
  expiresAt: isoOfJson(holder.expiresAt)
})

const readTaken = (json: SqlTaken): Taken | NotOne => {
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

type StoredRun = Pick<ShownTestRun, "id" | "workspaceId" | "number" | "state" | "expiresAt"> & {
  readonly tokenHash: string
  readonly runningRetry: Pick<StoredRetry, "number" | "expiresAt"> | null
}

interface StoredRetry {
  readonly runId: TestRunId
  readonly number: number
  readonly tokenHash: string
  readonly state: ShownTestRun["state"]
  readonly expiresAt: string
}

const isRunRunning = (database: MemoryDatabase, owner: Pick<LeaseOwner, "runId" | "retry">, now: number): boolean => {
  const run = database.table<StoredRun>("test_runs").get(owner.runId)
  if (owner.retry === null) return run?.state === "running" && run.expiresAt > timestamp(now)
  return run?.runningRetry?.number === owner.retry && run.runningRetry.expiresAt > timestamp(now)
}

const whose = (
  owner: LeaseOwner,
  name: string,
  found: Pick<MemoryLease, "workspaceId" | "name" | "runId" | "retry"> | undefined
): NotOne | undefined => {
  if (found === undefined || found.workspaceId !== owner.workspaceId || found.name !== name) return { _tag: "Unknown" }
  return found.runId === owner.runId && found.retry === owner.retry ? undefined : { _tag: "Foreign" }
}

const holderOf = (lease: MemoryLease): LeaseHolder => ({
  lease: lease.id,
  run: lease.run,
  retry: lease.retry,
  test: lease.test,
  since: timestamp(lease.since),
  expiresAt: timestamp(lease.expiresAt)
})

const held = (semaphore: MemorySemaphore, lease: MemoryLease, isNew: boolean): Held => ({
  _tag: "Held",
  isNew,
  lease: {
    ...holderOf(lease),
    lease: lease.id,
    run: lease.run,
    name: semaphore.name,
    capacity: semaphore.capacity,
    slot: lease.slot,
    fence: lease.fence,
    ttlMs: lease.ttlMillis
  }
})

const queued = (semaphores: MemorySemaphores, semaphore: MemorySemaphore, place: MemoryLease): Queued => ({
  _tag: "Queued",
  polls: place.polls,
  lapsesInMillis: semaphores.lapsesIn(semaphore),
  place: {
    lease: place.id,
    name: semaphore.name,
    capacity: semaphore.capacity,
    position: semaphores.position(semaphore, place),
    expiresAt: timestamp(place.expiresAt)
  }
})

const refused = (semaphores: MemorySemaphores, semaphore: MemorySemaphore, tag: Refused["_tag"]): Refused => ({
  _tag: tag,
  capacity: semaphore.capacity,
  holders: semaphores.holders(semaphore).map(holderOf),
  lapsesInMillis: semaphores.lapsesIn(semaphore)
})
