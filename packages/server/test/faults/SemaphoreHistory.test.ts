import { assert, describe, it } from "vitest"
import { check, type Attempt } from "./SemaphoreHistory.ts"

/** A lease of one slot from `from` to `to`, asked for at `askedAt`. */
const lease = (from: number, to: number, fence: number, fields: Partial<Attempt> = {}): Attempt => ({
  semaphore: "s",
  capacity: 2,
  client: fence,
  askedAt: from,
  grantedAt: from,
  slot: 1,
  fence,
  heldUntil: to,
  freeAt: to,
  deadMillis: 0,
  ...fields
})

const violations = (...history: ReadonlyArray<Attempt>): ReadonlyArray<string> => check(history).violations

describe("the checker of histories", () => {
  it("finds no violation in a valid history", () => {
    assert.deepStrictEqual(violations(lease(0, 10, 1), lease(0, 20, 2, { slot: 2 }), lease(10, 20, 3)), [])
  })

  it("finds slots held twice, too many holders and slots beyond the capacity", () => {
    assert.deepStrictEqual(violations(lease(0, 10, 1), lease(9, 12, 2)), ["s: slot 1 is held twice at 9"])
    assert.include(
      violations(lease(0, 10, 1), lease(0, 10, 2, { slot: 2 }), lease(5, 6, 3, { slot: 3 })),
      "s: 3 of 2 hold at 5"
    )
    assert.deepStrictEqual(violations(lease(0, 1, 1, { slot: 3 })), ["s: slot 3 of 2"])
  })

  it("counts no holder of a lease that lapsed before its answer came", () => {
    const late = lease(20, 10, 1, { askedAt: 0 })
    assert.deepStrictEqual(violations(late, lease(15, 25, 2), lease(30, 40, 3)), [])
    assert.deepStrictEqual(violations(lease(10, 10, 1), lease(15, 25, 2)), [])
  })

  it("finds fences that come twice or fall", () => {
    assert.deepStrictEqual(violations(lease(0, 1, 1), lease(0, 1, 1, { slot: 2 })), ["s: a fence was given twice"])
    const askedBefore = violations(lease(0, 1, 2), lease(1, 2, 1, { askedAt: 0 }))
    assert.deepStrictEqual(askedBefore, ["s: fence 1 of slot 1 came after fence 2"])
    const otherSlot = violations(lease(0, 9, 2), lease(1, 2, 1, { slot: 2 }))
    assert.deepStrictEqual(otherSlot, ["s: fence 1 was asked for after fence 2 was had"])
  })

  it("finds each client that was overtaken in the queue, once", () => {
    const first = lease(0, 10, 1, { capacity: 1 })
    const waiter = { capacity: 1, askedAt: 1, queuedAt: 2, queuedUntil: 2 }
    const later = { capacity: 1, askedAt: 3 }
    assert.deepStrictEqual(violations(first, lease(10, 20, 2, waiter), lease(20, 30, 3, later)), [])
    // Who had asked before the place was known may have come before.
    assert.deepStrictEqual(violations(first, lease(20, 30, 3, waiter), lease(10, 20, 2, { ...later, askedAt: 2 })), [])
    // Of two slots that are free at once, the answer of the later one may come first.
    const two = [lease(11, 12, 2, { ...waiter, capacity: 2 }), lease(10, 12, 3, { ...later, slot: 2 })]
    assert.deepStrictEqual(violations(...two), [])
    // By the fences.
    const overtaken = "s: client 4, in the queue since 2, was overtaken 2 times"
    assert.deepStrictEqual(
      violations(first, lease(30, 40, 4, waiter), lease(10, 20, 2, later), lease(20, 30, 3, later)),
      [overtaken]
    )
    // By the times alone, whatever the fences say, and of one that died.
    const dead: Attempt = { semaphore: "s", client: 4, deadMillis: 0, ...waiter, queuedUntil: 30, diedAt: 31 }
    assert.deepStrictEqual(violations(first, dead, lease(10, 20, 2, later), lease(20, 21, 3, later)), [overtaken])
  })

  it("finds clients that were never served", () => {
    const waiting: Attempt = { semaphore: "s", capacity: 2, client: 9, askedAt: 5, deadMillis: 0 }
    assert.deepStrictEqual(violations(waiting), ["s: client 9 waited since 5 and was never served"])
    assert.deepStrictEqual(violations({ ...waiting, diedAt: 6 }), [])
  })

  it("reports the longest wait and that of a fair queue", () => {
    const one = { capacity: 1 }
    const passedOver = check([
      lease(0, 10, 1, one),
      lease(20, 30, 3, { ...one, askedAt: 1 }),
      lease(10, 20, 2, { ...one, askedAt: 2 })
    ])
    assert.deepInclude(passedOver, { violations: [], grants: 3 })
    assert.deepStrictEqual(passedOver.waits.get("s"), { longest: 19, longestFair: 18 })
    const dead: Attempt = { semaphore: "s", capacity: 1, client: 9, askedAt: 1, diedAt: 2, deadMillis: 30 }
    const afterDead = check([lease(0, 10, 1, one), dead, lease(40, 41, 2, { ...one, askedAt: 3 })])
    assert.deepStrictEqual(afterDead.waits.get("s"), { longest: 37, longestFair: 37 })
  })
})
