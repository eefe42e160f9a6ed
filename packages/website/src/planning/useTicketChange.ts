import type { Ticket, TicketSummary } from "@delivery/domain/planning/Ticket"
import { useQueryClient } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { tellFailure } from "../api/failures.ts"
import { toast } from "../ui/toast.ts"
import { expectedOf, inverseOf, payloadOf, type Shown, shownOf } from "./changes.ts"
import { pendingTickets } from "./pendingTickets.ts"
import { refusals } from "./refusals.ts"
import { readTicketsAgain } from "./readTicketsAgain.ts"

interface Options {
  /** What is said when it is done. */
  readonly done: string
  /** Whether a toast offers the way back. Default: yes. */
  readonly hasUndo?: boolean
  /** What the change was made from: it is refused where somebody else changed that meanwhile. */
  readonly from?: Shown
}

/** Changes a ticket: at once on the screen, and back where the server refuses. Answers whether it was done. */
export const useTicketChange = (slug: string) => {
  const queries = useQueryClient()
  const change = async (
    ticket: Ticket | TicketSummary,
    asked: Shown,
    { done, from, hasUndo = true }: Options
  ): Promise<boolean> => {
    const { id, identifier } = ticket
    const failed = `${identifier} could not be changed`
    const payload = { ...payloadOf(asked), ...(from === undefined ? {} : { expected: expectedOf(from) }) }
    const send = () => client.tickets.update({ params: { slug, ticket: identifier }, payload })
    try {
      await pendingTickets.run([{ id, shown: shownOf(asked) }], send, readTicketsAgain(queries, slug))
    } catch (error) {
      if (refusals.tell?.(error, [ticket], asked) !== true) tellFailure(failed, error)
      return false
    }
    toast({ title: failed, isMended: true })
    if (hasUndo) {
      const undo = async () => {
        const back = inverseOf(ticket, asked)
        const options = { done: "", hasUndo: false, from: shownOf(asked) }
        if (!(await change({ ...ticket, ...asked }, back, options))) return undefined
        const { default: words } = await import("./takenBackWords.ts")
        return words(queries, slug, [ticket], back)
      }
      toast({ title: done, undo })
    }
    return true
  }
  return change
}
