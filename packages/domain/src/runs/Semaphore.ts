import { Schema } from "effect"
import { Body } from "../Body.ts"
import { LeaseId } from "../Ids.ts"
import { exampleHolder, HolderRun, LeaseHolder } from "../LeaseHolder.ts"
import { atLeast, atMost, Text, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

/** The largest capacity of a semaphore. */
export const maxCapacity = 100

/** How long a place in the queue is kept after its last poll, and a slot for the place that it was granted to: milliseconds. */
export const placeMillis = 30_000

const between = (minimum: number, maximum: number) =>
  Schema.Int.annotate({ message: `Expected a whole number from ${minimum} to ${maximum}` }).check(
    Schema.isBetween({ minimum, maximum }, { message: `Expected a whole number from ${minimum} to ${maximum}` })
  )

/** The name of a semaphore where a call may create it: 1 to 100 printable characters without `/`. */
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
  description: "The name of the semaphore: 1 to 100 printable characters without `/`. The first lease creates it.",
  examples: ["payment-sandbox"]
})

const Capacity = Schema.Int.annotate({ description: "How many leases can be held at once: 1 to 100." })
const { lease, ...holder } = exampleHolder
const example = { lease, name: "payment-sandbox", capacity: 3, ...holder } as const

/** How many places of a queue are listed. */
export const maxWaitingShown = 100

/** A place in the queue of a semaphore, as everybody sees it (docs/contract.md, Semaphores). */
export const WaitingPlace = Schema.Struct({
  lease: LeaseHolder.fields.lease.annotate({ description: "The id of the lease that the place becomes." }),
  run: Schema.Int.annotate({ description: "The number of the run that waits." }),
  retry: Schema.NullOr(Schema.Int).annotate({
    description: "The number of the retry that waits; null if the run itself does."
  }),
  test: Schema.NullOr(Schema.String).annotate({ description: "The test that waits; null if none was given." }),
  since: Timestamp.annotate({ description: "When it was first asked for." })
}).annotate({
  identifier: "WaitingPlace",
  description: "A place in the queue of a semaphore.",
  examples: [
    {
      lease: "0197a1b2-0000-7000-8000-000000000072",
      run: 13,
      retry: null,
      test: "checkout › pays by invoice",
      since: "2026-11-21T09:30:20.000Z"
    }
  ]
})
export type WaitingPlace = typeof WaitingPlace.Type

/** A named limit on how many tests use a shared resource at once (docs/contract.md, Semaphores). */
export const Semaphore = Schema.Struct({
  name: Schema.String,
  capacity: Capacity,
  holders: Schema.Array(LeaseHolder).annotate({ description: "The leases that are held now, oldest first." }),
  queued: Schema.Int.annotate({ description: "How many places wait in the queue." }),
  waiting: Schema.Array(WaitingPlace).annotate({
    description: `The first ${maxWaitingShown} places of the queue, in its order.`
  })
}).annotate({
  identifier: "Semaphore",
  description: "A named limit on how many tests use a shared resource at once, across all runs of the workspace."
})
export type Semaphore = typeof Semaphore.Type

export const SemaphoreList = Schema.Struct({ semaphores: Schema.Array(Semaphore) }).annotate({
  identifier: "SemaphoreList",
  description: "All semaphores of the workspace, by name.",
  examples: [
    {
      semaphores: [
        {
          name: example.name,
          capacity: example.capacity,
          holders: [exampleHolder],
          queued: 0,
          waiting: []
        }
      ]
    }
  ]
})
export type SemaphoreList = typeof SemaphoreList.Type

/** How many hours the use of semaphores is told of. */
export const usageHours = 24

const exampleHour = {
  hour: "2026-11-21T09:00:00.000Z",
  leases: 41,
  heldMs: 5_400_000,
  longestWaitMs: 12_300,
  gaveUp: 0
} as const

/** The use of a semaphore within an hour (docs/contract.md, Semaphores). */
export const SemaphoreHour = Schema.Struct({
  hour: Timestamp.annotate({ description: "When the hour begins." }),
  leases: Schema.Int.annotate({ description: "How many leases were granted." }),
  heldMs: Schema.Int.annotate({
    description:
      "How long leases were held within the hour, all together, in milliseconds. Two that were held all hour long make 7200000."
  }),
  longestWaitMs: Schema.Int.annotate({
    description: "How long the longest wait for a lease was that was granted within the hour, in milliseconds."
  }),
  gaveUp: Schema.Int.annotate({ description: "How many places in the queue ended without a lease." })
}).annotate({
  identifier: "SemaphoreHour",
  description: "The use of a semaphore within an hour.",
  examples: [exampleHour]
})
export type SemaphoreHour = typeof SemaphoreHour.Type

