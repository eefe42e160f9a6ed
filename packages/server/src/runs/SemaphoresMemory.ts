import type { LeaseId, TestRunId, WorkspaceId } from "@delivery/domain/Ids"
import type { LeaseHolder } from "@delivery/domain/LeaseHolder"
import { maxWaitingShown } from "@delivery/domain/runs/Semaphore"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { type ApiKeyRow, apiKeys, isLive } from "../access/ActorRows.ts"
import { isBlocked } from "../identity/BlocksRepo.ts"
import { memberKey, members } from "../identity/MembersRepo.ts"
import { trustedPublishers } from "../identity/TrustedPublishersRepo.ts"
import { workspaces } from "../identity/WorkspacesRepo.ts"
import { madeAt } from "../ids/NextId.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { type MemoryLease, type MemorySemaphore, SemaphoreState } from "./SemaphoreStateMemory.ts"
import { testRunRetries } from "./RetriesRepo.ts"
import { shardKey, testRunShards } from "./RunShardsRepo.ts"
import {
  type Held,
  type LeaseOwner,
  type LeaseRequest,
  type NotHolder,
  type Queued,
  type Refused,
  type RunNotRunning,
  SemaphoresRepo,
  type Taken
} from "./SemaphoresRepo.ts"
import { type TestRunRow, testRuns } from "./TestRunsRepo.ts"
import { isRunning } from "./TestRunState.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  SemaphoresRepo,
  Effect.map(MemoryStorage, (memory) =>
    SemaphoresRepo.of({
      take: take(memory),
      lookUpPlace: lookUpPlace(memory),
      leave: leave(memory),
      renew: renew(memory),
      release: release(memory),
      list: list(memory),
      usage: usage(memory),
      load: read(memory, (semaphores) => semaphores.load()),
      settle: settle(memory),
      replaceToken: replaceToken(memory),
      authenticate: authenticate(memory)
    })
  )
)

/** Ends what the run, or the retry of it that runs, holds of semaphores and waits for. */
export const endLeases = (database: MemoryDatabase, runId: TestRunId, at: Timestamp): void =>
  new SemaphoreState(database, Date.parse(at)).endRun(runId)

const write = <A>(memory: Memory, write: (semaphores: SemaphoreState, database: MemoryDatabase) => A) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    memory.write((database) => Effect.sync(() => write(new SemaphoreState(database, now), database)))
  )

const read = <A>(memory: Memory, read: (semaphores: SemaphoreState, database: MemoryDatabase) => A) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    memory.read((database) => read(new SemaphoreState(database, now), database))
  )

const take = (memory: Memory) => (owner: LeaseOwner, request: LeaseRequest) =>
  write(memory, (semaphores, database): Taken => {
    if (!isOwnerRunning(database, owner, semaphores.now)) return runNotRunning
    const semaphore =
      semaphores.find(owner.workspaceId, request.name) ??
      semaphores.store({ workspaceId: owner.workspaceId, name: request.name, capacity: request.capacity })
    semaphores.settle(semaphore)
    return takeAgain(semaphores, semaphore, owner, request) ?? takeAnew(semaphores, semaphore, owner, request)
  })

/** The live lease or place that an earlier call with the same `requestId` has made. */
const takeAgain = (
  semaphores: SemaphoreState,
  semaphore: MemorySemaphore,
  owner: LeaseOwner,
  { requestId, waitMillis }: LeaseRequest
): Taken | undefined => {
  const known = requestId === null ? undefined : semaphores.ofRequest(semaphore, owner, requestId)
  if (known === undefined) return undefined
  if (known.state === "held") return held(semaphore, known, false)
  if (known.state === "granted") return held(semaphore, semaphores.handOver(known), true)
  if (known.expiresAt > semaphores.now) {
    const end = semaphores.placeEnd(known, waitMillis)
    const polled = { ...known, polls: known.polls + 1, expiresAt: Math.max(known.expiresAt, end) }
    return queued(semaphores, semaphore, semaphores.set(polled))
  }
  semaphores.end(known)
  return undefined
}

/** A new lease, or a new place for a call that waits or can be repeated. */
const takeAnew = (
  semaphores: SemaphoreState,
  found: MemorySemaphore,
  owner: LeaseOwner,
  request: LeaseRequest
): Taken => {
  let semaphore = found
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
  const place = { ...lease, state: "queued", place: semaphores.next("place"), slot: 0, fence: 0, since: 0 } as const
  const expiresAt = semaphores.placeEnd(lease, request.waitMillis)
  return queued(semaphores, semaphore, semaphores.set({ ...place, expiresAt }))
}

