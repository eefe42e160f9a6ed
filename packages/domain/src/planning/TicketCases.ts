import { Schema } from "effect"
import { atLeast, Text, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

/** How many tests a ticket may be about: as many as a run has. */
const maxTicketCases = 5_000

/** How many of its tests a ticket has in lists, and how many of those that it mutes. */
export const maxListedCases = 10

const Count = Schema.optionalKey(
  Schema.Int.annotate({
    description: `How many tests there are, in lists that show the first ${maxListedCases} alone. Absent where all are there.`,
    examples: [40]
  })
)

const exampleCase = "checkout.spec.ts:pays-by-card"

/** The tests that a ticket is about. */
export const TicketCases = Schema.Struct({
  product: Schema.String.annotate({ description: "The slug of the product that the tests are of." }),
  caseIds: Schema.Array(Schema.String),
  count: Count
}).annotate({
  identifier: "TicketCases",
  description: "The tests that a ticket is about.",
  examples: [{ product: "shop", caseIds: [exampleCase] }]
})
export type TicketCases = typeof TicketCases.Type

/** What a ticket mutes (docs/contract.md, Muting). */
export const TicketMute = Schema.Struct({
  product: Schema.String.annotate({ description: "The slug of the product that the tests are of." }),
  cases: Schema.Array(Schema.String).annotate({ description: "The ids of the tests." }),
  count: Count,
  until: Timestamp.annotate({ description: "When it ends, unless it has ended before." })
}).annotate({
  identifier: "TicketMute",
  description: "The tests whose failures do not count while the ticket is open, and until when.",
  examples: [{ product: "shop", cases: [exampleCase], until: "2026-12-21T09:30:00.000Z" }]
})
export type TicketMute = typeof TicketMute.Type

/** Ids of tests, each once, at least one. */
export const CaseIds = Schema.Array(Text(500).check(atLeast(1)))
  .check(
    Schema.isMinLength(1, { message: "Expected at least 1 case" }),
    Schema.isMaxLength(maxTicketCases, { message: `Expected at most ${maxTicketCases} cases` }),
    Schema.makeFilter<ReadonlyArray<string>>((ids) => new Set(ids).size === ids.length || "Expected each case once", {
      toJsonSchema: undocumented
    })
  )
  .annotate({ description: "The ids of the tests, as runs have them." })
