import type { TicketOwner } from "@delivery/domain/planning/Ticket"
import { Button } from "../ui/Button.tsx"
import { linkOf } from "./mention.ts"
import { useOwners } from "./owners.ts"

interface Props {
  readonly slug: string
  readonly owner: TicketOwner | null
  /** The comment, in Markdown. */
  readonly text: string
  readonly onMention: (text: string) => void
}

/** Says of a ticket of an agent that a comment reaches the agent only where it mentions it (docs/contract.md, Comments). */
export const UnmentionedOwner = ({ onMention, owner, slug, text }: Props) => {
  // Agents that were revoked are sent nothing at all.
  const isThere = useOwners(slug).some((choice) => choice.owner.id === owner?.id)
  if (owner?.kind !== "agent" || !isThere || text.includes(`(agent:${owner.id})`)) return null
  const name = owner.name
  return (
    <p className="text-muted flex flex-wrap items-center gap-x-2 text-xs">
      <span>
        <span className="foreign">{name}</span> owns this ticket, and is sent only the comments that mention it.
      </span>
      <Button look="quiet" onClick={() => onMention(`${linkOf(owner)} ${text}`)}>
        Mention @{name}
      </Button>
    </p>
  )
}
