import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { TicketSummary } from "@delivery/domain/planning/Ticket"

/** What agents do now, as far as the person sees. Pure. */

export interface Work {
  /** Those that it owns and that are started. */
  readonly tickets: ReadonlyArray<TicketSummary>
  /** The last that was asked of it. */
  readonly message: AgentMessage | undefined
}

/** Nothing of an agent that does nothing. Messages are the newest first. */
export const workOf = (
  agent: string,
  started: ReadonlyArray<TicketSummary>,
  messages: ReadonlyArray<AgentMessage>
): Work | undefined => {
  const tickets = started.filter(({ owner }) => owner?.kind === "agent" && owner.id === agent)
  const message = messages.find((one) => one.agent.id === agent)
  return tickets.length === 0 && message === undefined ? undefined : { tickets, message }
}
