import type { Event } from "@delivery/domain/events/Event"
import { changesOf, doerOf } from "../api/actors.ts"
import { Changes, changesText } from "../ui/Changes.tsx"
import { later } from "../ui/later.tsx"
import { List } from "../ui/List.tsx"
import { PathLink } from "../ui/PathLink.tsx"
import { Time } from "../ui/Time.tsx"

/** What happened, a line each: who, what, to which object, and what changed. */

const PolicyLine = later(() => import("./PolicyLine.tsx"), Changes)
const WebhookEnd = later(() => import("../webhooks/WebhookEnd.tsx"))

/** Kinds whose words are others than their verb and noun. */
const others: Readonly<Record<string, string>> = {
  attachment_added: "attached a file to ticket",
  attachment_deleted: "deleted a file of ticket",
  member_joined: "joined",
  team_member_added: "added a member to team",
  team_member_removed: "removed a member from team",
  ticket_commented: "commented on ticket"
}

/** `deployment_updated` of a deployment as words: `updated deployment`; of a run, whose name says that it is one: `updated`. */
const wordsOf = (kind: string, { label, type }: Event["subject"]): string => {
  const other = others[kind]
  if (other !== undefined) return other
  const verb = kind.startsWith(`${type}_`) ? kind.slice(type.length + 1) : undefined
  const isNamed = label.toLowerCase().startsWith(`${type} `)
  return (verb === undefined ? kind : isNamed ? verb : `${verb} ${type}`).replaceAll("_", " ")
}

/** The address of a subject in this website, whatever the address of the service is called. */
const pathOf = (url: string): string => {
  try {
    const { hash, pathname, search } = new URL(url)
    return `${pathname}${search}${hash}`
  } catch {
    return "/"
  }
}

/** The workspace that it is of. */
const slugOf = (url: string): string => pathOf(url).split("/")[2] ?? ""

export const EventList = ({ events }: { readonly events: ReadonlyArray<Event> }) => (
  <List isOrdered label="Events" noun="event">
    {events.map((event) => (
      <li
        className="border-border flex min-h-(--row) items-center gap-x-2 border-b px-4 py-1 max-sm:items-start sm:flex-wrap"
        key={event.id}
      >
        <span className="min-w-0 flex-1 flex-wrap gap-x-1.5 max-sm:flex sm:contents">
          <span className="foreign max-w-60 truncate font-medium">{doerOf(event)}</span>
          <span className="text-muted">{wordsOf(event.kind, event.subject)}</span>
          <PathLink path={pathOf(event.subject.url)} title={event.subject.label}>
            {event.subject.label}
            {event.subject.type === "webhook" && (
              <WebhookEnd id={event.subject.id} label={event.subject.label} slug={slugOf(event.subject.url)} />
            )}
          </PathLink>
          <span
            className="text-muted foreign min-w-0 flex-1 truncate text-xs empty:hidden max-sm:basis-full"
            title={changesText(changesOf(event)).slice(0, 1_000) || undefined}
          >
            {event.subject.type === "policy" ? (
              <PolicyLine changes={changesOf(event)} slug={slugOf(event.subject.url)} />
            ) : (
              <Changes changes={changesOf(event)} />
            )}
          </span>
        </span>
        <span className="text-muted ml-auto">
          <Time at={event.createdAt} />
        </span>
      </li>
    ))}
  </List>
)
