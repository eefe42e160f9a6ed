import type { ProductId, TicketId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { ticketIdentifier } from "@delivery/domain/planning/Ticket"
import { Effect, Layer } from "effect"
import { teams } from "../planning/TeamsRepo.ts"
import { tickets } from "../planning/TicketsRepo.ts"
import { ticketStatuses } from "../planning/TicketStatusesRepo.ts"
import { seesTeamInMemory } from "../planning/Visibility.ts"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { OverdueMutes, overdueMutes } from "./OverdueMutes.ts"

export const layer = Layer.effect(
  OverdueMutes,
  Effect.map(MemoryStorage, (memory) =>
    OverdueMutes.of({
      find: find(memory),
      nextEnd: nextEnd(memory),
      noted: noted(memory),
      note: note(memory),
      forget: forget(memory)
    })
  )
)

type Memory = MemoryStorage["Service"]
type Repo = OverdueMutes["Service"]

const find =
  (memory: Memory): Repo["find"] =>
  (viewer, product, now) =>
    memory.read((database) => {
      const late = [
        ...database
          .table(overdueMutes)
          .filter(({ productId, workspaceId }) => workspaceId === viewer.workspaceId && productId === product)
          .map(({ caseIds, ticketId, until }) => ({ caseIds, ticketId, until })),
        ...database
          .table(tickets)
          .filter(({ mute, workspaceId }) => workspaceId === viewer.workspaceId && mute?.productId === product)
          .map(({ id, mute }) => ({ caseIds: mute!.cases, ticketId: id, until: mute!.until }))
          .filter(({ until }) => until <= now)
      ]
      return late
        .toSorted((a, b) => compare(a.until, b.until) || compare(a.ticketId, b.ticketId))
        .flatMap(({ caseIds, ticketId, until }) => {
          const ticket = database.table(tickets).get(ticketId)
          if (ticket === undefined) return []
          if (["completed", "canceled"].includes(database.table(ticketStatuses).get(ticket.statusId)!.category))
            return []
          const team = database.table(teams).get(ticket.teamId)!
          const { id, number, title } = ticket
          const shown = seesTeamInMemory(database, viewer, team)
            ? { id, identifier: ticketIdentifier(team.key, number), title }
            : null
          return caseIds.toSorted(compare).map((caseId) => ({ caseId, until, ticket: shown }))
        })
    })

const nextEnd =
  (memory: Memory): Repo["nextEnd"] =>
  ({ workspaceId }, product, now) =>
    memory.read((database) => {
      const ends = database
        .table(tickets)
        .filter((row) => row.workspaceId === workspaceId && row.mute?.productId === product)
        .map(({ mute }) => mute!.until)
        .filter((until) => until > now)
      return ends.toSorted(compare)[0] ?? null
    })

const keyOf = (ticket: TicketId, product: ProductId): string => `${ticket}/${product}`

const noted =
  (memory: Memory): Repo["noted"] =>
  (ticket, productId) =>
    memory.read((database) => {
      const row = database.table(overdueMutes).get(keyOf(ticket, productId))
      return row && { productId, cases: row.caseIds, until: row.until }
    })

const note =
  (memory: Memory): Repo["note"] =>
  (ticketId, workspaceId, { cases, productId, until }) =>
    memory.write((database) =>
      Effect.sync(() => {
        const row = { ticketId, workspaceId, productId, caseIds: cases, until }
        database.table(overdueMutes).set(keyOf(ticketId, productId), row)
      })
    )

const forget =
  (memory: Memory): Repo["forget"] =>
  (ticket, product) =>
    memory.write((database) => Effect.sync(() => void database.table(overdueMutes).delete(keyOf(ticket, product))))
