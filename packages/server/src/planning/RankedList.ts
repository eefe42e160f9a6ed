import { InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Place } from "@delivery/domain/planning/Reorder"
import { Effect } from "effect"
import { maxRankLength, rankBetween, spreadRanks } from "./Ranks.ts"

/** A list in the order of ranks. The transaction has locked it: nobody else moves or adds entries. */
export interface RankedList<Id extends string> {
  /**
   * The nearest rank above or below `rank`, ignoring `except`; with null the first (above) or last (below) of all.
   */
  readonly next: (side: "above" | "below", rank: string | null, except: Id) => Effect.Effect<string | null>
  /** All ids, in order. */
  readonly ids: Effect.Effect<ReadonlyArray<Id>>
  /** Sets these ranks in one statement. */
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
 * The object beside which a request moves another one, and on which side; null for the first place. Fails where the
 * object is not found or is the moved one itself.
 */
export const findAnchor = Effect.fnUntraced(function* <A extends { readonly id: string }>(
  place: Place,
  noun: string,
  movedId: string,
  find: (ref: string) => Effect.Effect<A | undefined>
) {
  const side: "before" | "after" = place.before === undefined ? "after" : "before"
  const ref = place.before ?? place.after ?? null
  if (ref === null) return { anchor: null, side }
  const anchor = yield* find(ref)
  if (anchor === undefined) return yield* NotFound.reference(side, ref, noun)
  if (anchor.id === movedId) return yield* InvalidInput.at(side, `A ${noun} cannot go beside itself.`)
  return { anchor, side }
})

/** The place directly beside the anchor. */
export const beside = <Id extends string>(anchor: Ranked<Id> | null, side: "before" | "after"): RankedPlace<Id> =>
  side === "before" ? { before: anchor } : { after: anchor }

/** Where among the others the place is; undefined where its object is not among them. */
const indexOf = <Id extends string>(others: ReadonlyArray<Id>, place: RankedPlace<Id>): number | undefined => {
  const isAfter = "after" in place
  const anchor = isAfter ? place.after : place.before
  if (anchor === null) return isAfter ? 0 : others.length
  const at = others.indexOf(anchor.id)
  return at < 0 ? undefined : isAfter ? at + 1 : at
}

/**
 * The rank of an object that moves to a place, or is new there. An object that is there already keeps its rank. If the rank
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
  const at = indexOf(others, place)
  if (at === undefined) return yield* Effect.die(new Error("The object of a place is not in its list."))
  const ranks = spreadRanks(others.length + 1)
  const inOrder = others.toSpliced(at, 0, moved.id)
  yield* list.setRanks(
    inOrder.map((id, i) => [id, ranks[i]!] as const).filter(([id]) => rank !== null || id !== moved.id)
  )
  return ranks[at]!
})
