import type { Event } from "@delivery/domain/events/Event"
import { changesOf, doerOf } from "../api/actors.ts"
import { Changes } from "../ui/Changes.tsx"
import { Time } from "../ui/Time.tsx"

const verbs: Readonly<Record<string, string>> = {
  attachment_added: "attached a file",
  attachment_deleted: "deleted a file",
  ticket_created: "created it",
  ticket_updated: "changed"
}

/** What somebody changed of a ticket, in one line between what was said. */
export const TicketChange = ({ event }: { readonly event: Event }) => (
  <li className="border-border text-muted flex min-h-(--row) flex-wrap items-center gap-x-1.5 border-b px-4 py-1 text-xs">
    <span className="foreign font-medium">{doerOf(event)}</span>
    <span>{verbs[event.kind] ?? event.kind.replace("ticket_", "").replaceAll("_", " ")}</span>
    <span className="foreign min-w-0 flex-1">
      <Changes changes={changesOf(event)} />
    </span>
    <Time at={event.createdAt} />
  </li>
)
