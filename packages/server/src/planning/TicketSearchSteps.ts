import { Context } from "effect"

/** How many tickets each step of the search looks at. */
export const SearchSteps = Context.Reference<{
  /** The last changed, which are compared one by one at first. */
  readonly last: number
  /** What the index finds at most, before those that match are looked for from the last changed on instead. */
  readonly indexed: number
}>("@delivery/server/planning/SearchSteps", {
  defaultValue: () => ({ last: 2_000, indexed: 10_000 })
})
