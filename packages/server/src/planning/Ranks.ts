import { generateKeyBetween, generateNKeysBetween } from "fractional-indexing"

/**
 * Ranks: base-62 fractions as strings, compared byte by byte (docs/contract.md, Planning). There is a rank between any
 * two others, so a move writes one row.
 */

/** The longest rank that is stored. Moves into one gap make ranks longer; then all of a list get new, short ones. */
export const maxRankLength = 63

/** A rank after `before` and before `after`; null for an end of the list. */
export const rankBetween = (before: string | null, after: string | null): string => generateKeyBetween(before, after)

/** `count` short ranks in order. */
export const spreadRanks = (count: number): ReadonlyArray<string> => generateNKeysBetween(null, null, count)
