import { eventCursor, readEventCursor } from "@delivery/domain/events/Cursor"
import { InvalidInput } from "@delivery/domain/Errors"
import type { WorkspaceId } from "@delivery/domain/Ids"
import { Effect } from "effect"
import type { EventsRepo, PlacedEvent } from "./EventsRepo.ts"

/** Cursors (docs/contract.md, Events): places among the events of a workspace, which they name by events that their reader was shown. */

/** A cursor whose events were found. */
export interface EventPlace {
  /** Undefined: before the first one. */
  readonly event: PlacedEvent | undefined
  readonly isBehind: boolean
  /** Later events that have been read already. */
  readonly seen: ReadonlyArray<PlacedEvent>
}

/**
 * The place of a cursor. One that names an event that is not among those of the workspace is of another workspace, or of
 * other data, such as those before a back-up was restored: whoever went on with it would miss events.
 */
export const placeOf = Effect.fnUntraced(function* (
  repo: Pick<EventsRepo["Service"], "placed">,
  workspaceId: WorkspaceId,
  field: "before" | "after",
  text: string
): Effect.fn.Return<EventPlace, InvalidInput> {
  const { event, isBehind, seen } = readEventCursor(text)
  const ids = event === undefined ? seen : [event, ...seen]
  const found = new Map((ids.length === 0 ? [] : yield* repo.placed(workspaceId, ids)).map((one) => [one.id, one]))
  if (!ids.every((id) => found.has(id))) {
    return yield* InvalidInput.at(field, "Expected a cursor of this list. This one names an event that is not in it")
  }
  return { event: event && found.get(event), isBehind, seen: seen.map((id) => found.get(id)!) }
})

/** The cursor behind an event, from which its reader goes on; without one, from the first event. */
export const cursorBehind = (event: PlacedEvent | undefined, seen: ReadonlyArray<PlacedEvent> = []): string => {
  const position = event?.position ?? 0
  const later = seen.filter((one) => one.position > position)
  return eventCursor({ event: event?.id, isBehind: false, seen: later.map(({ id }) => id) })
}

/** The cursor from which a reader goes on backwards: to the events before this one, or with `isShown` to this one first. */
export const cursorBefore = ({ id }: PlacedEvent, isShown = false): string =>
  eventCursor({ event: id, isBehind: isShown, seen: [] })
