import { Effect } from "effect"
import { maxRankLength, rankBetween, spreadRanks } from "./Ranks.ts"

/** A list in the order of ranks. The transaction holds it: nobody else moves or adds meanwhile. */
export interface RankedList<Id extends string> {
  /**
   * The nearest rank above or below `rank`, but for that of `except`; with null the first (above) or last (below) of all.
   */
  readonly next: (side: "above" | "below", rank: string | null, except: Id) => Effect.Effect<string | null>
  /** All, in order. */
  readonly ids: Effect.Effect<ReadonlyArray<Id>>
  /** Sets these ranks at once. */
  readonly setRanks: (ranks: ReadonlyArray<readonly [id: Id, rank: string]>) => Effect.Effect<void>
}

/** An object of a list, and its rank. */
export interface Ranked<Id extends string> {
  readonly id: Id
  readonly rank: string
}

/** Where an object goes: directly before or after another, first (after null) or last (before null). */
export type RankedPlace<Id extends string> =
  | { readonly before: Ranked<Id> | null }
  | { readonly after: Ranked<Id> | null }

/**
 * The rank of an object that moves to a place, or that is new there: its own where it is there already. Where the rank
 * would be too long, all objects of the list get new, short ones.
 */
export const rankAt = Effect.fnUntraced(function* <Id extends string>(
  list: RankedList<Id>,
  moved: { readonly id: Id; readonly rank: string | null },
  place: RankedPlace<Id>
) {
  const [below, above] =
    "after" in place
      ? [place.after?.rank ?? null, yield* list.next("above", place.after?.rank ?? null, moved.id)]
      : [yield* list.next("below", place.before?.rank ?? null, moved.id), place.before?.rank ?? null]
  const { rank } = moved
  if (rank !== null && (below === null || below < rank) && (above === null || rank < above)) return rank
  const between = rankBetween(below, above)
  if (between.length <= maxRankLength) return between
  const others = (yield* list.ids).filter((id) => id !== moved.id)
  const at =
    "after" in place
      ? place.after === null
        ? 0
        : others.indexOf(place.after.id) + 1
      : place.before === null
        ? others.length
        : others.indexOf(place.before.id)
  const ranks = spreadRanks(others.length + 1)
  const inOrder = others.toSpliced(at, 0, moved.id)
  yield* list.setRanks(
    inOrder.map((id, i) => [id, ranks[i]!] as const).filter(([id]) => rank !== null || id !== moved.id)
  )
  return ranks[at]!
})
