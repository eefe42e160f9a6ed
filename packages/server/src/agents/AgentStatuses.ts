import { InvalidInput } from "@delivery/domain/Errors"
import { isId } from "@delivery/domain/Text"
import type { CreateTicket, UpdateTicket } from "@delivery/domain/planning/Ticket"
import { Effect } from "effect"
import type { Tickets } from "../planning/Tickets.ts"
import type { TicketStatuses } from "../planning/TicketStatuses.ts"

/** Makes and changes tickets. Agents know statuses by their names, as people do: a name stands for a status of the team. */
export const statusesByName = (tickets: Tickets["Service"], statuses: TicketStatuses["Service"]) => {
  const statusId = Effect.fnUntraced(function* (status: string, team: string) {
    const all = yield* statuses.list(team)
    const found = all.find(({ name }) => name.toLowerCase() === status.trim().toLowerCase())
    if (found !== undefined) return found.id
    const names = all.map(({ name }) => `"${name}"`).join(", ")
    return yield* InvalidInput.at("status", `Expected the name or the id of a status of the team ${team}: ${names}`)
  })
  return {
    create: Effect.fnUntraced(function* (input: CreateTicket) {
      const { status, team } = input
      if (status === undefined || isId(status)) return yield* tickets.create(input)
      return yield* tickets.create({ ...input, status: yield* statusId(status, team) })
    }),
    update: Effect.fnUntraced(function* (ticket: string, input: UpdateTicket) {
      const { status, team } = input
      if (status === undefined || isId(status)) return yield* tickets.update(ticket, input)
      const key = team ?? (yield* tickets.get(ticket)).team.key
      return yield* tickets.update(ticket, { ...input, status: yield* statusId(status, key) })
    })
  }
}
