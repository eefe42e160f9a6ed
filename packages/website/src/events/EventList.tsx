import type { Event } from "@delivery/domain/events/Event"
import { actorName } from "../api/actors.ts"
import { Changes } from "../ui/Changes.tsx"
import { visible } from "../ui/format.ts"
import { PathLink } from "../ui/PathLink.tsx"
import { Time } from "../ui/Time.tsx"

/** What happened, a line each: who, what, to which object, and what changed. */

/** `deployment_updated` of a deployment as words: `updated`. */
const wordsOf = (kind: string, type: string): string =>
  (kind.startsWith(`${type}_`) ? kind.slice(type.length + 1) : kind).replaceAll("_", " ")

/** The address of a subject in this website: the path alone, whatever the address of the service is called. */
const pathOf = (url: string): string => {
  try {
    return new URL(url).pathname
  } catch {
    return "/"
  }
}

export const EventList = ({ events }: { readonly events: ReadonlyArray<Event> }) => (
  <ol aria-label="Events">
    {events.map((event) => (
      <li className="border-border flex min-h-(--row) flex-wrap items-center gap-x-2 border-b px-4 py-1" key={event.id}>
        <span className="foreign max-w-40 truncate font-medium">{actorName(event.actor)}</span>
        <span className="text-muted">{wordsOf(event.kind, event.subject.type)}</span>
        <PathLink path={pathOf(event.subject.url)} title={event.subject.label}>
          {visible(event.subject.label)}
        </PathLink>
        <span className="text-muted foreign min-w-0 flex-1 truncate text-xs">
          <Changes changes={event.changes} />
        </span>
        <span className="text-muted">
          <Time at={event.createdAt} />
        </span>
      </li>
    ))}
  </ol>
)
