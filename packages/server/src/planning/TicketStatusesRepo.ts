import type { TeamId, TicketStatusId, WorkspaceId } from "@delivery/domain/Ids"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { UniqueViolation } from "../storage/Sql.ts"
import { boolean, instant, integer, nullable, type Row, table, text, uuid } from "../storage/Table.ts"
import type { Viewer } from "./Viewer.ts"

/** The statuses of teams and of workspaces' templates. */
export const ticketStatuses = table("ticket_statuses", {
  id: uuid<TicketStatusId>(),
  workspaceId: uuid<WorkspaceId>(),
  /** Null in the workspace's template. */
  teamId: nullable(uuid<TeamId>()),
  name: text(),
  /** The name for comparison, without case: `nameKey` of it. */
  nameKey: text(),
  category: text<StatusCategory>(),
  position: integer(),
  isDefault: boolean(),
  createdAt: instant(),
  updatedAt: instant()
})

export type TicketStatusRow = Omit<Row<typeof ticketStatuses>, "nameKey">

/**
 * Stores the statuses of teams and of workspaces' templates. In a team or template, a name is used once, whatever its
 * case, a position is used once in each category, and one status is the default.
 *
 * Whoever changes statuses locks the row of the team (`TeamsRepo.lock`), or of the workspace for the template, so that
 * changes are serial. Whoever gives a ticket a status takes a shared lock of the team (`TicketsRepo.lockTeams`), so that
 * no ticket gets a status that is being deleted.
 */
export class TicketStatusesRepo extends Context.Service<
  TicketStatusesRepo,
  {
    readonly insert: (statuses: ReadonlyArray<TicketStatusRow>) => Effect.Effect<void, UniqueViolation>
    /** Stores names, positions and the default in one statement. */
    readonly update: (statuses: ReadonlyArray<TicketStatusRow>) => Effect.Effect<void, UniqueViolation>
    readonly delete: (id: TicketStatusId) => Effect.Effect<void>
    /** The statuses of a team, or of the template where `teamId` is null. */
    readonly list: (workspaceId: WorkspaceId, teamId: TeamId | null) => Effect.Effect<ReadonlyArray<TicketStatusRow>>
    /** Empty where the viewer does not see the team: a team always has statuses. */
    readonly listOfTeam: (viewer: Viewer, teamKey: string) => Effect.Effect<ReadonlyArray<TicketStatusRow>>
    /** The key of the status's team, or null for the template. Undefined where the viewer sees no such status. */
    readonly find: (viewer: Viewer, id: string) => Effect.Effect<{ readonly teamKey: string | null } | undefined>
    readonly hasTickets: (status: TicketStatusRow) => Effect.Effect<boolean>
    /** Gives the tickets of one status another, with the dates of its category. They keep their ranks. */
    readonly moveTickets: (from: TicketStatusRow, to: TicketStatusRow, at: Timestamp) => Effect.Effect<void>
  }
>()("@delivery/server/planning/TicketStatusesRepo") {}
