import type { Role } from "@delivery/domain/identity/Role"
import type { TeamRef } from "@delivery/domain/planning/Team"
import type { TicketOwner } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { actorName } from "../api/actors.ts"
import { mayAct, useMe } from "../api/session.ts"
import { membersQuery } from "../identity/queries.ts"
import { agentsQuery } from "./queries.ts"
import { membersOfTeamsQuery } from "./teamQueries.ts"

/** Who can be responsible for a ticket. */

export interface OwnerChoice {
  readonly owner: TicketOwner
  readonly label: string
  readonly hint?: string
}

/** What decides who sees a ticket of the team. */
export type SeenTeam = Pick<TeamRef, "key" | "visibility">

/** Who sees something: those who see each of the teams, as of tickets, or any of them, as of a project. */
export interface Audience {
  readonly teams: ReadonlyArray<SeenTeam>
  readonly isAny?: boolean
}

/** Whether a person is of the audience; of private teams, until their members are known, those who see every team. */
const useSees = (slug: string, { isAny = false, teams }: Audience) => {
  const keys = new Set(teams.filter(({ visibility }) => visibility === "private").map(({ key }) => key))
  const isOpen = isAny ? teams.some(({ visibility }) => visibility === "open") : keys.size === 0
  const { data } = useQuery({ ...membersOfTeamsQuery(slug, [...keys].toSorted()), enabled: !isOpen && keys.size > 0 })
  const hasSeen = ({ id, role }: { readonly id: string; readonly role: Role }): boolean => {
    if (mayAct(role, "admin")) return true
    const isMember = ({ members }: NonNullable<typeof data>[number]) => members.some((one) => one.id === id)
    return data !== undefined && (isAny ? data.some(isMember) : data.every(isMember))
  }
  return isOpen ? undefined : hasSeen
}

const everybody: Audience = { teams: [] }

/**
 * Whoever is signed in first, then the other members with at least the role, unless told those who may change tickets, then agents. Of an
 * audience that is told, only those who are of it: nobody else is told of a mention, or can have the ticket.
 */
export const useOwners = (
  slug: string,
  least: Role = "member",
  audience: Audience = everybody
): ReadonlyArray<OwnerChoice> => {
  const sees = useSees(slug, audience)
  const me = useMe()?.id
  const { data: members } = useQuery(membersQuery(slug))
  const { data: agents } = useQuery(agentsQuery(slug))
  const seeing = (members?.members ?? []).filter((one) => one.active && sees?.(one) !== false)
  const people = seeing
    .filter(({ role }) => mayAct(role, least))
    .map(({ email, id, name }): OwnerChoice => ({
      owner: { kind: "user", id, name, email },
      label: name,
      ...(id === me ? { hint: "you" } : {})
    }))
  return [
    ...people.filter(({ owner }) => owner.id === me),
    ...people.filter(({ owner }) => owner.id !== me),
    ...(agents?.agents ?? [])
      .filter(({ person }) => sees === undefined || seeing.some(({ id }) => id === person.id))
      .map(({ id, name, person }): OwnerChoice => ({
        owner: { kind: "agent", id, name, person },
        label: actorName({ kind: "agent", id, name, person }),
        hint: "agent"
      }))
  ]
}
