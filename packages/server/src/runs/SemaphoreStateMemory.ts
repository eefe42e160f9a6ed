import type { LeaseId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import { placeMillis } from "@delivery/domain/runs/Semaphore"
import { madeAt } from "../ids/NextId.ts"
import { type MemoryDatabase, memoryTable } from "../storage/MemoryStorage.ts"
import { hoursOf, type HoursOfUse, type Span, sumOfUse, usageFrom } from "./SemaphoreUse.ts"

/** The state of semaphores in memory, and its changes: what migration 0020 does in SQL. Times are milliseconds since 1970. */

/** Milliseconds that a slot is kept for a place that its own call alone can poll. */
const callMillis = 5_000

export interface MemorySemaphore {
  readonly workspaceId: WorkspaceId
  readonly name: string
  readonly capacity: number
}

export interface MemoryLease {
  readonly id: LeaseId
  readonly workspaceId: WorkspaceId
  readonly name: string
  readonly runId: TestRunId
  readonly run: number
  readonly retry: number | null
  readonly tokenExpiresAt: number
  readonly requestId: string | null
  readonly test: string | null
  readonly ttlMillis: number
  readonly state: "queued" | "granted" | "held"
  readonly place: number
  readonly polls: number
  readonly slot: number
  readonly fence: number
  readonly since: number
  readonly expiresAt: number
}

/** A lease that has ended, kept until its run ends. */
export type EndedLease = Pick<MemoryLease, "id" | "workspaceId" | "name" | "runId" | "retry"> & { readonly span: Span }

/** By workspace and name. */
const semaphoresTable = memoryTable<MemorySemaphore>("semaphores")
/** Leases and places that have not ended. */
const leasesTable = memoryTable<MemoryLease>("semaphore_leases")
const endedTable = memoryTable<EndedLease>("semaphore_leases_ended")
/** What leases of runs that have ended have used, by workspace and name. */
const hoursTable = memoryTable<HoursOfUse>("semaphore_hours")
/** The last `place` and the last `fence` that were given. */
const countersTable = memoryTable<number>("semaphore_counters")

const keyOf = ({ name, workspaceId }: Pick<MemorySemaphore, "name" | "workspaceId">): string => `${workspaceId}/${name}`

/** The semaphores in one transaction, at one instant. One class, as the functions of the migration are one set. */
export class SemaphoreState {
  readonly #database: MemoryDatabase
  readonly now: number

  constructor(database: MemoryDatabase, now: number) {
    this.#database = database
    this.now = now
  }

  find(workspaceId: WorkspaceId, name: string): MemorySemaphore | undefined {
    return this.#database.table(semaphoresTable).get(keyOf({ workspaceId, name }))
  }

  ofWorkspace(workspaceId: WorkspaceId): ReadonlyArray<MemorySemaphore> {
    return this.#database.table(semaphoresTable).filter((semaphore) => semaphore.workspaceId === workspaceId)
  }

  store(semaphore: MemorySemaphore): MemorySemaphore {
    this.#database.table(semaphoresTable).set(keyOf(semaphore), semaphore)
    return semaphore
  }

  lease(id: LeaseId): MemoryLease | undefined {
    return this.#database.table(leasesTable).get(id)
  }

  /** The semaphore of a lease, also of one that has ended. */
  of(id: LeaseId): MemorySemaphore | undefined {
    const found = this.lease(id) ?? this.ended(id)
    return found === undefined ? undefined : this.find(found.workspaceId, found.name)
  }

  isWaiting(id: LeaseId): boolean {
    const lease = this.lease(id)
    return lease?.state === "queued" && lease.expiresAt > this.now
  }

  ended(id: LeaseId): EndedLease | undefined {
    return this.#database.table(endedTable).get(id)
  }

  set(lease: MemoryLease): MemoryLease {
    this.#database.table(leasesTable).set(lease.id, lease)
    return lease
  }

  end(lease: MemoryLease): void {
    this.#database.table(leasesTable).delete(lease.id)
    const { id, name, retry, runId, workspaceId } = lease
    this.#database.table(endedTable).set(id, { id, name, retry, runId, workspaceId, span: this.#span(lease) })
  }

  #span({ expiresAt, id, since, state }: MemoryLease): Span {
    return {
      asked: madeAt(id),
      since: state === "queued" ? undefined : since,
      till: Math.min(this.now, expiresAt)
    }
  }

  /** The hours of use that begin at `from` or later. */
  usage(semaphore: MemorySemaphore, from: number): HoursOfUse {
    const key = keyOf(semaphore)
    const ended = this.#database.table(endedTable).filter((lease) => keyOf(lease) === key)
    const held = this.#of(semaphore).filter(({ state }) => state !== "queued")
    const spans = [...ended.map(({ span }) => span), ...held.map((lease) => this.#span(lease))]
    return this.#count(key, spans, from)
  }

  /** What is counted of a semaphore already, and what the spans add. */
  #count(key: string, spans: ReadonlyArray<Span>, from: number): HoursOfUse {
    const counted = new Map(this.#database.table(hoursTable).get(key))
    for (const [hour, use] of spans.flatMap((span) => [...hoursOf(span)])) {
      counted.set(hour, sumOfUse(counted.get(hour), use))
    }
    return new Map([...counted].filter(([hour]) => hour >= from))
  }

  next(counter: "place" | "fence"): number {
    const counters = this.#database.table(countersTable)
    const value = (counters.get(counter) ?? 0) + 1
    counters.set(counter, value)
    return value
  }

  #of({ name, workspaceId }: MemorySemaphore): Array<MemoryLease> {
    return this.#database.table(leasesTable).filter((lease) => lease.workspaceId === workspaceId && lease.name === name)
  }

  /** The leases with a slot that have not lapsed, oldest first. */
  holders(semaphore: MemorySemaphore): ReadonlyArray<MemoryLease> {
    return this.#of(semaphore)
      .filter((lease) => lease.state !== "queued" && lease.expiresAt > this.now)
      .toSorted((a, b) => a.since - b.since || a.fence - b.fence)
  }

  /** How many leases are held, and how many places wait. */
  load(): { readonly held: number; readonly queued: number } {
    const live = this.#database.table(leasesTable).filter((lease) => lease.expiresAt > this.now)
    const queued = live.filter((lease) => lease.state === "queued").length
    return { held: live.length - queued, queued }
  }

  /** The queue in its order; places that have lapsed may be among it. */
  queue(semaphore: MemorySemaphore): ReadonlyArray<MemoryLease> {
    return this.#of(semaphore)
      .filter((lease) => lease.state === "queued")
      .toSorted((a, b) => a.place - b.place)
  }

  position(semaphore: MemorySemaphore, lease: MemoryLease): number {
    const before = this.queue(semaphore).filter((one) => one.place < lease.place && one.expiresAt > this.now)
    return before.length + 1
  }

  /** Milliseconds until the first slot lapses, unless it is renewed or released before. */
  lapsesIn(semaphore: MemorySemaphore): number | undefined {
    const ends = this.holders(semaphore).map((lease) => lease.expiresAt - this.now)
    return ends.length === 0 ? undefined : Math.min(...ends)
  }

  /** The lease or place that an earlier call of the run or retry with the `requestId` has made. */
  ofRequest(
    semaphore: MemorySemaphore,
    holder: { readonly runId: TestRunId; readonly retry: number | null },
    requestId: string
  ): MemoryLease | undefined {
    return this.#of(semaphore).find(
      (lease) => lease.runId === holder.runId && lease.retry === holder.retry && lease.requestId === requestId
    )
  }

  freeSlot(semaphore: MemorySemaphore): number | undefined {
    const taken = new Set(this.holders(semaphore).map((lease) => lease.slot))
    for (let slot = 1; slot <= semaphore.capacity; slot++) if (!taken.has(slot)) return slot
    return undefined
  }

  /** Ends what has lapsed, gives free slots to the queue in its order and notifies the calls that wait. */
  settle(semaphore: MemorySemaphore): void {
    for (const lease of this.#of(semaphore)) {
      if (lease.state !== "queued" && lease.expiresAt <= this.now) this.end(lease)
    }
    for (const place of this.queue(semaphore)) {
      const slot = this.freeSlot(semaphore)
      if (slot === undefined) return
      if (place.expiresAt <= this.now) this.end(place)
      else {
        const kept = place.requestId === null ? callMillis : placeMillis
        this.set({
          ...place,
          state: "granted",
          slot,
          fence: this.next("fence"),
          since: this.now,
          expiresAt: Math.min(this.now + kept, place.tokenExpiresAt)
        })
        this.notify(place.id)
      }
    }
  }

  /** Hands a granted lease over: its time begins. */
  handOver(lease: MemoryLease): MemoryLease {
    return this.set({
      ...lease,
      state: "held",
      expiresAt: Math.min(this.now + lease.ttlMillis, lease.tokenExpiresAt)
    })
  }

  /** When a place lapses whose call waits so many milliseconds. */
  placeEnd(place: Pick<MemoryLease, "requestId" | "tokenExpiresAt">, waitMillis: number): number {
    const kept = place.requestId === null ? callMillis : placeMillis
    return Math.min(this.now + waitMillis + kept, place.tokenExpiresAt)
  }

  notify(id: LeaseId): void {
    this.#database.notify("semaphores", id)
  }

  /** Ends all that the run, or the retry of it that runs, holds and waits for. */
  endRun(runId: TestRunId): void {
    const leases = this.#database.table(leasesTable).filter((lease) => lease.runId === runId)
    const allEnded = this.#database.table(endedTable).filter((lease) => lease.runId === runId)
    const gone = [...allEnded, ...leases.map((lease) => ({ ...lease, span: this.#span(lease) }))]
    for (const [key, ofSemaphore] of Map.groupBy(gone, keyOf)) {
      const spans = ofSemaphore.map(({ span }) => span)
      this.#database.table(hoursTable).set(key, this.#count(key, spans, usageFrom(this.now)))
    }
    for (const lease of leases) {
      this.#database.table(leasesTable).delete(lease.id)
      if (lease.state !== "held") this.notify(lease.id)
    }
    for (const ended of allEnded) this.#database.table(endedTable).delete(ended.id)
    for (const { name, workspaceId } of leases) {
      const semaphore = this.find(workspaceId, name)
      if (semaphore !== undefined) this.settle(semaphore)
    }
  }
}
