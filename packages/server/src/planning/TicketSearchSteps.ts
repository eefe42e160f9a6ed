import { Context } from "effect"

/** How many tickets each step of the search looks at. */
export const SearchSteps = Context.Reference<{
  /** The last changed, which are compared one by one at first. */
  readonly last: number
  /** What the index finds at most, of which each is looked up. */
  readonly indexed: number
  /** The share of all tickets, or comments, that is put into order. What is in more is looked for from the last changed on. */
  readonly share: number
  /** How many are put into order: they must fit in the memory that PostgreSQL gives a statement. */
  readonly most: number
  /** Of what is put into order, the first that are looked up. */
  readonly ordered: number
}>("@delivery/server/planning/SearchSteps", {
  defaultValue: () => ({ last: 2_000, indexed: 10_000, share: 0.6, most: 100_000, ordered: 500 })
})
