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

const texts = new Set(["description", "plan"])

interface Props {
  readonly event: Event
  /** Shows what was changed of the texts. */
  readonly onHistory: () => void
}

/** What somebody changed of a ticket, in one line between what was said. */
export const TicketChange = ({ event, onHistory }: Props) => {
  // Of a text, an event says only that it was changed.
  const isText = ({ field, to }: Event["changes"][number]) => texts.has(field) && to === "changed"
  const changes = changesOf(event).map((change) =>
    event.kind === "ticket_muted" && change.field === "mute" ? { ...change, field: "tests" } : change
  )
  const reworded = changes.filter(isText).map(({ field }) => `the ${field}`)
  const others = changes.filter((change) => !isText(change))
  return (
    <li className="border-border text-muted flex min-h-(--row) flex-wrap items-center gap-x-1.5 border-b px-4 py-1 text-xs">
      <span className="foreign font-medium">{doerOf(event)}</span>
      <span>{verbs[event.kind] ?? event.kind.replace("ticket_", "").replaceAll("_", " ")}</span>
      {reworded.length > 0 && (
        <span>
          <button className="hover:text-text underline" onClick={onHistory} type="button">
            {reworded.join(" and ")}
          </button>
          {others.length > 0 && ","}
        </span>
      )}
      <span className="foreign min-w-0 flex-1">
        <Changes changes={others} />
      </span>
      <Time at={event.createdAt} />
    </li>
  )
}
