import type { Role } from "@delivery/domain/identity/Role"
import type { TeamRef } from "@delivery/domain/planning/Team"
import type { TicketOwner } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { actorName } from "../api/actors.ts"
import { mayAct, useMe } from "../api/session.ts"
import { membersQuery } from "../identity/queries.ts"
import { visible } from "../ui/format.ts"
import { agentsQuery } from "./queries.ts"
import { teamMembersQuery } from "./teamQueries.ts"

/** Who can be responsible for a ticket. */

export interface OwnerChoice {
  readonly owner: TicketOwner
  readonly label: string
  readonly hint?: string
}

/** What decides who sees a ticket of the team. */
export type SeenTeam = Pick<TeamRef, "key" | "visibility">

/** Whether a person sees the team; of a private one, until its members are known, those who see every team. */
const useSees = (slug: string, team: SeenTeam | undefined) => {
  const isPrivate = team?.visibility === "private"
  const { data } = useQuery({ ...teamMembersQuery(slug, team?.key ?? ""), enabled: isPrivate })
  return ({ id, role }: { readonly id: string; readonly role: Role }): boolean =>
    !isPrivate || mayAct(role, "admin") || data?.members.some((one) => one.id === id) === true
}

/**
 * Whoever is signed in first, then the other members with at least the role, unless told those who may change tickets, then agents. Of a
 * team that is told, only those who see it: nobody else is told of a mention, or can have the ticket.
 */
export const useOwners = (
  slug: string,
  least: Role = "member",
  team?: SeenTeam | undefined
): ReadonlyArray<OwnerChoice> => {
  const sees = useSees(slug, team)
  const me = useMe()?.id
  const { data: members } = useQuery(membersQuery(slug))
  const { data: agents } = useQuery(agentsQuery(slug))
  const seeing = (members?.members ?? []).filter((one) => one.active && sees(one))
  const people = seeing
    .filter(({ role }) => mayAct(role, least))
    .map(({ email, id, name }): OwnerChoice => ({
      owner: { kind: "user", id, name, email },
      label: visible(name),
      ...(id === me ? { hint: "you" } : {})
    }))
  return [
    ...people.filter(({ owner }) => owner.id === me),
    ...people.filter(({ owner }) => owner.id !== me),
    ...(agents?.agents ?? [])
      .filter(({ person }) => team?.visibility !== "private" || seeing.some(({ id }) => id === person.id))
      .map(({ id, name, person }): OwnerChoice => ({
        owner: { kind: "agent", id, name, person },
        label: actorName({ kind: "agent", id, name, person }),
        hint: "agent"
      }))
  ]
}
