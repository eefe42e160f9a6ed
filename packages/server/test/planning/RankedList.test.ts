import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { type RankedList, rankAt } from "../../src/planning/RankedList.ts"
import { maxRankLength } from "../../src/planning/Ranks.ts"

/** A list of which a place is asked that has no room left, so that all of it get new ranks. */
const makeList = () => {
  const longest = `a0${"0".repeat(maxRankLength - 3)}1`
  const ranks = new Map([
    ["a", "a0"],
    ["b", longest]
  ])
  const list: RankedList<string> = {
    next: (side) => Effect.succeed(side === "below" ? "a0" : longest),
    ids: Effect.sync(() => [...ranks.keys()]),
    setRanks: (set) => Effect.sync(() => set.forEach(([id, rank]) => ranks.set(id, rank)))
  }
  return { list, longest, ranks }
}

describe("a rank in a list without room", () => {
  it.effect("lies before or after the object of the place, among new ranks", () =>
    Effect.gen(function* () {
      for (const [place, order] of [
        [{ before: { id: "b", rank: makeList().longest } }, "acb"],
        [{ after: { id: "a", rank: "a0" } }, "acb"]
      ] as const) {
        const { list, ranks } = makeList()
        ranks.set("c", yield* rankAt(list, { id: "c", rank: null }, place))
        const inOrder = [...ranks].toSorted(([, a], [, b]) => (a < b ? -1 : 1)).map(([id]) => id)
        assert.strictEqual(inOrder.join(""), order)
      }
    })
  )

  it.effect("does not exist beside an object that is not in the list", () =>
    Effect.gen(function* () {
      for (const place of [
        { before: { id: "other", rank: makeList().longest } },
        { after: { id: "other", rank: "a0" } }
      ]) {
        const { list, ranks } = makeList()
        const before = [...ranks]
        assert.isTrue(Exit.hasDies(yield* Effect.exit(rankAt(list, { id: "c", rank: null }, place))))
        assert.deepStrictEqual([...ranks], before)
      }
    })
  )
})
