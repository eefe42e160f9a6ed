import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect } from "effect"

/** `updatedAt` of a change made now: later than the one before, also within a millisecond (docs/contract.md, Conventions). */
export const nextUpdate = (before: { readonly updatedAt: Timestamp }): Effect.Effect<Timestamp> =>
  Effect.map(Clock.currentTimeMillis, (now) => timestamp(Math.max(now, Date.parse(before.updatedAt) + 1)))
