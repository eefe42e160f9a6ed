import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { instant, integer, type Row, table, text } from "../storage/Table.ts"

/** How often something was tried since a time, for all servers of a database. */
export const throttles = table("throttles", { subject: text(), count: integer(), startedAt: instant() })

export type ThrottleRow = Row<typeof throttles>

/** Stores counters of attempts. */
export class ThrottlesRepo extends Context.Service<
  ThrottlesRepo,
  {
    /**
     * Counts one more and answers the counter with it: a new one, from now on, where there is none that began after `since`.
     * Each of those who count at once gets another number. Forgets other counters that began before.
     */
    readonly count: (subject: string, now: Timestamp, since: Timestamp) => Effect.Effect<ThrottleRow>
    /** Takes one back of the counter that was answered. */
    readonly giveBack: (counter: ThrottleRow) => Effect.Effect<void>
  }
>()("@delivery/server/auth/ThrottlesRepo") {}
