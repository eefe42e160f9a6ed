import type { TeamId, TicketStatusId, WorkspaceId } from "@delivery/domain/Ids"
import { datesInCategory } from "@delivery/domain/planning/StatusTimes"
import { nameKey } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { UniqueViolation } from "../storage/Sql.ts"
import type { Row } from "../storage/Table.ts"
import { teams } from "./TeamsRepo.ts"
import { tickets } from "./TicketsRepo.ts"
import { ticketStatuses, TicketStatusesRepo, type TicketStatusRow } from "./TicketStatusesRepo.ts"
import type { Viewer } from "./Viewer.ts"
import { seesTeamInMemory } from "./Visibility.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  TicketStatusesRepo,
  Effect.map(MemoryStorage, (memory) =>
    TicketStatusesRepo.of({
      insert: put(memory),
      update: update(memory),
      delete: remove(memory),
      list: list(memory),
      listOfTeam: listOfTeam(memory),
      find: find(memory),
      hasTickets: hasTickets(memory),
      moveTickets: moveTickets(memory)
    })
  )
)

/** The constraints hold for all of the rows together, as those of SQL do at the end of a statement. */
const put =
  (memory: Memory): TicketStatusesRepo["Service"]["insert"] =>
  (statuses) =>
    memory.write((database) => {
      const rows = database.table(ticketStatuses)
      for (const status of statuses) rows.set(status.id, { ...status, nameKey: nameKey(status.name) })
      for (const status of statuses) {
        const others = rows.filter((other) => other.id !== status.id && isOfSame(other, status))
        const constraint = violation(status, others)
        if (constraint !== undefined) return Effect.fail(new UniqueViolation({ constraint }))
      }
      return Effect.void
    })

const update = (memory: Memory): TicketStatusesRepo["Service"]["update"] => {
  const putAll = put(memory)
  return (statuses) =>
    Effect.flatMap(
      memory.read((database) =>
        statuses.map(({ id, isDefault, name, position, updatedAt }) => ({
          ...database.table(ticketStatuses).get(id)!,
          name,
          position,
          isDefault,
          updatedAt
        }))
      ),
      putAll
    )
}

const remove = (memory: Memory) => (id: TicketStatusId) =>
  memory.write((database) => Effect.sync(() => database.table(ticketStatuses).delete(id)))

const list = (memory: Memory) => (workspaceId: WorkspaceId, teamId: TeamId | null) =>
  memory.read((database) =>
    database
      .table(ticketStatuses)
      .filter((row) => row.workspaceId === workspaceId && row.teamId === teamId)
      .map(rowOf)
  )

const listOfTeam = (memory: Memory) => (viewer: Viewer, teamKey: string) =>
  memory.read((database) => {
    const team = database.table(teams).find((team) => team.key === teamKey && seesTeamInMemory(database, viewer, team))
    if (team === undefined) return []
    return database
      .table(ticketStatuses)
      .filter((row) => row.teamId === team.id)
      .map(rowOf)
  })

const find = (memory: Memory) => (viewer: Viewer, id: string) =>
  memory.read((database) => {
    const status = database.table(ticketStatuses).get(id)
    if (status?.workspaceId !== viewer.workspaceId) return undefined
    if (status.teamId === null) return { teamKey: null }
    const team = database.table(teams).get(status.teamId)!
    return seesTeamInMemory(database, viewer, team) ? { teamKey: team.key } : undefined
  })

const hasTickets =
  (memory: Memory) =>
  ({ id }: TicketStatusRow) =>
    memory.read((database) => database.table(tickets).find((row) => row.statusId === id) !== undefined)

const moveTickets =
  (memory: Memory): TicketStatusesRepo["Service"]["moveTickets"] =>
  (from, to, at) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(tickets)
        for (const ticket of rows.filter((row) => row.statusId === from.id)) {
          rows.set(ticket.id, {
            ...ticket,
            ...datesInCategory(ticket, from.category, to.category, at),
            statusId: to.id,
            updatedAt: timestamp(Math.max(Date.parse(at), Date.parse(ticket.updatedAt) + 1))
          })
        }
      })
    )

const rowOf = ({ nameKey: _, ...status }: Row<typeof ticketStatuses>): TicketStatusRow => status

const isOfSame = (a: TicketStatusRow, b: TicketStatusRow): boolean =>
  a.workspaceId === b.workspaceId && a.teamId === b.teamId

/** The constraint that keeps a status from being stored beside others of its team or template. */
const violation = (status: TicketStatusRow, others: ReadonlyArray<Row<typeof ticketStatuses>>): string | undefined => {
  if (others.some((other) => other.nameKey === nameKey(status.name))) return "ticket_statuses_name_key"
  return others.some((other) => other.category === status.category && other.position === status.position)
    ? "ticket_statuses_position_key"
    : undefined
}
