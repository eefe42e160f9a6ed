import type { TicketOwner } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { actorName } from "../api/actors.ts"
import type { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"

interface Kinds {
  readonly members: Awaited<ReturnType<typeof client.members.list>>
  readonly agents: Awaited<ReturnType<typeof client.agents.list>>
}

/** What the page knows of them already. */
const useKnown = <Kind extends keyof Kinds>(slug: string, kind: Kind) =>
  useQuery<Kinds[Kind]>({ queryKey: workspaceKey(slug, kind), enabled: false }).data

type OwnerName = readonly [name: string, tone: string, gone?: "left" | "revoked" | false | undefined]

/**
 * The names of owners, and how those went who work on nothing any more: people who left, and agents that were revoked. Nobody is said
 * to be gone while the page does not know its members and agents. Nobody at all has no name.
 */
export const useOwnerNames = (slug: string): ((owner: TicketOwner | null) => OwnerName) => {
  const members = useKnown(slug, "members")?.members
  const agents = useKnown(slug, "agents")?.agents
  return (owner) => {
    if (owner === null) return ["", "text-muted"]
    const isAgent = owner.kind === "agent"
    const person = isAgent ? owner.person.id : owner.id
    const gone = members?.some(({ active, id }) => id === person && !active)
      ? "left"
      : isAgent && agents?.every(({ id }) => id !== owner.id) && "revoked"
    const name = actorName(owner)
    return gone ? [`${name} (${gone})`, "text-warning", gone] : [name, "text-muted"]
  }
}
