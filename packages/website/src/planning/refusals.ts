import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import type { TicketChange } from "./changes.ts"

/** What is said of a refusal beside the server's words, where something on the page says it. */

type Change = Pick<TicketChange, "status" | "category">

interface Refusals {
  /** Answers whether it is said. `thrown` has the reason. */
  tell?: (
    thrown: unknown,
    tickets: ReadonlyArray<Pick<TicketSummary, "id" | "identifier" | "title" | "team" | "status" | "mute">>,
    change: Change
  ) => boolean
}

export const refusals: Refusals = {}
