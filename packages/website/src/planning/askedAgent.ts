import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { useSyncExternalStore } from "react"
import type { TicketChange } from "./changes.ts"

/** About which tickets an agent is asked, from wherever that begins: a menu, a key, or a card that is dragged. */

interface AskedAgent {
  /** Their identifiers. */
  readonly tickets: ReadonlyArray<string>
  /** The agent to begin with. */
  readonly agent?: string
}

let asked: AskedAgent | undefined
const listeners = new Set<() => void>()

const set = (next: AskedAgent | undefined): void => {
  asked = next
  for (const listener of listeners) listener()
}

export const askedAgent = {
  ask: (tickets: ReadonlyArray<TicketSummary>) =>
    tickets.length > 0 && set({ tickets: tickets.map(({ identifier }) => identifier) }),
  /** An agent that was given tickets does not know of them until it is asked. */
  given: (tickets: ReadonlyArray<TicketSummary>, { owner }: TicketChange) => {
    if (owner?.kind !== "agent" || tickets.length === 0) return
    set({ agent: owner.id, tickets: tickets.map(({ identifier }) => identifier) })
  },
  close: () => set(undefined),
  useAsked: (): AskedAgent | undefined =>
    useSyncExternalStore(
      (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      () => asked
    )
}
