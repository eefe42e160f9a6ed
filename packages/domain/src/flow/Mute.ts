import { Schema } from "effect"
import { Body } from "../Body.ts"
import { PersonId, TicketId } from "../Ids.ts"
import { TicketOwner } from "../planning/Ticket.ts"
import { CaseIds } from "../planning/TicketCases.ts"
import { exampleTest } from "../runs/TestEntry.ts"
import { Ref } from "../Text.ts"
import { maxShownName } from "./ShownName.ts"
import { Timestamp, TimestampInput } from "../Timestamp.ts"

/** How many days a mute lasts at most. */
export const maxMuteDays = 90

/** How many tests of a product are muted at a time. */
export const maxMuted = 2_000

const ExpectedMute = Body({
  product: Ref.annotate({ description: "The slug or id of the product that the tests are of." }),
  cases: CaseIds,
  until: TimestampInput
}).annotate({
  identifier: "ExpectedMute",
  description: "What the ticket mutes as far as you know.",
  examples: [{ product: "shop", cases: [exampleTest.caseId], until: "2026-12-07T09:30:00.000Z" }]
})

/** What a ticket is to mute (docs/contract.md, Muting). */
export const MuteCases = Body({
  product: Ref.annotate({ description: "The slug or id of the product that the tests are of." }),
  cases: CaseIds,
  until: TimestampInput.annotate({
    description: `When the mute ends by itself: later than now, and at most ${maxMuteDays} days from now.`
  }),
  expected: Schema.optionalKey(
    Schema.NullOr(ExpectedMute).annotate({
      description:
        "What the ticket mutes as far as you know, null for nothing. If it mutes something else by now, nothing is changed and the answer is 409 `mute_changed`. So nobody takes back unseen what somebody else has muted, extended or ended."
    })
  )
}).annotate({
  identifier: "MuteCases",
  description: "The tests whose failures are not to count, and until when.",
  examples: [{ product: "shop", cases: [exampleTest.caseId], until: "2026-12-21T09:30:00.000Z" }]
})
export type MuteCases = typeof MuteCases.Type

const exampleTicket = {
  id: TicketId.make("0197a1b2-0000-7000-8000-0000000000f1"),
  identifier: "ENG-12",
  title: "Pay by card",
  owner: {
    kind: "user",
    id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
    name: "Ana Diaz",
    email: "ana@example.com"
  }
} as const

const MutingTicket = Schema.Struct({
  id: TicketId,
  identifier: Schema.String,
  title: Schema.String,
  owner: Schema.NullOr(TicketOwner)
}).annotate({
  identifier: "MutingTicket",
  description: "The ticket of a mute, and who is responsible for it: null where nobody is any more.",
  examples: [exampleTicket]
})

const exampleMuted = { caseId: exampleTest.caseId, title: exampleTest.title, file: exampleTest.file }

const MutedTest = Schema.Struct({
  caseId: Schema.String,
  title: Schema.NullOr(Schema.String).annotate({
    description: `The first ${maxShownName} characters of its title in the newest run that counts; null where it is in none, or none of it is counted yet.`
  }),
  file: Schema.NullOr(Schema.String).annotate({
    description: `The first ${maxShownName} characters of its source file in that run.`
  })
}).annotate({ identifier: "MutedTest", description: "A muted test by its name.", examples: [exampleMuted] })

/** What a ticket mutes, or has muted until a time that has passed. */
export const ListedMute = Schema.Struct({
  ticket: Schema.NullOr(MutingTicket).annotate({ description: "Why; null where you do not see the ticket." }),
  product: Schema.String.annotate({ description: "The slug of the product that the tests are of." }),
  cases: Schema.Array(Schema.String).annotate({ description: "The ids of the tests, by code units." }),
  tests: Schema.Array(MutedTest).annotate({ description: "What the tests are called, in the order of `cases`." }),
  until: Timestamp,
  overdue: Schema.Boolean.annotate({
    description:
      "Whether that time has passed while the ticket is open: the tests are not muted any more, and nobody has said that they work."
  })
}).annotate({
  identifier: "ListedMute",
  description: "Tests that an open ticket mutes, or has muted until a time that has passed.",
  examples: [
    {
      ticket: exampleTicket,
      product: "shop",
      cases: [exampleTest.caseId],
      tests: [exampleMuted],
      until: "2026-12-21T09:30:00.000Z",
      overdue: false
    }
  ]
})
export type ListedMute = typeof ListedMute.Type