/** The use of a semaphore over a day. */
export const SemaphoreUsage = Schema.Struct({
  name: Schema.String,
  hours: Schema.Array(SemaphoreHour).annotate({
    description: `The last ${usageHours} hours, oldest first. The last is the hour that goes on.`
  })
}).annotate({
  identifier: "SemaphoreUsage",
  description: "The use of a semaphore over a day.",
  examples: [{ name: example.name, hours: [exampleHour] }]
})
export type SemaphoreUsage = typeof SemaphoreUsage.Type

export const SemaphoreUsageList = Schema.Struct({ semaphores: Schema.Array(SemaphoreUsage) }).annotate({
  identifier: "SemaphoreUsageList",
  description: "The use of all semaphores of the workspace, by name.",
  examples: [{ semaphores: [{ name: example.name, hours: [exampleHour] }] }]
})
export type SemaphoreUsageList = typeof SemaphoreUsageList.Type

/** A lease, as its holder sees it (docs/contract.md, Semaphores). */
export const Lease = Schema.Struct({
  lease: LeaseId,
  name: Schema.String,
  capacity: Capacity,
  slot: Schema.Int.annotate({
    description:
      "A number from 1 to the capacity that no other live lease has. Use it to pick one of a pool of accounts."
  }),
  fence: Schema.Int.annotate({
    description: "A number that rises with every lease of the semaphore. Use it to recognise a stale holder."
  }),
  run: HolderRun,
  retry: LeaseHolder.fields.retry,
  test: LeaseHolder.fields.test,
  since: Timestamp,
  expiresAt: Timestamp.annotate({
    description: "When the lease ends, unless it is renewed. It never outlives the run token."
  }),
  ttlMs: Schema.Int.annotate({
    description: "How long a renewal extends the lease if it does not say otherwise, in milliseconds."
  })
}).annotate({
  identifier: "Lease",
  description: "A lease, as its holder sees it.",
  examples: [{ ...example, slot: 1, fence: 42, ttlMs: 60_000 }]
})
export type Lease = typeof Lease.Type

/** A place in a semaphore's queue (docs/contract.md, Semaphores). */
export const QueuedLease = Schema.Struct({
  lease: LeaseId.annotate({
    description: "The id of the lease that the place becomes. Release it to give the place up."
  }),
  name: Schema.String,
  capacity: Capacity,
  position: Schema.Int.annotate({ description: "The position in the queue; 1 is next." }),
  expiresAt: Timestamp.annotate({ description: "When the place is lost, unless the call is repeated before." })
}).annotate({
  identifier: "QueuedLease",
  description: "A place in the queue. It is kept for 30 seconds: repeat the call with the same `requestId`.",
  examples: [{ lease: example.lease, name: example.name, capacity: 3, position: 2, expiresAt: example.expiresAt }]
})
export type QueuedLease = typeof QueuedLease.Type

const Ttl = between(10_000, 300_000)

export const TakeLease = Body({
  capacity: between(1, maxCapacity).annotate({ description: "How many leases can be held at once: 1 to 100." }),
  test: Schema.optionalKey(
    Schema.NullOr(Text(1_000)).annotate({ description: "The test that the lease is for. Others can see it." })
  ),
  requestId: Schema.optionalKey(
    Text(100).check(atLeast(1)).annotate({
      description:
        "An id that you choose, 1 to 100 characters, to make the call safe to repeat and to keep a place in the queue. While its lease or place lives, the same id gets the same lease."
    })
  ),
  waitMs: Schema.optionalKey(
    between(0, 30_000).annotate({
      description: "How long to wait for a lease, in milliseconds: 0 to 30000.",
      default: 0
    })
  ),
  ttlMs: Schema.optionalKey(
    Ttl.annotate({
      description:
        "How long the lease lasts unless it is renewed, in milliseconds: 10000 to 300000. By default, the setting of the server (60000)."
    })
  )
}).annotate({
  identifier: "TakeLease",
  description: "Which lease you want, and how long to wait for it.",
  examples: [{ capacity: 3, test: example.test, requestId: "worker-1-test-7", waitMs: 25_000, ttlMs: 60_000 }]
})
export type TakeLease = typeof TakeLease.Type

export const RenewLease = Body({
  ttlMs: Schema.optionalKey(
    Ttl.annotate({
      description:
        "How long the lease lasts from now, in milliseconds: 10000 to 300000. This also holds for later renewals. By default, the current duration."
    })
  )
}).annotate({
  identifier: "RenewLease",
  description: "How long the lease lasts from now.",
  examples: [{ ttlMs: 60_000 }]
})
export type RenewLease = typeof RenewLease.Type
