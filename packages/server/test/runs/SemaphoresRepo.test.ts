import type { EventId, LeaseId, WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { assert } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { SignInsRepo } from "../../src/agents/SignInsRepo.ts"
import { Notices } from "../../src/storage/Notices.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { type Held, type Queued, SemaphoresRepo, type Taken } from "../../src/runs/SemaphoresRepo.ts"
import { RetriesRepo } from "../../src/runs/RetriesRepo.ts"
import { TestRunsRepo } from "../../src/runs/TestRunsRepo.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { BlocksRepo } from "../../src/identity/BlocksRepo.ts"
import { apiKeyRow, keyOfWorkspace, newId, unique } from "../identity/Scene.ts"
import { usageFrom } from "../../src/runs/SemaphoreUse.ts"
import { eventually } from "../support/Eventually.ts"
import type { Repositories } from "../support/Storages.ts"
import {
  finishRun,
  leaseIdAt,
  makeRuns,
  onEachStorage,
  startRetry,
  startRun,
  Time,
  leaseRequest
} from "./SemaphoreStorages.ts"

const held = (taken: Taken | { readonly _tag: string }): Held => {
  assert.strictEqual(taken._tag, "Held")
  return taken as Held
}

const queued = (taken: Taken): Queued => {
  assert.strictEqual(taken._tag, "Queued")
  return taken as Queued
}

onEachStorage("SemaphoresRepo", (it) => {
  it.effect("gives the lowest free slot and increasing fences", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const { name, other, run } = yield* makeRuns
      const leases = []
      for (let i = 0; i < 4; i++)
        leases.push(held(yield* repo.take(i % 2 ? run : other, leaseRequest(name, { capacity: 4 }))))
      assert.deepStrictEqual(
        leases.map(({ lease }) => lease.slot),
        [1, 2, 3, 4]
      )
      assert.strictEqual((yield* repo.take(run, leaseRequest(name, { capacity: 4 })))._tag, "Full")
      yield* repo.release(run, name, leases[1]!.lease.lease)
      yield* repo.release(run, name, leases[3]!.lease.lease)
      const again = held(yield* repo.take(run, leaseRequest(name, { capacity: 4 })))
      assert.strictEqual(again.lease.slot, 2)
      const fences = [...leases, again].map(({ lease }) => lease.fence)
      assert.deepStrictEqual(
        fences.toSorted((a, b) => a - b),
        fences
      )
      assert.strictEqual(new Set(fences).size, 5)
      assert.isTrue(again.isNew)
    })
  )

  it.effect("keeps semaphores of workspaces and names apart", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const [one, two] = [yield* makeRuns, yield* makeRuns]
      held(yield* repo.take(one.run, leaseRequest("shared")))
      held(yield* repo.take(two.run, leaseRequest("shared", { capacity: 2 })))
      held(yield* repo.take(one.run, leaseRequest("Shared")))
      const list = yield* repo.list(one.at.workspace.id)
      assert.sameMembers(
        list.map(({ name }) => name),
        ["shared", "Shared"]
      )
      assert.deepStrictEqual(
        list.map(({ holders }) => holders.length),
        [1, 1]
      )
    })
  )

  it.effect("tells what was used within each hour, before and after runs have ended", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const time = yield* Time
      const { at, name, other, run } = yield* makeRuns
      const usage = Effect.gen(function* () {
        const [used] = yield* repo.usage(at.workspace.id, usageFrom(yield* time.now))
        assert.strictEqual(used!.name, name)
        const all = [...used!.hours.values()]
        return {
          leases: all.reduce((sum, { leases }) => sum + leases, 0),
          heldMs: all.reduce((sum, { heldMs }) => sum + heldMs, 0),
          longestWaitMs: Math.max(...all.map(({ longestWaitMs }) => longestWaitMs)),
          gaveUp: all.reduce((sum, { gaveUp }) => sum + gaveUp, 0)
        }
      })
      // It lapses after 5 minutes, 3 minutes before the next is asked for.
      held(yield* repo.take(run, leaseRequest(name, { ttlMillis: 300_000 })))
      yield* time.pass(480_000)
      const asked = yield* time.now
      const holder = held(
        yield* repo.take(other, leaseRequest(name, { id: leaseIdAt(asked - 12_300), ttlMillis: 60_000 }))
      )
      const until = Date.parse(holder.lease.since) - asked
      const place = leaseRequest(name, { id: leaseIdAt(asked), requestId: "one", waitMillis: 1_000 })
      queued(yield* repo.take(run, place))
      // What it holds counts as far as it has come.
      const now = yield* usage
      assert.deepStrictEqual([now.leases, now.longestWaitMs, now.gaveUp], [2, until + 12_300, 0])
      assert.isAtLeast(now.heldMs, 300_000)
      yield* repo.release(run, name, place.id)
      yield* time.pass(60_000)
      // The time that passes moves no ids, which say when leases were asked for.
      const known = Effect.map(usage, ({ gaveUp, heldMs, leases }) => ({ gaveUp, heldMs, leases }))
      const expected = { leases: 2, heldMs: 360_000, gaveUp: 1 }
      assert.deepStrictEqual(yield* known, expected)
      yield* finishRun(run)
      assert.deepStrictEqual(yield* known, expected)
      yield* finishRun(other)
      assert.deepStrictEqual(yield* known, expected)
      // Another workspace has none of it.
      assert.deepStrictEqual(yield* repo.usage((yield* makeRuns).at.workspace.id, 0), [])
    })
  )

  it.effect("changes the capacity of idle semaphores only", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const time = yield* Time
      const { name, run } = yield* makeRuns
      const first = held(yield* repo.take(run, leaseRequest(name, { capacity: 1 })))
      const refused = yield* repo.take(run, leaseRequest(name, { capacity: 2 }))
      assert.deepInclude(refused, { _tag: "CapacityMismatch", capacity: 1 })
      queued(yield* repo.take(run, leaseRequest(name, { requestId: "q" })))
      yield* repo.release(run, name, first.lease.lease)
      // Granted to the queue: not idle.
      assert.strictEqual((yield* repo.take(run, leaseRequest(name, { capacity: 2 })))._tag, "CapacityMismatch")
      yield* time.pass(30_000)
      const grown = held(yield* repo.take(run, leaseRequest(name, { capacity: 2 })))
      assert.deepInclude(grown.lease, { capacity: 2, slot: 1 })
      held(yield* repo.take(run, leaseRequest(name, { capacity: 2 })))
      yield* time.pass(60_000)
      assert.deepInclude(held(yield* repo.take(run, leaseRequest(name, { capacity: 1 }))).lease, {
        capacity: 1,
        slot: 1
      })
      assert.strictEqual((yield* repo.take(run, leaseRequest(name, { capacity: 1 })))._tag, "Full")
    })
  )

  it.effect("expires leases on time and never revives one", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const time = yield* Time
      const { at, name, run } = yield* makeRuns
      const { lease } = held(yield* repo.take(run, leaseRequest(name, { ttlMillis: 20_000, requestId: "r" })))
      assert.strictEqual(Date.parse(lease.expiresAt) - Date.parse(lease.since), 20_000)
      yield* time.pass(15_000)
      const renewed = held(yield* repo.renew(run, name, lease.lease, undefined))
      assert.approximately(Date.parse(renewed.lease.expiresAt), (yield* time.now) + 20_000, 2_000)
      assert.strictEqual(
        held(yield* repo.renew(run, name, lease.lease, 10_000)).lease.expiresAt,
        renewed.lease.expiresAt
      )
      yield* time.pass(18_000)
      held(yield* repo.take(run, leaseRequest(name, { requestId: "r" })))
      yield* time.pass(2_000)
      assert.deepStrictEqual((yield* repo.list(at.workspace.id))[0]!.holders, [])
      assert.strictEqual((yield* repo.renew(run, name, lease.lease, 300_000))._tag, "Unknown")
      assert.strictEqual((yield* repo.release(run, name, lease.lease))._tag, "Released")
      const next = held(yield* repo.take(run, leaseRequest(name, { requestId: "r" })))
      assert.notStrictEqual(next.lease.lease, lease.lease)
      assert.isTrue(next.isNew)
      assert.strictEqual((yield* repo.renew(run, name, lease.lease, 300_000))._tag, "Unknown")
    })
  )

  it.effect("clips leases and places to the end of the token", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const { at, name } = yield* makeRuns
      const run = yield* startRun(at, 12_000)
      const { lease } = held(yield* repo.take(run, leaseRequest(name)))
      assert.strictEqual(lease.expiresAt, run.expiresAt)
      assert.strictEqual(held(yield* repo.renew(run, name, lease.lease, 300_000)).lease.expiresAt, run.expiresAt)
      const { place } = queued(yield* repo.take(run, leaseRequest(name, { requestId: "q", waitMillis: 30_000 })))
      assert.strictEqual(place.expiresAt, run.expiresAt)
    })
  )

  it.effect("keeps the order of the queue, through polls and lapses", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const time = yield* Time
      const { name, other, run } = yield* makeRuns
      const ttlMillis = 300_000
      const first = held(yield* repo.take(run, leaseRequest(name, { ttlMillis })))
      const poll = (requestId: string) => repo.take(run, leaseRequest(name, { requestId, ttlMillis }))
      const places = []
      for (const id of ["a", "b", "c"]) places.push(queued(yield* poll(id)).place)
      assert.deepStrictEqual(
        places.map(({ position }) => position),
        [1, 2, 3]
      )
      assert.approximately(Date.parse(places[0]!.expiresAt), (yield* time.now) + 30_000, 2_000)
      yield* time.pass(20_000)
      assert.strictEqual(queued(yield* poll("b")).place.lease, places[1]!.lease)
      assert.strictEqual(queued(yield* poll("c")).place.position, 3)
      yield* time.pass(15_000)
      // The place of a has lapsed; polled again it is a new one, at the end.
      assert.strictEqual(queued(yield* poll("c")).place.position, 2)
      const again = queued(yield* poll("a")).place
      assert.notStrictEqual(again.lease, places[0]!.lease)
      assert.strictEqual(again.position, 3)

      yield* repo.release(run, name, first.lease.lease)
      assert.strictEqual((yield* repo.take(other, leaseRequest(name)))._tag, "Full")
      assert.strictEqual(queued(yield* poll("c")).place.position, 1)
      const handed = held(yield* poll("b"))
      assert.strictEqual(handed.lease.lease, places[1]!.lease)
      assert.isTrue(handed.isNew)
      assert.isFalse(held(yield* poll("b")).isNew)
      assert.approximately(Date.parse(handed.lease.expiresAt), (yield* time.now) + ttlMillis, 2_000)
    })
  )

  it.effect("reserves a slot for a polled place for 30 seconds", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const time = yield* Time
      const { at, name, run } = yield* makeRuns
      const first = held(yield* repo.take(run, leaseRequest(name)))
      const a = queued(yield* repo.take(run, leaseRequest(name, { requestId: "a" })))
      const b = queued(yield* repo.take(run, leaseRequest(name, { requestId: "b", waitMillis: 30_000 })))
      yield* time.pass(10_000)
      yield* repo.release(run, name, first.lease.lease)
      const [holder] = (yield* repo.list(at.workspace.id))[0]!.holders
      assert.strictEqual(holder?.lease, a.place.lease)
      assert.strictEqual((yield* repo.renew(run, name, a.place.lease, undefined))._tag, "Unknown")
      yield* time.pass(29_000)
      assert.strictEqual(queued(yield* repo.lookUpPlace(b.place.lease, false)).place.position, 1)
      yield* time.pass(1_000)
      assert.strictEqual(held(yield* repo.lookUpPlace(b.place.lease, false)).lease.lease, b.place.lease)
      assert.notStrictEqual(
        queued(yield* repo.take(run, leaseRequest(name, { requestId: "a" }))).place.lease,
        a.place.lease
      )
    })
  )

  it.effect("reserves a slot only briefly for a call that cannot be repeated", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const time = yield* Time
      const { name, run } = yield* makeRuns
      const first = held(yield* repo.take(run, leaseRequest(name)))
      const dead = queued(yield* repo.take(run, leaseRequest(name, { waitMillis: 20_000 })))
      const next = queued(yield* repo.take(run, leaseRequest(name, { waitMillis: 20_000 })))
      yield* repo.release(run, name, first.lease.lease)
      assert.strictEqual(queued(yield* repo.lookUpPlace(next.place.lease, false)).place.position, 1)
      yield* time.pass(5_000)
      held(yield* repo.lookUpPlace(next.place.lease, false))
      assert.strictEqual((yield* repo.lookUpPlace(dead.place.lease, false))._tag, "Full")
    })
  )

  it.effect("gives up places that their calls have abandoned", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const time = yield* Time
      const { name, run } = yield* makeRuns
      const first = held(yield* repo.take(run, leaseRequest(name, { ttlMillis: 300_000 })))
      const nameless = queued(yield* repo.take(run, leaseRequest(name, { waitMillis: 30_000 })))
      const left = queued(yield* repo.take(run, leaseRequest(name, { requestId: "left", waitMillis: 30_000 })))
      const polled = queued(yield* repo.take(run, leaseRequest(name, { requestId: "polled", waitMillis: 30_000 })))
      const stays = queued(yield* repo.take(run, leaseRequest(name, { requestId: "stays", waitMillis: 30_000 })))
      assert.strictEqual(stays.place.position, 4)
      const again = queued(yield* repo.take(run, leaseRequest(name, { requestId: "polled", waitMillis: 30_000 })))
      assert.deepStrictEqual([polled.polls, again.polls], [1, 2])
      for (const { place, polls } of [nameless, left, polled]) yield* repo.leave(place.lease, polls)
      assert.strictEqual(queued(yield* repo.lookUpPlace(stays.place.lease, false)).place.position, 3)
      yield* time.pass(30_000)
      // The later poll of the one still runs.
      assert.strictEqual(queued(yield* repo.lookUpPlace(stays.place.lease, false)).place.position, 2)
      yield* repo.release(run, name, first.lease.lease)
      held(yield* repo.lookUpPlace(polled.place.lease, false))
      assert.strictEqual((yield* repo.lookUpPlace(nameless.place.lease, true))._tag, "Full")
      yield* repo.leave(newId<LeaseId>(), 1)
    })
  )

  it.effect("gives up a place that cannot be polled again at its last look-up", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const { name, run } = yield* makeRuns
      const first = held(yield* repo.take(run, leaseRequest(name)))
      const nameless = queued(yield* repo.take(run, leaseRequest(name, { waitMillis: 10 })))
      const named = queued(yield* repo.take(run, leaseRequest(name, { waitMillis: 10, requestId: "n" })))
      assert.strictEqual(queued(yield* repo.lookUpPlace(named.place.lease, true)).place.position, 2)
      const full = yield* repo.lookUpPlace(nameless.place.lease, true)
      assert.deepInclude(full, { _tag: "Full", capacity: 1 })
      yield* repo.release(run, name, first.lease.lease)
      held(yield* repo.lookUpPlace(named.place.lease, true))
    })
  )

  it.effect("ends leases and places of a run in the transaction that ends the run", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const { at, name, other, run } = yield* makeRuns
      const first = held(yield* repo.take(run, leaseRequest(name, { capacity: 2 })))
      held(yield* repo.take(run, leaseRequest(name, { capacity: 2 })))
      const places = []
      for (const owner of [run, other, run, other]) {
        places.push(
          queued(yield* repo.take(owner, leaseRequest(name, { capacity: 2, requestId: unique("r") }))).place.lease
        )
      }
      yield* finishRun(run)
      for (const place of [places[0]!, places[2]!]) {
        assert.strictEqual((yield* repo.lookUpPlace(place, false))._tag, "RunNotRunning")
      }
      assert.deepStrictEqual(
        (yield* repo.list(at.workspace.id))[0]!.holders.map(({ lease }) => lease),
        [places[1]!, places[3]!]
      )
      assert.strictEqual((yield* repo.take(run, leaseRequest(unique("new"))))._tag, "RunNotRunning")
      assert.strictEqual((yield* repo.release(other, name, first.lease.lease))._tag, "Unknown")
    })
  )

  it.effect("keeps leases if the end of the run or retry is rolled back", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const storage = yield* Storage
      const time = yield* Time
      const { at, name, run } = yield* makeRuns
      const holders = Effect.map(repo.list(at.workspace.id), ([semaphore]) =>
        semaphore!.holders.map(({ lease }) => lease)
      )
      const takenBack = <A>(end: Effect.Effect<A, never, Repositories | Time>) =>
        Effect.gen(function* () {
          const inside = storage.transaction(Effect.flatMap(Effect.andThen(end, holders), Effect.fail))
          return yield* Effect.flip(inside)
        })
      const ofRun = held(yield* repo.take(run, leaseRequest(name))).lease.lease
      assert.deepStrictEqual(yield* takenBack(finishRun(run)), [])
      assert.deepStrictEqual(yield* holders, [ofRun])
      held(yield* repo.renew(run, name, ofRun, undefined))

      const retry = yield* startRetry(run, 10_000)
      const ofRetry = held(yield* repo.take(retry, leaseRequest(name))).lease.lease
      const late = timestamp((yield* time.now) + 11_000)
      const expire = Effect.flatMap(RetriesRepo, (retries) => retries.expire(late, [newId()], run.runId))
      assert.deepStrictEqual(yield* takenBack(expire), [])
      assert.deepStrictEqual(yield* holders, [ofRetry])
    })
  )

  it.effect("ends leases of overdue runs", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const time = yield* Time
      const { at, name, other } = yield* makeRuns
      const names = [name, unique("s"), unique("s")]
      for (const one of names) {
        const run = yield* startRun(at, 10_000)
        held(yield* repo.take(run, leaseRequest(one, { ttlMillis: 300_000 })))
        queued(yield* repo.take(other, leaseRequest(one, { requestId: "o", waitMillis: 30_000 })))
      }
      yield* time.pass(11_000)
      const now = timestamp(yield* time.now)
      const ids = Array.from({ length: 1_000 }, () => newId<EventId>())
      const ended = yield* (yield* TestRunsRepo).expire(now, ids)
      assert.lengthOf(
        ended.filter(({ workspaceId }) => workspaceId === at.workspace.id),
        3
      )
      const list = yield* repo.list(at.workspace.id)
      assert.deepStrictEqual(
        list.map(({ holders }) => holders.map(({ run }) => run)),
        names.map(() => [other.run])
      )
    })
  )

  it.effect("ends leases of overdue retries", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const time = yield* Time
      const { at, name, other, run } = yield* makeRuns
      const retry = yield* startRetry(run, 10_000)
      const { lease } = held(yield* repo.take(retry, leaseRequest(name, { ttlMillis: 300_000 })))
      assert.deepInclude(lease, { run: run.run, retry: 1, expiresAt: retry.expiresAt })
      queued(yield* repo.take(other, leaseRequest(name, { requestId: "o", waitMillis: 30_000 })))
      yield* time.pass(11_000)
      assert.isUndefined(yield* repo.authenticate(retry.tokenHash, at.workspace.slug))
      assert.strictEqual((yield* repo.take(retry, leaseRequest(unique("s"))))._tag, "RunNotRunning")
      const now = timestamp(yield* time.now)
      const ids = Array.from({ length: 1_000 }, () => newId<EventId>())
      assert.isAtLeast(yield* (yield* RetriesRepo).expire(now, ids), 1)
      const [semaphore] = yield* repo.list(at.workspace.id)
      assert.deepStrictEqual(
        semaphore!.holders.map(({ retry, run }) => [run, retry]),
        [[other.run, null]]
      )
      assert.strictEqual((yield* repo.renew(retry, name, lease.lease, undefined))._tag, "Unknown")
    })
  )

  it.effect("accepts a token while its run is running, in its workspace only", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const time = yield* Time
      const { at, other, run } = yield* makeRuns
      const { newRun: _, tokenHash, ...owner } = run
      assert.deepStrictEqual((yield* repo.authenticate(tokenHash, at.workspace.slug))?.owner, owner)
      assert.deepStrictEqual((yield* repo.authenticate(tokenHash, at.workspace.id))?.owner, owner)
      const elsewhere = yield* makeRuns
      assert.isUndefined(yield* repo.authenticate(tokenHash, elsewhere.at.workspace.slug))
      assert.isUndefined(yield* repo.authenticate("unknown", at.workspace.slug))
      yield* finishRun(run)
      assert.isUndefined(yield* repo.authenticate(tokenHash, at.workspace.slug))
      assert.isDefined(yield* repo.authenticate(other.tokenHash, at.workspace.slug))
      yield* time.pass(3_600_000)
      assert.isUndefined(yield* repo.authenticate(other.tokenHash, at.workspace.slug))
    })
  )

  it.effect("accepts no token of what was started with a key that has ended, or that the workspace has blocked", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const [keys, blocks] = [yield* ApiKeysRepo, yield* BlocksRepo]
      const { at } = yield* makeRuns
      const now = yield* (yield* Time).now
      const workspaceId = at.workspace.id
      const startedWith = Effect.fnUntraced(function* (expiresAt: string | null) {
        const key = apiKeyRow(keyOfWorkspace(workspaceId, "member"), { expiresAt })
        yield* keys.insert(key)
        const run = yield* startRun(at, undefined, { makerId: key.id })
        return { key, holder: run }
      })
      const isAccepted = ({ holder }: { readonly holder: { readonly tokenHash: string } }) =>
        Effect.map(repo.authenticate(holder.tokenHash, workspaceId), (found) => found !== undefined)
      const [live, expired, revoked, blocked] = [
        yield* startedWith(timestamp(now + 3_600_000)),
        yield* startedWith(timestamp(now - 1)),
        yield* startedWith(null),
        yield* startedWith(null)
      ]
      const retried = {
        ...blocked,
        holder: yield* startRetry(yield* startRun(at, undefined, { makerId: blocked.key.id }))
      }
      yield* keys.end(revoked.key.id, { workspaceId }, { at: timestamp(now), keptBy: undefined })
      const elsewhere = yield* makeRuns
      const blockedIn = (id: WorkspaceId) => blocks.block(id, blocked.key.id, [blocked.key.id], timestamp(now))
      yield* blockedIn(elsewhere.at.workspace.id)
      const accepted = Effect.forEach([live, expired, revoked, blocked, retried], isAccepted)
      assert.deepStrictEqual(yield* accepted, [true, false, false, true, true])
      yield* blockedIn(workspaceId)
      assert.deepStrictEqual(yield* accepted, [true, false, false, false, false])
      yield* blocks.unblock(workspaceId, blocked.key.id)
      assert.deepStrictEqual(yield* accepted, [true, false, false, true, true])
    })
  )

  it.effect("accepts no token of a blocked session that has ended, after blocks of what has ended are forgotten", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const blocks = yield* BlocksRepo
      const { at } = yield* makeRuns
      const now = timestamp(yield* (yield* Time).now)
      const makers = [newId(), newId(), newId()] as const
      const running = yield* startRun(at, undefined, { makerId: makers[0] })
      const retried = yield* startRetry(yield* startRun(at, undefined, { makerId: makers[1] }))
      const over = yield* startRun(at, undefined, { makerId: makers[2] })
      yield* finishRun(over)
      for (const id of makers) yield* blocks.block(at.workspace.id, id, [id], now)
      yield* (yield* SignInsRepo).eraseBlocks(now)
      for (const { tokenHash } of [running, retried])
        assert.isUndefined(yield* repo.authenticate(tokenHash, at.workspace.slug))
      const kept = (yield* blocks.list(at.workspace.id)).map(({ credentialId }) => credentialId)
      assert.sameMembers<string>(kept, [makers[0], makers[1]])
    })
  )

  it.effect("notifies of places that no longer wait", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const time = yield* Time
      const { name, other, run } = yield* makeRuns
      const notified: Array<LeaseId> = []
      let isListening = false
      const listening = yield* Scope.make()
      const notices = yield* Notices
      const listen = notices.listen("semaphores", {
        onNotice: (place) => notified.push(place as LeaseId),
        onListening: () => {
          isListening = true
        }
      })
      yield* Scope.provide(listen, listening)
      const until = (done: () => boolean) => eventually(Effect.sync(done), (isDone) => isDone)
      yield* until(() => isListening)
      const first = held(yield* repo.take(run, leaseRequest(name)))
      const places: Array<LeaseId> = []
      for (const owner of [run, other, run]) {
        places.push(queued(yield* repo.take(owner, leaseRequest(name, { waitMillis: 30_000 }))).place.lease)
      }
      assert.deepStrictEqual((yield* repo.settle(places)).changed, [])
      assert.approximately((yield* repo.settle(places)).lapsesInMillis!, 60_000, 2_000)
      yield* repo.release(run, name, first.lease.lease)
      yield* until(() => notified.includes(places[0]!))
      yield* repo.release(other, name, places[1]!)
      yield* until(() => notified.includes(places[1]!))
      yield* finishRun(run)
      yield* until(() => notified.includes(places[2]!))
      assert.sameMembers([...(yield* repo.settle([...places, newId<LeaseId>()])).changed].slice(0, 3), places)
      yield* Scope.close(listening, Exit.void)

      // What lapses is found by looking.
      const next = held(yield* repo.take(other, leaseRequest(name, { ttlMillis: 10_000 })))
      const waiting = queued(yield* repo.take(other, leaseRequest(name, { waitMillis: 30_000 })))
      yield* time.pass(10_000)
      assert.deepStrictEqual((yield* repo.settle([waiting.place.lease])).changed, [waiting.place.lease])
      assert.isAbove(held(yield* repo.lookUpPlace(waiting.place.lease, true)).lease.fence, next.lease.fence)
    })
  )

  it.effect("creates a semaphore once and grants each slot once under concurrent calls", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const { name, other, run } = yield* makeRuns
      const takes = Array.from({ length: 40 }, (_, i) =>
        repo.take(i % 2 ? run : other, leaseRequest(name, { capacity: 7 }))
      )
      const taken = yield* Effect.all(takes, { concurrency: "unbounded" })
      const slots = taken.flatMap((one) => (one._tag === "Held" ? [one.lease.slot] : []))
      assert.sameMembers(slots, [1, 2, 3, 4, 5, 6, 7])
      assert.lengthOf(
        taken.filter((one) => one._tag === "Full"),
        33
      )
      // The same wish at once is one lease.
      const same = unique("semaphore")
      const wishes = Array.from({ length: 20 }, () =>
        repo.take(run, leaseRequest(same, { capacity: 9, requestId: "r" }))
      )
      const leases = (yield* Effect.all(wishes, { concurrency: "unbounded" })).map(held)
      assert.strictEqual(new Set(leases.map(({ lease }) => lease.lease)).size, 1)
      assert.lengthOf(
        leases.filter(({ isNew }) => isNew),
        1
      )
    })
  )

  it.effect("leaves no lease of a run that ends during a take", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const { at } = yield* makeRuns
      for (let round = 0; round < 5; round++) {
        const run = yield* startRun(at)
        const takes = Array.from({ length: 20 }, (_, i) =>
          repo.take(run, leaseRequest(unique("race"), { capacity: 1 + (i % 3) }))
        )
        yield* Effect.all([...takes.slice(0, 10), finishRun(run), ...takes.slice(10)], { concurrency: "unbounded" })
        const holders = (yield* repo.list(at.workspace.id)).flatMap((semaphore) => semaphore.holders)
        assert.deepStrictEqual(holders, [])
      }
    })
  )

  it.effect("answers each of many calls of one moment, whatever else they hold and whichever run ends", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const { at, other, run } = yield* makeRuns
      const names = Array.from({ length: 12 }, () => unique("mixed"))
      for (let round = 0; round < 4; round++) {
        const ending = yield* startRun(at)
        const first = yield* Effect.forEach(names, (name) => repo.take(run, leaseRequest(name, { capacity: 1 })), {
          concurrency: "unbounded"
        })
        const leases = first.map((taken) => held(taken).lease)
        // Each batch has the semaphores in another order than the one beside it.
        const calls = [...leases, ...leases.toReversed()].flatMap(({ lease, name }, place) => [
          Effect.map(repo.renew(run, name, lease, 60_000), ({ _tag }) => _tag),
          Effect.map(repo.renew(other, name, lease, 60_000), ({ _tag }) => _tag),
          Effect.map(repo.take(ending, leaseRequest(name, { capacity: 1 + (place % 2) })), ({ _tag }) => _tag),
          Effect.map(repo.take(other, leaseRequest(unique("new"), { capacity: 1 })), ({ _tag }) => _tag),
          Effect.map(repo.release(other, name, lease), ({ _tag }) => _tag)
        ])
        const ended = Effect.as(finishRun(ending), "ended")
        const tags = yield* Effect.all([...calls.slice(0, 60), ended, ...calls.slice(60)], { concurrency: "unbounded" })
        const ofKind = (kind: number) => calls.map((_, index) => index).filter((index) => index % 5 === kind)
        const answered = tags.filter((tag) => tag !== "ended")
        const of = (kind: number) => new Set(ofKind(kind).map((index) => answered[index]))
        assert.deepStrictEqual([...of(0)], ["Held"])
        assert.deepStrictEqual([...of(1)], ["Foreign"])
        assert.includeMembers(["Full", "CapacityMismatch", "RunNotRunning"], [...of(2)])
        assert.deepStrictEqual([...of(3)], ["Held"])
        assert.deepStrictEqual([...of(4)], ["Foreign"])
        const released = yield* Effect.forEach(leases, ({ lease, name }) => repo.release(run, name, lease), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual([...new Set(released.map(({ _tag }) => _tag))], ["Released"])
      }
    })
  )

  it.effect("counts held leases and waiting places in all workspaces", () =>
    Effect.gen(function* () {
      const repo = yield* SemaphoresRepo
      const time = yield* Time
      // What other tests left lapses.
      yield* time.pass(24 * 3_600_000)
      const [one, two] = [yield* makeRuns, yield* makeRuns]
      assert.deepStrictEqual(yield* repo.load, { held: 0, queued: 0 })
      const lease = held(yield* repo.take(one.run, leaseRequest(one.name)))
      held(yield* repo.take(two.run, leaseRequest(two.name, { ttlMillis: 10_000 })))
      queued(yield* repo.take(one.other, leaseRequest(one.name, { requestId: "a" })))
      queued(yield* repo.take(one.other, leaseRequest(one.name, { requestId: "b" })))
      assert.deepStrictEqual(yield* repo.load, { held: 2, queued: 2 })
      // A slot that was given to a place is held, though nobody has asked for it yet.
      yield* repo.release(one.run, one.name, lease.lease.lease)
      assert.deepStrictEqual(yield* repo.load, { held: 2, queued: 1 })
      yield* time.pass(11_000)
      assert.deepStrictEqual(yield* repo.load, { held: 1, queued: 1 })
      yield* finishRun(one.other)
      assert.deepStrictEqual(yield* repo.load, { held: 0, queued: 0 })
    })
  )
})
