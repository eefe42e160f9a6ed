import { Schema } from "effect"
import { LeaseId } from "./Ids.ts"
import { Timestamp } from "./Timestamp.ts"

/** Who holds a lease: semaphores show it, and so does the error of a semaphore that is full. */

export const exampleHolder = {
  lease: LeaseId.make("0197a1b2-0000-7000-8000-000000000071"),
  run: 12,
  retry: null,
  test: "checkout › pays by card",
  since: "2026-11-21T09:30:10.000Z",
  expiresAt: "2026-11-21T09:31:10.000Z"
} as const

export const HolderRun = Schema.Int.annotate({ description: "The number of the run that holds the lease." })

/** A lease, as everybody sees it (docs/contract.md, Semaphores). */
export const LeaseHolder = Schema.Struct({
  lease: Schema.String.annotate({ description: "The id of the lease." }),
  run: Schema.NullOr(HolderRun),
  retry: Schema.NullOr(Schema.Int).annotate({
    description: "The number of the retry that holds the lease; null if the run itself holds it."
  }),
  test: Schema.NullOr(Schema.String).annotate({
    description: "The test that the lease was taken for; null if none was given."
  }),
  since: Timestamp,
  expiresAt: Timestamp.annotate({ description: "When the lease ends, unless it is renewed." })
}).annotate({
  identifier: "LeaseHolder",
  description: "A lease that is held now.",
  examples: [exampleHolder]
})
export type LeaseHolder = typeof LeaseHolder.Type
