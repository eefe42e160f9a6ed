import { PgClient } from "@effect/sql-pg"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { it } from "vitest"
import { timestamp } from "@delivery/domain/Timestamp"
import { hoursOf, type HourOfUse, shownHours, type Span, sumOfUse, usageFrom } from "../../src/runs/SemaphoreUse.ts"
import { SemaphoresRepo } from "../../src/runs/SemaphoresRepo.ts"
import { sharedDatabases } from "../support/Storages.ts"
import { finishRun, leaseIdAt, leaseRequest, makeRuns, Time, layerSqlTime } from "./SemaphoreStorages.ts"

const hour = 3_600_000
const noon = Date.UTC(2026, 10, 21, 12)

describe("The use of semaphores", () => {
  it("is divided among the hours in which a lease was held", () => {
    assert.deepStrictEqual(
      [...hoursOf({ asked: noon - 1_500, since: noon - 1_000, till: noon + hour + 2_000 })],
      [
        [noon - hour, { leases: 1, heldMs: 1_000, longestWaitMs: 500, gaveUp: 0 }],
        [noon, { leases: 0, heldMs: hour, longestWaitMs: 0, gaveUp: 0 }],
        [noon + hour, { leases: 0, heldMs: 2_000, longestWaitMs: 0, gaveUp: 0 }]
      ]
    )
    // One that ends with its hour is in no other, and one that ends at once is in its own.
    assert.deepStrictEqual([...hoursOf({ asked: noon, since: noon, till: noon + hour }).keys()], [noon])
    assert.deepStrictEqual(
      [...hoursOf({ asked: noon, since: noon, till: noon })],
      [[noon, { leases: 1, heldMs: 0, longestWaitMs: 0, gaveUp: 0 }]]
    )
    assert.deepStrictEqual(
      [...hoursOf({ asked: noon - hour, since: undefined, till: noon })],
      [[noon, { leases: 0, heldMs: 0, longestWaitMs: 0, gaveUp: 1 }]]
    )
  })

  it("is told of 24 hours, used or not, the one that goes on last", () => {
    const hours = shownHours(hoursOf({ asked: noon, since: noon, till: noon + 5 }), noon + 5)
    assert.lengthOf(hours, 24)
    assert.deepStrictEqual(hours[0], {
      hour: timestamp(noon - 23 * hour),
      leases: 0,
      heldMs: 0,
      longestWaitMs: 0,
      gaveUp: 0
    })
    assert.deepStrictEqual([hours[23]!.hour, hours[23]!.heldMs], [timestamp(noon), 5])
  })
})

/** Spans of all kinds: across hours, at their borders, of no length, and before the first hour that is told of. */
const spansBefore = (now: number): ReadonlyArray<Span> => {
  const starts = [26, 24, 23, 22, 5, 2].flatMap((hours) =>
    [0, 1, 59_999, 1_800_000, hour - 1].map((offset) => usageFrom(now) + (23 - hours) * hour + offset)
  )
  const lengths = [0, 1, 1_000, 1_800_000, hour, hour + 1, 3 * hour]
  return starts.flatMap((start, index) =>
    lengths.map((length) => {
      const isLease = (index + length) % 3 !== 0
      const till = Math.min(start + length, now - 1_000)
      return { asked: start - index * 700, since: isLease ? start : undefined, till }
    })
  )
}

for (const { layer: storage, name } of sharedDatabases) {
  const built = Layer.provideMerge(
    layerSqlTime,
    Layer.provideMerge(storage, TestClock.layer({ warningDelay: "1 hour" }))
  )
  layer(built, { excludeTestServices: true })(`The use of semaphores on ${name}`, (test) => {
    test.effect("is what it is in memory, whether the leases are there or counted", () =>
      Effect.gen(function* () {
        const repo = yield* SemaphoresRepo
        const sql = yield* PgClient.PgClient
        const time = yield* Time
        const { at, name, run } = yield* makeRuns
        const first = yield* repo.take(run, leaseRequest(name))
        assert.strictEqual(first._tag, "Held")
        yield* sql`delete from semaphore_leases where run_id = ${run.runId}`
        yield* sql`delete from semaphore_hours where semaphore_id in (select id from semaphores where name = ${name})`
        const spans = spansBefore(yield* time.now)
        for (const { asked, since, till } of spans) {
          const began = since === undefined ? null : timestamp(since)
          yield* sql`insert into semaphore_leases (id, semaphore_id, run_id, run_number, token_expires_at, ttl_ms, state,
              polls, since, expires_at, ended_at)
            select ${leaseIdAt(asked)}::uuid, id, ${run.runId}::uuid, 1, now(), 60000, 'ended', 1,
              ${began}::text::timestamptz, now(), ${timestamp(till)}::text::timestamptz
            from semaphores where name = ${name}`
        }
        const from = usageFrom(yield* time.now)
        const expected = new Map<number, HourOfUse>()
        for (const [hour, use] of spans.flatMap((span) => [...hoursOf(span)])) {
          if (hour >= from) expected.set(hour, sumOfUse(expected.get(hour), use))
        }
        const used = Effect.map(repo.usage(at.workspace.id, from), (all) => new Map(all[0]!.hours))
        const sorted = (hours: ReadonlyMap<number, HourOfUse>) => [...hours].toSorted(([a], [b]) => a - b)
        assert.deepStrictEqual(sorted(yield* used), sorted(expected))
        yield* finishRun(run)
        assert.deepStrictEqual(yield* sql`select from semaphore_leases where run_id = ${run.runId}`, [])
        assert.deepStrictEqual(sorted(yield* used), sorted(expected))
        // Days of before are kept no longer than it takes to tell of them.
        const [oldest] = yield* sql<{ readonly at: Date }>`select min(hour) as at from semaphore_hours
          where semaphore_id in (select id from semaphores where name = ${name})`
        assert.isAtLeast(oldest!.at.getTime(), from - hour)
      })
    )
  })
}
