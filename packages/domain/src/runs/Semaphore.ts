import { Schema } from "effect"
import { Body } from "../Body.ts"
import { LeaseId } from "../Ids.ts"
import { atLeast, atMost, Text, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

/** The most leases of one semaphore that live at once. */
export const maxCapacity = 100

/** Milliseconds that a queued place is kept after its last poll, and a slot for a place that was granted it. */
export const placeMillis = 30_000

const between = (minimum: number, maximum: number) =>
  Schema.Int.annotate({ message: `Expected a whole number from ${minimum} to ${maximum}` }).check(
    Schema.isBetween({ minimum, maximum }, { message: `Expected a whole number from ${minimum} to ${maximum}` })
  )

/** A semaphore's name where it may be made: 1 to 100 printable characters without `/`. */
export const SemaphoreName = Schema.String.check(
  atLeast(1),
  atMost(100),
  Schema.makeFilter<string>(
    (name) =>
      (/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}/]*$/u.test(name) && name !== "." && name !== "..") ||
      "Expected printable characters without /, not . or ..",
    { toJsonSchema: undocumented }
  )
).annotate({
  description: "The semaphore's name in the workspace: 1 to 100 printable characters without `/`.",
  examples: ["payment-sandbox"]
})

const Capacity = Schema.Int.annotate({ description: "How many leases live at once, 1 to 100." })
const Run = Schema.Int.annotate({ description: "The number of the run that holds it." })
const RetryNumber = Schema.NullOr(Schema.Int).annotate({
  description: "The number of the run's retry that holds it; null when the run itself does."
})
const Test = Schema.NullOr(Schema.String).annotate({ description: "The test that it was taken for." })

const example = {
  lease: LeaseId.make("0197a1b2-0000-7000-8000-000000000071"),
  name: "payment-sandbox",
  capacity: 3,
  run: 12,
  retry: null,
  test: "checkout › pays by card",
  since: "2026-11-21T09:30:10.000Z",
  expiresAt: "2026-11-21T09:31:10.000Z"
} as const

/** A lease as others see it (docs/contract.md, Semaphores). */
export const LeaseHolder = Schema.Struct({
  lease: Schema.String.annotate({ description: "The lease's id." }),
  run: Schema.NullOr(Run),
  retry: RetryNumber,
  test: Test,
  since: Timestamp,
  expiresAt: Timestamp.annotate({ description: "The lease ends then unless renewed." })
}).annotate({
  identifier: "LeaseHolder",
  description: "A lease that is held now.",
  examples: [
    {
      lease: example.lease,
      run: example.run,
      retry: null,
      test: example.test,
      since: example.since,
      expiresAt: example.expiresAt
    }
  ]
})
export type LeaseHolder = typeof LeaseHolder.Type

/** A named limit on how many tests use a shared resource at once (docs/contract.md, Semaphores). */
export const Semaphore = Schema.Struct({
  name: Schema.String,
  capacity: Capacity,
  holders: Schema.Array(LeaseHolder).annotate({ description: "The leases held now, oldest first." })
}).annotate({
  identifier: "Semaphore",
  description: "A named limit on how many tests use a shared resource at once, across all runs of a workspace."
})
export type Semaphore = typeof Semaphore.Type

export const SemaphoreList = Schema.Struct({ semaphores: Schema.Array(Semaphore) }).annotate({
  identifier: "SemaphoreList",
  description: "Every semaphore of the workspace, by name.",
  examples: [
    {
      semaphores: [
        {
          name: example.name,
          capacity: example.capacity,
          holders: [
            {
              lease: example.lease,
              run: example.run,
              retry: null,
              test: example.test,
              since: example.since,
              expiresAt: example.expiresAt
            }
          ]
        }
      ]
    }
  ]
})
export type SemaphoreList = typeof SemaphoreList.Type

/** A lease as its holder sees it (docs/contract.md, Semaphores). */
export const Lease = Schema.Struct({
  lease: LeaseId,
  name: Schema.String,
  capacity: Capacity,
  slot: Schema.Int.annotate({
    description: "1 to capacity, unique among the leases that live: numbers the members of a pool."
  }),
  fence: Schema.Int.annotate({ description: "Rises with every grant of the semaphore: tells stale holders apart." }),
  run: Run,
  retry: RetryNumber,
  test: Test,
  since: Timestamp,
  expiresAt: Timestamp.annotate({ description: "The lease ends then unless renewed; never past the token's end." }),
  ttlMs: Schema.Int.annotate({ description: "Milliseconds that a renewal asks for when it does not say." })
}).annotate({
  identifier: "Lease",
  description: "A lease as its holder sees it.",
  examples: [{ ...example, slot: 1, fence: 42, ttlMs: 60_000 }]
})
export type Lease = typeof Lease.Type

/** A place in a semaphore's queue (docs/contract.md, Semaphores). */
export const QueuedLease = Schema.Struct({
  lease: LeaseId.annotate({ description: "What the place becomes; release it to give the place up." }),
  name: Schema.String,
  capacity: Capacity,
  position: Schema.Int.annotate({ description: "1 for the place that is granted next." }),
  expiresAt: Timestamp.annotate({ description: "When the place lapses unless polled again." })
}).annotate({
  identifier: "QueuedLease",
  description: "A place in the queue, kept for 30 seconds: repeat the call with the same `requestId`.",
  examples: [{ lease: example.lease, name: example.name, capacity: 3, position: 2, expiresAt: example.expiresAt }]
})
export type QueuedLease = typeof QueuedLease.Type

const Ttl = between(10_000, 300_000)

export const TakeLease = Body({
  capacity: between(1, maxCapacity).annotate({ description: "How many leases live at once, 1 to 100." }),
  test: Schema.optionalKey(
    Schema.NullOr(Text(1_000)).annotate({ description: "The test that it is taken for; shown to others." })
  ),
  requestId: Schema.optionalKey(
    Text(100).check(atLeast(1)).annotate({
      description:
        "Names this wish of the token's, 1 to 100 characters: while its lease or place lives, the call may be repeated."
    })
  ),
  waitMs: Schema.optionalKey(
    between(0, 30_000).annotate({ description: "Milliseconds to wait in the queue, 0 to 30000.", default: 0 })
  ),
  ttlMs: Schema.optionalKey(
    Ttl.annotate({
      description: "Milliseconds that the lease lives unless renewed, 10000 to 300000; else the server's setting."
    })
  )
}).annotate({
  identifier: "TakeLease",
  description: "Which lease is wanted, and how long to wait for it.",
  examples: [{ capacity: 3, test: example.test, requestId: "worker-1-test-7", waitMs: 25_000, ttlMs: 60_000 }]
})
export type TakeLease = typeof TakeLease.Type

export const RenewLease = Body({
  ttlMs: Schema.optionalKey(
    Ttl.annotate({
      description: "Milliseconds from now, 10000 to 300000, for this renewal and those after it; else as before."
    })
  )
}).annotate({
  identifier: "RenewLease",
  description: "How long the lease shall live from now.",
  examples: [{ ttlMs: 60_000 }]
})
export type RenewLease = typeof RenewLease.Type