const lookUpPlace = (memory: Memory) => (id: LeaseId, isLast: boolean) =>
  write(memory, (semaphores, database): Taken => {
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
    if (!isOwnerRunning(database, address, semaphores.now)) return runNotRunning
    if (lease !== undefined) semaphores.end(lease)
    return refused(semaphores, semaphore, "Full")
  })

const leave = (memory: Memory) => (id: LeaseId, polls: number) =>
  write(memory, (semaphores) => {
    const lease = semaphores.lease(id)
    const semaphore = semaphores.of(id)
    if (semaphore === undefined) return
    if (lease?.requestId === null && lease.state !== "held") semaphores.end(lease)
    else if (lease?.state === "queued" && lease.polls === polls) {
      semaphores.set({ ...lease, expiresAt: Math.min(lease.expiresAt, semaphores.placeEnd(lease, 0)) })
    }
    semaphores.settle(semaphore)
  })

const renew = (memory: Memory) => (owner: LeaseOwner, name: string, id: LeaseId, ttlMillis: number | undefined) =>
  write(memory, (semaphores): Held | NotHolder => {
    const lease = semaphores.lease(id)
    const notHolder = notHolderOf(owner, name, lease ?? semaphores.ended(id))
    if (notHolder !== undefined) return notHolder
    const semaphore = semaphores.find(owner.workspaceId, name)
    if (semaphore === undefined || lease?.state !== "held" || lease.expiresAt <= semaphores.now) {
      return { _tag: "Unknown" }
    }
    const renewed = { ...lease, ttlMillis: ttlMillis ?? lease.ttlMillis }
    const expiresAt = Math.min(semaphores.now + renewed.ttlMillis, lease.tokenExpiresAt)
    const stored = semaphores.set({ ...renewed, expiresAt: Math.max(lease.expiresAt, expiresAt) })
    return held(semaphore, stored, false)
  })

const release = (memory: Memory) => (owner: LeaseOwner, name: string, id: LeaseId) =>
  write(memory, (semaphores) => {
    const lease = semaphores.lease(id)
    const notHolder = notHolderOf(owner, name, lease ?? semaphores.ended(id))
    if (notHolder !== undefined) return notHolder
    const semaphore = semaphores.find(owner.workspaceId, name)
    if (lease !== undefined && semaphore !== undefined) {
      semaphores.end(lease)
      if (lease.state === "queued") semaphores.notify(id)
      else semaphores.settle(semaphore)
    }
    return { _tag: "Released" as const }
  })

const list = (memory: Memory) => (workspaceId: WorkspaceId, name?: string) =>
  read(memory, (semaphores) =>
    semaphores
      .ofWorkspace(workspaceId)
      .filter((semaphore) => name === undefined || semaphore.name === name)
      .map((semaphore) => ({
        name: semaphore.name,
        capacity: semaphore.capacity,
        holders: semaphores.holders(semaphore).map(holderOf),
        ...waitingOf(semaphores, semaphore)
      }))
  )

const waitingOf = (semaphores: SemaphoreState, semaphore: MemorySemaphore) => {
  const queue = semaphores.queue(semaphore).filter(({ expiresAt }) => expiresAt > semaphores.now)
  return {
    queued: queue.length,
    waiting: queue.slice(0, maxWaitingShown).map(({ id, retry, run, test }) => ({
      lease: id,
      run,
      retry,
      test,
      since: timestamp(madeAt(id))
    }))
  }
}

const usage = (memory: Memory) => (workspaceId: WorkspaceId, from: number) =>
  read(memory, (semaphores) =>
    semaphores
      .ofWorkspace(workspaceId)
      .map((semaphore) => ({ name: semaphore.name, hours: semaphores.usage(semaphore, from) }))
  )

const settle = (memory: Memory) => (places: ReadonlyArray<LeaseId>) =>
  write(memory, (semaphores) => {
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
  })

/** The shard with the token that has not finished, of a run that goes on. */
const openShard = (database: MemoryDatabase, tokenHash: string, goesOn: (run: TestRunRow) => boolean) =>
  database.table(testRunShards).find((shard) => {
    if (shard.tokenHash !== tokenHash || shard.finishedAt !== null) return false
    const run = database.table(testRuns).get(shard.runId)
    return run !== undefined && goesOn(run)
  })

