import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { useQueryClient } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { tellFailure } from "../api/failures.ts"
import { oneByOne } from "../api/oneByOne.ts"
import { toast } from "../ui/toast.ts"
import { changed, changesOf, takenBack, type TicketChange } from "./changes.ts"
import { type Beside, pendingTickets } from "./pendingTickets.ts"
import { readTicketsAgain } from "./readTicketsAgain.ts"

interface Move {
  readonly ticket: TicketSummary
  readonly change: TicketChange
  /** Where among those of its team and status. */
  readonly beside?: Beside | undefined
  /** What it stood beside, so that it can go back there. */
  readonly from?: Beside | undefined
  /** What is said when it is done; nothing where that is seen. */
  readonly said: string
}

const send = async (slug: string, { beside, change, ticket }: Move): Promise<void> => {
  const changes = changesOf(change)
  if (Object.keys(changes).length > 0) {
    const payload = { tickets: [ticket.identifier], changes }
    const [result] = (await client.tickets.updateMany({ params: { slug }, payload })).results
    if (result?.ok === false) throw result.error
  }
  if (beside !== undefined) {
    await client.tickets.reorder({
      params: { slug, ticket: ticket.identifier },
      payload: "before" in beside ? { before: beside.before.identifier } : { after: beside.after.identifier }
    })
  }
}

/** Moves a card: at once on the screen, and back where the server refuses, that card alone. */
export const useTicketMove = (slug: string) => {
  const queries = useQueryClient()
  const move = async (asked: Move): Promise<void> => {
    const { beside, change, from, said, ticket } = asked
    const shown = changed(ticket, change)
    try {
      await pendingTickets.run(
        [{ id: ticket.id, shown, beside }],
        () => oneByOne(ticket.id, () => send(slug, asked)),
        readTicketsAgain(queries, slug)
      )
    } catch (error) {
      return tellFailure(`${ticket.identifier} stays where it was`, error)
    }
    if (said === "") return
    const back = { ticket: { ...ticket, ...shown }, change: takenBack(ticket, change), beside: from, said: "" }
    toast({ title: said, undo: () => void move(back) })
  }
  return move
}
