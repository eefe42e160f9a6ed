import { Body } from "../Body.ts"
import { CaseIds } from "../planning/TicketCases.ts"
import { exampleTest } from "../runs/TestEntry.ts"
import { Ref } from "../Text.ts"
import { TimestampInput } from "../Timestamp.ts"

/** How many days a mute lasts at most. */
export const maxMuteDays = 90

/** How many tests of a product are muted at a time. */
export const maxMuted = 2_000

/** What a ticket is to mute (docs/contract.md, Muting). */
export const MuteCases = Body({
  product: Ref.annotate({ description: "The slug or id of the product that the tests are of." }),
  cases: CaseIds,
  until: TimestampInput.annotate({
    description: `When the mute ends by itself: later than now, and at most ${maxMuteDays} days from now.`
  })
}).annotate({
  identifier: "MuteCases",
  description: "The tests whose failures are not to count, and until when.",
  examples: [{ product: "shop", cases: [exampleTest.caseId], until: "2026-12-21T09:30:00.000Z" }]
})
export type MuteCases = typeof MuteCases.Type
