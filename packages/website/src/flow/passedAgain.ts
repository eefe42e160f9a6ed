import type { TicketEvidence } from "@delivery/domain/flow/Evidence"

/** How many of the tests of a ticket have passed again as often as they must. */
export const passedAgain = ({ cases }: TicketEvidence): number =>
  cases.filter(({ needed, passed }) => passed >= needed).length
