import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { instant, integer, type Row, table, text } from "../storage/Table.ts"

/** How often something was tried since a time, for all servers of a database. */
export const throttles = table("throttles", { subject: text(), count: integer(), startedAt: instant() })

type ThrottleRow = Row<typeof throttles>

/** One of a counter that began at a time. */
export type Counted = Pick<ThrottleRow, "subject" | "startedAt">

/** Stores counters of attempts. */
export class ThrottlesRepo extends Context.Service<
  ThrottlesRepo,
  {
    /**
     * Counts one more, unless there are as many as the limit: of a new counter, from now on, where there is none that began
     * after `since`. Of those who count at once, no more than the limit are counted. Forgets other counters that began
     * before.
     */
    readonly count: (
      subject: string,
      limit: number,
      now: Timestamp,
      since: Timestamp
    ) => Effect.Effect<Counted & { readonly isCounted: boolean }>
    /** Takes one back of the counter that was answered. */
    readonly giveBack: (counted: Counted) => Effect.Effect<void>
  }
>()("@delivery/server/auth/ThrottlesRepo") {}
