import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { useQueryClient } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { tellFailure } from "../api/failures.ts"
import { oneByOne } from "../api/oneByOne.ts"
import { toast } from "../ui/toast.ts"
import { askedAgent } from "./askedAgent.ts"
import { changed, changesOf, isStill, takenBack, type TicketChange } from "./changes.ts"
import { orderConflicts } from "./orderConflicts.ts"
import { type Beside, pendingTickets } from "./pendingTickets.ts"
import { refusals } from "./refusals.ts"
import { readTicketsAgain } from "./readTicketsAgain.ts"
import { tellChanged } from "./tellChanged.ts"
import { useManyTickets } from "./useManyTickets.ts"

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

interface MoveMany {
  readonly tickets: ReadonlyArray<TicketSummary>
  readonly change: TicketChange
  /** Whether they get a place, too: the first one this, where there is another ticket. */
  readonly isPlaced: boolean
  readonly beside: Beside | undefined
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

/** Moves cards: at once on the screen, and back where the server refuses, those cards alone. */
export const useTicketMove = (slug: string) => {
  const queries = useQueryClient()
  const changeMany = useManyTickets(slug)
  const again = (ticket: TicketSummary, change: TicketChange, beside: Beside) =>
    void move({ ticket, change, beside, said: `${ticket.identifier} was moved to ${change.status?.name}` })
  const move = async (asked: Move): Promise<boolean> => {
    const { beside, change, from, said, ticket } = asked
    const shown = changed(ticket, change)
    const failed = `${ticket.identifier} stays where it was`
    try {
      await pendingTickets.run(
        [{ id: ticket.id, shown, beside }],
        () => oneByOne(ticket.id, () => send(slug, asked)),
        readTicketsAgain(queries, slug)
      )
    } catch (error) {
      if (
        (beside === undefined ||
          orderConflicts.tell?.(error, { kind: "ticket", moved: ticket, beside, again }) !== true) &&
        refusals.tell?.(error, [ticket], change) !== true
      ) {
        tellFailure(failed, error)
      }
      return false
    }
    toast({ title: failed, isMended: true })
    if (said === "") return true
    const back = { ticket: { ...ticket, ...shown }, change: takenBack(ticket, change), beside: from, said: "" }
    const undo = async () => {
      try {
        const now = await client.tickets.get({ params: { slug, ticket: ticket.id } })
        if (!isStill(now, change)) {
          tellChanged(ticket.identifier, "It has been moved since.")
          return undefined
        }
      } catch (error) {
        tellFailure(`${ticket.identifier} stays where it is`, error)
        return undefined
      }
      if (!(await move(back))) return undefined
      const { default: words } = await import("./takenBackWords.ts")
      return words(queries, slug, [ticket], `${ticket.identifier} is where it was`)
    }
    toast({ title: said, undo })
    askedAgent.given([ticket], change)
    return true
  }

  /** Many at once: what the server refuses to change stays, and the others stand one below the other. */
  const moveMany = async ({ beside, change, isPlaced, said, tickets }: MoveMany): Promise<void> => {
    if (!isPlaced) return void (await changeMany(tickets, change, said))
    const places = tickets.map((ticket, index) => ({
      id: ticket.id,
      shown: {},
      beside: index === 0 ? beside : { after: tickets[index - 1]! }
    }))
    try {
      await pendingTickets.run(
        places,
        async () => {
          const isChange = Object.keys(changesOf(change)).length > 0
          const done = isChange ? await changeMany(tickets, change, said) : tickets
          let last = beside
          for (const ticket of done) {
            // oxlint-disable-next-line no-await-in-loop -- each goes below the one before
            if (last !== undefined) await send(slug, { ticket, change: {}, beside: last, said: "" })
            last = { after: ticket }
          }
        },
        readTicketsAgain(queries, slug)
      )
    } catch (error) {
      tellFailure("Not all of the tickets are where they were put", error)
    }
  }

  return { move, moveMany }
}
