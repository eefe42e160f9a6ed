import type { Role } from "@delivery/domain/identity/Role"
import type { TicketOwner } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { actorName } from "../api/actors.ts"
import { mayAct, useMe } from "../api/session.ts"
import { membersQuery } from "../identity/queries.ts"
import { visible } from "../ui/format.ts"
import { agentsQuery } from "./queries.ts"

/** Who can be responsible for a ticket. */

export interface OwnerChoice {
  readonly owner: TicketOwner
  readonly label: string
  readonly hint?: string
}

/** Whoever is signed in first, then the other members with at least the role, unless told those who may change tickets, then agents. */
export const useOwners = (slug: string, least: Role = "member"): ReadonlyArray<OwnerChoice> => {
  const me = useMe()?.id
  const { data: members } = useQuery(membersQuery(slug))
  const { data: agents } = useQuery(agentsQuery(slug))
  const people = (members?.members ?? [])
    .filter(({ active, role }) => active && mayAct(role, least))
    .map(({ email, id, name }): OwnerChoice => ({
      owner: { kind: "user", id, name, email },
      label: visible(name),
      ...(id === me ? { hint: "you" } : {})
    }))
  return [
    ...people.filter(({ owner }) => owner.id === me),
    ...people.filter(({ owner }) => owner.id !== me),
    ...(agents?.agents ?? []).map(({ id, name, person }): OwnerChoice => ({
      owner: { kind: "agent", id, name, person },
      label: actorName({ kind: "agent", id, name, person }),
      hint: "agent"
    }))
  ]
}
