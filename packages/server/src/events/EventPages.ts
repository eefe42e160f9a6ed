import { eventCursor, type EventCursor, readEventCursor } from "@delivery/domain/events/Cursor"
import { type Event, eventsPageSize, type EventsPage } from "@delivery/domain/events/Event"
import type { EventsQuery } from "@delivery/domain/events/EventsApi"
import { InvalidInput, type NotFound, Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, anyRole } from "../access/Access.ts"
import { Settings } from "../Config.ts"
import { RequestQueue } from "../http/RequestQueue.ts"
import { Stopping } from "../http/Stopping.ts"
import { EventAudience } from "./EventAudience.ts"
import { EventFeed } from "./EventFeed.ts"
import { type EventFilter, EventsRepo, type EventWithActor } from "./EventsRepo.ts"

/** Shows what happened in a workspace, page by page in both directions (docs/contract.md, Events). */
export class EventPages extends Context.Service<
  EventPages,
  {
    /**
     * A page of events. With `wait`, it waits for one; `again` looks the caller up meanwhile, for nothing is shown to a
     * credential that has ended.
     */
    readonly list: (
      query: EventsQuery,
      again?: Effect.Effect<Caller["Service"] | undefined>
    ) => Effect.Effect<EventsPage, NotFound | InvalidInput | Unauthorized, Caller>
  }
>()("@delivery/server/events/EventPages") {
  static readonly layer = Layer.effect(EventPages, Effect.gen(make))
}

interface Dependencies {
  readonly baseUrl: string
  readonly repo: EventsRepo["Service"]
  readonly audience: EventAudience["Service"]
  readonly feed: EventFeed["Service"]
  readonly queue: RequestQueue["Service"]
  readonly stopping: Stopping["Service"]
}

function* make() {
  return EventPages.of({
    list: list({
      baseUrl: (yield* Settings).baseUrl,
      repo: yield* EventsRepo,
      audience: yield* EventAudience,
      feed: yield* EventFeed,
      queue: yield* RequestQueue,
      stopping: yield* Stopping
    })
  })
}

const list =
  (dependencies: Dependencies): EventPages["Service"]["list"] =>
  (query, again) => {
    const { after, wait } = query
    if (after === undefined) return Effect.flatMap(anyRole, (access) => newestPage(dependencies, access, query))
    const page = Effect.flatMap(anyRole, (access) => nextPage(dependencies, access, { ...query, after }))
    return wait === undefined ? page : waiting(dependencies, page, wait, again)
  }

/**
 * The newest events, and those before a cursor. Here events do not wait for others that are still being written. So `after`
 * begins where events can be read without a gap, and names those of this page that are behind it.
 */
const newestPage = Effect.fnUntraced(function* (
  { audience, baseUrl, repo }: Dependencies,
  access: Access,
  query: EventsQuery
) {
  const { workspace } = access
  const limit = query.limit ?? eventsPageSize
  const { readable } = yield* repo.horizon
  const before = query.before === undefined ? undefined : Math.min(readEventCursor(query.before).position, readable + 1)
  const found = yield* repo.newest(workspace.id, yield* audience.teamsSeenBy(access), limit + 1, {
    ...filterOf(query),
    before
  })
  const events = found.slice(0, limit)
  return {
    events: events.map(presentEvent(baseUrl, workspace.slug)),
    before: found.length > limit ? String(Math.min(events.at(-1)!.position, readable + 1)) : null,
    after: eventCursor(behind(events, before === undefined ? readable : before - 1, found.length > limit))
  }
})

/**
 * Where it goes on behind events, the newest first: behind the newest one that is readable, and behind those that are not
 * yet. It tells of no events but those that the caller sees.
 */
const behind = (events: ReadonlyArray<EventWithActor>, readable: number, isCut: boolean): EventCursor => {
  const positions = events.map(({ position }) => position)
  const first = positions.find((position) => position <= readable)
  const seen = positions.filter((position) => position > readable).toReversed()
  return { position: first ?? (isCut ? readable : 0), seen }
}

/** The events after a cursor, oldest first. */
const nextPage = Effect.fnUntraced(function* (
  { audience, baseUrl, repo }: Dependencies,
  access: Access,
  query: EventsQuery & { readonly after: string }
) {
  const { workspace } = access
  const cursor = readEventCursor(query.after)
  const limit = query.limit ?? eventsPageSize
  const { last, readable } = yield* repo.horizon
  if (cursor.position > last) return yield* unknownCursor
  const events =
    cursor.position >= readable
      ? []
      : yield* repo.between(workspace.id, yield* audience.teamsSeenBy(access), limit, {
          ...filterOf(query),
          after: cursor,
          upTo: readable
        })
  const position = events.at(-1)?.position ?? cursor.position
  return {
    events: events.map(presentEvent(baseUrl, workspace.slug)),
    before: cursor.position === 0 ? null : String(cursor.position + 1),
    after: eventCursor({ position, seen: cursor.seen })
  }
})

/** No position is that high: it is a cursor of other data. Whoever went on with it would miss events. */
export const unknownCursor = Effect.suspend(() =>
  Effect.fail(
    InvalidInput.at("after", "Expected a cursor of this list. This one is of a place that it has not reached")
  )
)

/** The page as soon as it has an event, or when the time is over. */
const waiting = (
  { feed, queue, stopping }: Dependencies,
  page: Effect.Effect<EventsPage, NotFound | InvalidInput, Caller>,
  seconds: number,
  again: Effect.Effect<Caller["Service"] | undefined> | undefined
) =>
  Effect.gen(function* () {
    const until = (yield* Clock.currentTimeMillis) + seconds * 1_000
    const { workspace } = yield* anyRole
    const watch = yield* feed.watch(workspace.id)
    yield* stopping.onBegin(watch.wake)
    let caller = yield* Caller
    while (true) {
      watch.listen()
      const found = yield* Effect.provideService(page, Caller, caller)
      const left = until - (yield* Clock.currentTimeMillis)
      if (found.events.length > 0 || left <= 0 || stopping.hasBegun()) return found
      yield* queue.releaseWhile(Effect.timeoutOption(watch.changed, left))
      const present = again === undefined ? caller : yield* again
      if (present === undefined) return yield* Unauthorized.generic
      caller = present
    }
  }).pipe(Effect.scoped)

export const filterOf = ({ kinds, subject }: Pick<EventsQuery, "kinds" | "subject">): EventFilter => ({
  kinds: kinds?.split(","),
  subject
})

/** An event as the workspace's members are shown it. */
export const presentEvent =
  (baseUrl: string, slug: string) =>
  (event: EventWithActor): Event => ({
    id: event.id,
    kind: event.kind,
    actor: event.actor,
    subject: {
      type: event.subjectType,
      id: event.subjectId,
      label: event.subjectLabel,
      url: `${baseUrl}/w/${slug}/${event.subjectPath}`
    },
    changes: event.changes,
    createdAt: event.createdAt
  })