const replaceToken = (memory: Memory) => (tokenHash: string, by: string) =>
  memory.write((database) =>
    Effect.sync(() => {
      const [runs, retries] = [database.table(testRuns), database.table(testRunRetries)]
      const isHolder = (row: { readonly tokenHash: string; readonly state: string }) =>
        row.tokenHash === tokenHash && row.state === "running"
      const run = runs.find(isHolder)
      const retry = retries.find(isHolder)
      const shards = database.table(testRunShards)
      const shard = openShard(database, tokenHash, ({ state }) => state === "running")
      if (run !== undefined) runs.set(run.id, { ...run, tokenHash: by })
      if (shard !== undefined) shards.set(shardKey(shard.runId, shard.number), { ...shard, tokenHash: by })
      if (retry !== undefined) retries.set(retry.id, { ...retry, tokenHash: by })
      const holder = run ?? retry ?? shard
      if (holder === undefined) return undefined
      const { id, number, workspaceId } = run ?? runs.get((retry ?? shard)!.runId)!
      const publisher = { kind: holder.publisherKind, id: holder.publisherId } as ActorRef
      return { workspaceId, runId: id, run: number, publisher }
    })
  )

const authenticate = (memory: Memory) => (tokenHash: string, workspaceRef: string) =>
  read(memory, ({ now }, database): { readonly owner: LeaseOwner; readonly publisherId: string } | undefined => {
    const isHolder = (one: { readonly tokenHash: string } & Parameters<typeof isRunning>[0]) =>
      one.tokenHash === tokenHash && isRunning(one, timestamp(now))
    const runs = database.table(testRuns)
    const retry = database.table(testRunRetries).find(isHolder)
    const shard = openShard(database, tokenHash, (run) => isRunning(run, timestamp(now)))
    const part = retry ?? shard
    const run = part === undefined ? runs.find(isHolder) : runs.get(part.runId)
    const workspace = database.table(workspaces).find((row) => row.id === workspaceRef || row.slug === workspaceRef)
    if (run === undefined || run.workspaceId !== workspace?.id) return undefined
    const { makerId, publisherId, publisherKind } = part ?? run
    const maker = makerId === null ? undefined : database.table(apiKeys).get(makerId)
    if (maker !== undefined && !isLive(maker, timestamp(now)) && !goesOn(database, maker)) return undefined
    if (isBlocked(database, workspace.id, makerId)) return undefined
    if (
      publisherKind === "user" &&
      database.table(members).get(memberKey(workspace.id, publisherId))?.active !== true
    ) {
      return undefined
    }
    const owner = {
      workspaceId: run.workspaceId,
      runId: run.id,
      run: run.number,
      retry: retry?.number ?? null,
      expiresAt: (retry ?? run).expiresAt
    }
    return { owner, publisherId }
  })

/** What a key of a trusted publisher began goes on when the key expires, and ends with what ends the publisher. */
const goesOn = (database: MemoryDatabase, { expiresAt, makerId, revokedAt }: ApiKeyRow): boolean =>
  expiresAt !== null &&
  (revokedAt === null || revokedAt >= expiresAt) &&
  database.table(trustedPublishers).find(({ id }) => id === makerId) !== undefined

/** Whether the run or retry runs that holds a lease or takes one. */
const isOwnerRunning = (
  database: MemoryDatabase,
  { retry, runId }: Pick<LeaseOwner, "runId" | "retry">,
  now: number
): boolean => {
  const run = database.table(testRuns).get(runId)
  if (run === undefined) return false
  if (retry === null) return isRunning(run, timestamp(now))
  return run.runningRetry === retry && run.runningRetryExpiresAt !== null && run.runningRetryExpiresAt > timestamp(now)
}

const notHolderOf = (
  owner: LeaseOwner,
  name: string,
  found: Pick<MemoryLease, "workspaceId" | "name" | "runId" | "retry"> | undefined
): NotHolder | undefined => {
  if (found === undefined || found.workspaceId !== owner.workspaceId || found.name !== name) return { _tag: "Unknown" }
  return found.runId === owner.runId && found.retry === owner.retry ? undefined : { _tag: "Foreign" }
}

const runNotRunning: RunNotRunning = { _tag: "RunNotRunning" }

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

const queued = (semaphores: SemaphoreState, semaphore: MemorySemaphore, place: MemoryLease): Queued => ({
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

const refused = (semaphores: SemaphoreState, semaphore: MemorySemaphore, tag: Refused["_tag"]): Refused => ({
  _tag: tag,
  capacity: semaphore.capacity,
  holders: semaphores.holders(semaphore).map(holderOf),
  lapsesInMillis: semaphores.lapsesIn(semaphore)
})
