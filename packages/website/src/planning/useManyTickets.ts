import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { useQueryClient } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { failureOf, tellFailure } from "../api/failures.ts"
import { counted } from "../ui/format.ts"
import { toast } from "../ui/toast.ts"
import { askedAgent } from "./askedAgent.ts"
import { changed, changesOf, isStill, takenBack, type TicketChange } from "./changes.ts"
import { type PendingTicket, pendingTickets } from "./pendingTickets.ts"
import { refusals } from "./refusals.ts"
import { readTicketsAgain } from "./readTicketsAgain.ts"
import { tellChanged } from "./tellChanged.ts"

/** As many as one call changes. */
const batch = 100

const inBatches = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / batch) }, (_, index) => all.slice(index * batch, (index + 1) * batch))

const named = (tickets: ReadonlyArray<TicketSummary>): string =>
  tickets.length === 1 ? tickets[0]!.identifier : counted(tickets.length, "ticket")

interface Refused {
  readonly ticket: TicketSummary
  readonly message: string
  readonly reason?: string | undefined
}

/** What became of some tickets: in the server's words, for each that it refused. */
const send = async (
  slug: string,
  tickets: ReadonlyArray<TicketSummary>,
  change: TicketChange
): Promise<ReadonlyArray<Refused>> => {
  try {
    const { results } = await client.tickets.updateMany({
      params: { slug },
      payload: { tickets: tickets.map(({ identifier }) => identifier), changes: changesOf(change) }
    })
    return results.flatMap((result, index) =>
      result.ok ? [] : [{ ticket: tickets[index]!, message: result.error.message, reason: result.error.reason }]
    )
  } catch (error) {
    const { message } = failureOf(error)
    return tickets.map((ticket) => ({ ticket, message }))
  }
}

/** As many as are read one by one. */
const fewTickets = 10

const readNow = async (slug: string, tickets: ReadonlyArray<TicketSummary>): Promise<ReadonlyArray<TicketSummary>> => {
  if (tickets.length > fewTickets) return (await client.tickets.list({ params: { slug }, query: {} })).tickets
  return Promise.all(tickets.map(({ id }) => client.tickets.get({ params: { slug, ticket: id } })))
}

/** Those that still are what a change has made of them. Says of the others that they stay. */
const unchanged = async (
  slug: string,
  tickets: ReadonlyArray<TicketSummary>,
  asked: TicketChange
): Promise<ReadonlyArray<TicketSummary>> => {
  try {
    const now = await readNow(slug, tickets)
    const is = (ticket: TicketSummary) => now.some((one) => one.id === ticket.id && isStill(one, asked))
    const others = tickets.filter((ticket) => !is(ticket))
    if (others.length > 0) {
      tellChanged(named(others), "What was changed has been changed since.", others.length === 1)
    }
    return tickets.filter((ticket) => is(ticket))
  } catch (error) {
    tellFailure(`${named(tickets)} could not be put back`, error)
    return []
  }
}

/** Changes many tickets alike: at once on the screen, and each of them back that the server refuses, with its words. */
export const useManyTickets = (slug: string) => {
  const queries = useQueryClient()

  const apply = (tickets: ReadonlyArray<TicketSummary>, change: TicketChange) => {
    const pending = new Map<string, PendingTicket>(
      tickets.map((ticket) => [ticket.id, { id: ticket.id, shown: changed(ticket, change) }])
    )
    return pendingTickets.run(
      [...pending.values()],
      async (refuse) => {
        const refused: Array<Refused> = []
        for (const some of inBatches(tickets)) {
          // oxlint-disable-next-line no-await-in-loop -- each ticket counts for the limit of requests
          const ofSome = await send(slug, some, change)
          for (const { ticket } of ofSome) refuse(pending.get(ticket.id)!)
          refused.push(...ofSome)
        }
        return refused
      },
      readTicketsAgain(queries, slug)
    )
  }

  const tellRefused = (all: ReadonlyArray<Refused>, change: TicketChange): void => {
    // Those that are refused for the same reason are told together.
    const told = [...Map.groupBy(all, ({ reason }) => reason).values()].filter(
      (alike) =>
        refusals.tell?.(
          { _tag: "Conflict", ...alike[0]! },
          alike.map(({ ticket }) => ticket),
          change
        ) === true
    )
    const refused = all.filter((one) => !told.some((alike) => alike.includes(one)))
    if (refused.length === 0) return
    const title = `${named(refused.map(({ ticket }) => ticket))} could not be changed`
    toast({ title, detail: refused[0]!.message, tone: "danger" })
  }

  const undo = async (all: ReadonlyArray<TicketSummary>, asked: TicketChange): Promise<string | undefined> => {
    const tickets = await unchanged(slug, all, asked)
    const groups = Map.groupBy(tickets, (ticket) => JSON.stringify(changesOf(takenBack(ticket, asked))))
    const backs = [...groups.values()].map((some) => ({ some, back: takenBack(some[0]!, asked) }))
    const done = await Promise.all(
      backs
        .filter(({ back }) => Object.keys(changesOf(back)).length > 0)
        .map(async ({ back, some }) => {
          const before = some.map((ticket) => ({ ...ticket, ...changed(ticket, asked) }))
          const refused = await apply(before, back)
          tellRefused(refused, back)
          return some.filter(({ id }) => !refused.some(({ ticket }) => ticket.id === id))
        })
    )
    const again = done.flat()
    if (again.length === 0) return undefined
    const { default: words } = await import("./takenBackWords.ts")
    return words(queries, slug, again, changed(again[0]!, backs[0]!.back))
  }

  /** Answers those that were changed. */
  return async (
    tickets: ReadonlyArray<TicketSummary>,
    asked: TicketChange,
    said: string
  ): Promise<ReadonlyArray<TicketSummary>> => {
    const refused = await apply(tickets, asked)
    tellRefused(refused, asked)
    const done = tickets.filter(({ id }) => !refused.some(({ ticket }) => ticket.id === id))
    if (done.length > 0) toast({ title: `${named(done)} ${said}`, undo: () => undo(done, asked) })
    askedAgent.given(done, asked)
    return done
  }
}
