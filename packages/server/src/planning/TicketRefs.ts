import { parseTicketIdentifier, ticketIdentifier } from "@delivery/domain/planning/Ticket"
import { isId } from "@delivery/domain/Text"
import type { SqlClient, Statement } from "effect/sql"
import type { MemoryDatabase } from "../storage/MemoryStorage.ts"
import { teams } from "./TeamsRepo.ts"
import { ticketIdentifiers, type TicketRow, tickets } from "./TicketsRepo.ts"
import type { Viewer } from "./Viewer.ts"
import { seesTeam, seesTeamInMemory } from "./Visibility.ts"

/**
 * What names a ticket: its id, or an identifier in any case (docs/contract.md, Tickets). A ticket keeps the identifiers
 * that it had in other teams; one counts only for who sees the team whose key it has. As a condition of SQL and over the
 * memory storage, side by side.
 */

/** The identifier that a ticket has now, such as `ENG-12`. */
export const identifierOf = ({
  number,
  team
}: {
  readonly number: number
  readonly team: { readonly key: string }
}): string => ticketIdentifier(team.key, number)

/** The condition that `ref` names the row `t` of `tickets`; undefined where it is neither an id nor an identifier. */
export const namesTicket = (sql: SqlClient.SqlClient, viewer: Viewer, ref: string): Statement.Fragment | undefined => {
  if (isId(ref)) return sql`t.id = ${ref}`
  const identifier = parseTicketIdentifier(ref)
  return (
    identifier &&
    sql`t.id = (select i.ticket_id from ticket_identifiers i join teams named on named.id = i.team_id
      where named.workspace_id = ${viewer.workspaceId} and named.key = ${identifier.teamKey}
        and i.number = ${identifier.number} and ${seesTeam(sql, viewer, "named")})`
  )
}

/** The ticket that `ref` names, where the viewer sees it, over the memory storage. */
export const findTicketInMemory = (database: MemoryDatabase, viewer: Viewer, ref: string): TicketRow | undefined => {
  const identifier = isId(ref) ? undefined : parseTicketIdentifier(ref)
  const team =
    identifier &&
    database.table(teams).find((team) => team.key === identifier.teamKey && seesTeamInMemory(database, viewer, team))
  const id =
    identifier === undefined
      ? ref
      : team && database.table(ticketIdentifiers).get(`${team.id}/${identifier.number}`)?.ticketId
  const ticket = id === undefined ? undefined : database.table(tickets).get(id)
  return ticket !== undefined && seesTeamInMemory(database, viewer, database.table(teams).get(ticket.teamId)!)
    ? ticket
    : undefined
}
