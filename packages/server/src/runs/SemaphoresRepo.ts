import type { LeaseId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { RunCaller } from "@delivery/domain/runs/RunAuthorization"
import type { LeaseHolder } from "@delivery/domain/LeaseHolder"
import type { Lease, QueuedLease, Semaphore } from "@delivery/domain/runs/Semaphore"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import type { HoursOfUse } from "./SemaphoreUse.ts"
import { instant, integer, long, nullable, table, text, uuid } from "../storage/Table.ts"

/** The semaphores of each workspace. Functions of migration 0020 write this table and the next. */
export const semaphores = table("semaphores", {
  id: long(),
  workspaceId: uuid<WorkspaceId>(),
  name: text(),
  capacity: integer()
})

/** The leases of semaphores and the places in their queues. In memory they have the form of `SemaphoreStateMemory.ts`. */
export const semaphoreLeases = table("semaphore_leases", {
  id: uuid<LeaseId>(),
  semaphoreId: long(),
  runId: uuid<TestRunId>(),
  runNumber: integer(),
  retry: nullable(integer()),
  tokenExpiresAt: instant(),
  requestId: nullable(text()),
  test: nullable(text()),
  ttlMs: integer(),
  state: text<"queued" | "granted" | "held" | "ended">(),
  place: nullable(long()),
  polls: integer(),
  slot: nullable(integer()),
  fence: nullable(long()),
  since: nullable(instant()),
  expiresAt: instant(),
  endedAt: nullable(instant())
})

/**
 * The use of semaphores within each hour, by leases of runs that have ended. Triggers of migration 0106 write this table. In
 * memory it has the form of `SemaphoreUse.ts`.
 */
export const semaphoreHours = table("semaphore_hours", {
  semaphoreId: long(),
  hour: instant(),
  leases: integer(),
  heldMs: long(),
  longestWaitMs: long(),
  gaveUp: integer()
})

/** What a call asks that takes a lease. */
export interface LeaseRequest {
  /** The id of the lease or place, unless an earlier call with the same `requestId` has made one. */
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

/** A lease of the semaphore; `isNew` where no call has answered it before. */
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

/** What a call that takes a lease gets. */
export type Taken = Held | Queued | Refused | RunNotRunning

/** The lease is not the owner's. `Unknown` also where a lease to be renewed has ended. */
export interface NotHolder {
  readonly _tag: "Unknown" | "Foreign"
}

/** Whose token it is: the run, also of a retry, and who publishes. */
export interface TokenHolder {
  readonly workspaceId: WorkspaceId
  readonly runId: TestRunId
  readonly run: number
  readonly publisher: ActorRef
}

/**
 * Stores semaphores. Each change of a semaphore is alone with it, at an instant of the storage's clock that lies within
 * that time; before anything else it ends what has lapsed and gives free slots to the queue in its order.
 */
export class SemaphoresRepo extends Context.Service<
  SemaphoresRepo,
  {
    /**
     * The lease or place that an earlier call with the `requestId` has made, else a new lease, else, where the call waits
     * or can be repeated, a new place. Makes the semaphore where it is missing, and sets its capacity where nobody holds
     * or waits.
     */
    readonly take: (owner: LeaseOwner, request: LeaseRequest) => Effect.Effect<Taken>
    /** The place, or the lease that it has become. `isLast` gives it up where it cannot be polled again. */
    readonly lookUpPlace: (place: LeaseId, isLast: boolean) => Effect.Effect<Taken>
    /** Ends the call of a place: the place lapses as after a poll, or at once where it cannot be polled again. */
    readonly leave: (place: LeaseId, polls: number) => Effect.Effect<void>
    /** Lets a lease live longer, never shorter and never past the end of the token. */
    readonly renew: (
      owner: LeaseOwner,
      name: string,
      lease: LeaseId,
      ttlMillis: number | undefined
    ) => Effect.Effect<Held | NotHolder>
    /** Ends a lease or gives up a place; one that has ended stays so. */
    readonly release: (
      owner: LeaseOwner,
      name: string,
      lease: LeaseId
    ) => Effect.Effect<{ readonly _tag: "Released" } | NotHolder>
    /** In no order; holders oldest first. All of the workspace, or the one of that name. */
    readonly list: (workspaceId: WorkspaceId, name?: string) => Effect.Effect<ReadonlyArray<Semaphore>>
    /** The use of all semaphores of the workspace, in no order, in hours that begin at `from` (milliseconds) or later. */
    readonly usage: (
      workspaceId: WorkspaceId,
      from: number
    ) => Effect.Effect<ReadonlyArray<{ readonly name: string; readonly hours: HoursOfUse }>>
    /** How many leases are held, and how many places wait, in all workspaces. */
    readonly load: Effect.Effect<{ readonly held: number; readonly queued: number }>
    /** Settles the semaphores of places. Answers which of the places no longer wait. */
    readonly settle: (
      places: ReadonlyArray<LeaseId>
    ) => Effect.Effect<{ readonly changed: ReadonlyArray<LeaseId>; readonly lapsesInMillis: number | undefined }>
    /** Gives the run or retry with this token another one, while it runs. Answers the run, and who publishes. */
    readonly replaceToken: (tokenHash: string, by: string) => Effect.Effect<TokenHolder | undefined>
    /**
     * The run or retry whose token it is, in the workspace (slug or id), while it runs, and who publishes it: the id of a
     * person or of an account key. Undefined where the API key that it was started with has ended, or the workspace has
     * blocked what it was started with.
     */
    readonly authenticate: (
      tokenHash: string,
      workspace: string
    ) => Effect.Effect<{ readonly owner: LeaseOwner; readonly publisherId: string } | undefined>
  }
>()("@delivery/server/runs/SemaphoresRepo") {}
