import { generateKeyBetween, generateNKeysBetween } from "fractional-indexing"

/**
 * Ranks: base-62 fractional strings compared bytewise (contract, section 8). A move writes one row; between any two
 * ranks there is another.
 */

/** Longest rank that is stored. Moves into one gap make ranks longer; then all of a list are spread anew. */
export const maxRankLength = 63

/** A rank after `before` and before `after`; null for an end of the list. */
export const rankBetween = (before: string | null, after: string | null): string => generateKeyBetween(before, after)

/** `count` short ranks in order. */
export const spreadRanks = (count: number): ReadonlyArray<string> => generateNKeysBetween(null, null, count)
