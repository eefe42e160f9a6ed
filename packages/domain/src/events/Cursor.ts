import type { EventId } from "../Ids.ts"
import { isId } from "../Text.ts"

/**
 * A place among the events of a workspace, named by events that its reader was shown. So it tells of no other event, and of
 * nothing in other workspaces (docs/contract.md, Events).
 */
export interface EventCursor {
  /** The event at the place; undefined for the place before the first one. Whoever reads on begins behind it. */
  readonly event: EventId | undefined
  /** Whether the place is behind the event for whoever reads backwards, too: then they are shown it, else those before it. */
  readonly isBehind: boolean
  /** Later events that have been read already. */
  readonly seen: ReadonlyArray<EventId>
}

/** As many as the longest page has. */
const maxSeen = 200

export const isEventCursor = (text: string): boolean => {
  const [place = "", ...seen] = text.split(".", maxSeen + 2)
  return (place === "0" || isId(place.replace(/~$/, ""))) && seen.length <= maxSeen && seen.every(isId)
}

/** Of a text that is a cursor. */
export const readEventCursor = (text: string): EventCursor => {
  const [place = "", ...seen] = text.split(".") as ReadonlyArray<EventId | "0">
  const isBehind = place.endsWith("~")
  const event = (isBehind ? place.slice(0, -1) : place) as EventId | "0"
  return { event: event === "0" ? undefined : event, isBehind, seen: seen as ReadonlyArray<EventId> }
}

export const eventCursor = ({ event, isBehind, seen }: EventCursor): string =>
  [event === undefined ? "0" : isBehind ? `${event}~` : event, ...seen].join(".")
