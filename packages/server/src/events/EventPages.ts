import { type Event, eventsPageSize, type EventsPage } from "@delivery/domain/events/Event"
import type { EventsQuery } from "@delivery/domain/events/EventsApi"
import { type InvalidInput, type NotFound, Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, anyRole } from "../access/Access.ts"
import { Settings } from "../Config.ts"
import { RequestQueue } from "../http/RequestQueue.ts"
import { Stopping } from "../http/Stopping.ts"
import { EventAudience } from "./EventAudience.ts"
import { EventFeed, type FollowsTooOften } from "./EventFeed.ts"
import { EventTurns } from "./EventTurns.ts"
import { cursorBefore, cursorBehind, type EventPlace, placeOf } from "./EventPlaces.ts"
import { type EventFilter, EventsRepo, type EventWithActor, isSeenBy, matches, type ReadEvents } from "./EventsRepo.ts"

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
    ) => Effect.Effect<EventsPage, NotFound | InvalidInput | Unauthorized | FollowsTooOften, Caller>
  }
>()("@delivery/server/events/EventPages") {
  static readonly layer = Layer.effect(EventPages, Effect.gen(make))
}

interface Dependencies {
  readonly baseUrl: string
  readonly repo: EventsRepo["Service"]
  readonly audience: EventAudience["Service"]
  readonly feed: EventFeed["Service"]
  readonly turns: EventTurns["Service"]
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
      turns: yield* EventTurns,
      queue: yield* RequestQueue,
      stopping: yield* Stopping
    })
  })
}

/** The query of a page that goes on behind a cursor. */
type NextQuery = EventsQuery & { readonly after: string }

const list =
  (dependencies: Dependencies): EventPages["Service"]["list"] =>
  (query, again) => {
    const { after, wait = 0 } = query
    if (after === undefined) return Effect.flatMap(anyRole, (access) => newestPage(dependencies, access, query))
    const next = { ...query, after }
    if (wait > 0) return waiting(dependencies, next, wait, again)
    return Effect.flatMap(anyRole, (access) =>
      Effect.flatMap(placeOf(dependencies.repo, access.workspace.id, "after", after), (place) =>
        Effect.map(nextPage(dependencies, access, next, place), ({ page }) => page)
      )
    )
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
  const teams = yield* audience.teamsSeenBy(access)
  const place = query.before === undefined ? undefined : yield* placeOf(repo, workspace.id, "before", query.before)
  const before = place && Math.min((place.event?.position ?? 0) + (place.isBehind ? 1 : 0), readable + 1)
  const found = yield* repo.newest(workspace.id, teams, limit + 1, { ...filterOf(query), before })
  const events = found.slice(0, limit)
  const isCut = found.length > limit
  const oldest = events.at(-1)
  const readableEvent = events.find(({ position }) => position <= readable)
  // Where none of the page is readable, the newest event that is stands behind it.
  const behind =
    readableEvent ?? (isCut ? (yield* repo.newest(workspace.id, teams, 1, { before: readable + 1 }))[0] : undefined)
  const older = readableEvent === undefined ? behind && cursorBefore(behind, true) : oldest && cursorBefore(oldest)
  return {
    events: events.map(presentEvent(baseUrl, workspace.slug)),
    before: isCut ? (older ?? null) : null,
    after: cursorBehind(behind, events.toReversed())
  }
})

/** The events behind a place, oldest first; of an empty page, the position up to which there is none. */
const nextPage = Effect.fnUntraced(function* (
  dependencies: Dependencies,
  access: Access,
  query: NextQuery,
  place: EventPlace
) {
  const { audience, repo } = dependencies
  const limit = query.limit ?? eventsPageSize
  const after = progressOf(place)
  const { readable } = yield* repo.horizon
  const events =
    after.position >= readable
      ? []
      : yield* repo.between(access.workspace.id, yield* audience.teamsSeenBy(access), limit, {
          ...filterOf(query),
          after,
          upTo: readable
        })
  return { page: pageOf(dependencies, access, place, events), upTo: Math.max(readable, after.position) }
})

/** How far the reader is who has this cursor. */
export const progressOf = ({ event, seen }: EventPlace): ReadEvents => ({ position: event?.position ?? 0, seen })

const pageOf = (
  { baseUrl }: Dependencies,
  { workspace }: Access,
  { event, seen }: EventPlace,
  events: ReadonlyArray<EventWithActor>
): EventsPage => ({
  events: events.map(presentEvent(baseUrl, workspace.slug)),
  before: event === undefined ? null : cursorBefore(event, true),
  after: cursorBehind(events.at(-1) ?? event, seen)
})

/** The page as soon as it has an event, or when the time is over. Events that do not match cost no statement. */
const waiting = (
  dependencies: Dependencies,
  query: NextQuery,
  seconds: number,
  again: Effect.Effect<Caller["Service"] | undefined> | undefined
) =>
  Effect.gen(function* () {
    const { audience, feed, queue, repo, stopping, turns } = dependencies
    const until = (yield* Clock.currentTimeMillis) + seconds * 1_000
    const access = yield* anyRole
    const place = yield* placeOf(repo, access.workspace.id, "after", query.after)
    const watch = yield* feed.watch(access.workspace.id, access.principal.id)
    yield* stopping.onBegin(watch.wake)
    const turn = yield* turns.join(access.principal.id, watch.wake)
    /** A page that is read from storage, when it is the caller's turn. */
    const read = Effect.fnUntraced(function* (by: Effect.Effect<Access, NotFound | Unauthorized>) {
      for (watch.listen(); !turn.ask(); watch.listen()) yield* queue.releaseWhile(watch.changed)
      watch.listen()
      const found = yield* nextPage(dependencies, yield* by, query, place)
      turn.end()
      return found
    })
    const [filter, after] = [filterOf(query), progressOf(place)]
    const present = again === undefined ? Effect.succeed(access) : Effect.flatMap(again, accessOf)
    let { page, upTo } = yield* read(Effect.succeed(access))
    while (page.events.length === 0) {
      const left = until - (yield* Clock.currentTimeMillis)
      if (left <= 0 || stopping.hasBegun()) return yield* Effect.as(present, page)
      yield* queue.releaseWhile(Effect.timeoutOption(watch.changed, left))
      watch.listen()
      const news = watch.since(upTo)
      if (news === undefined) {
        ;({ page, upTo } = yield* read(present))
        continue
      }
      upTo = news.upTo
      const matching = news.events.filter((event) => isNew(after, filter, event))
      if (matching.length === 0) continue
      const by = yield* present
      const seen = yield* visible(audience, by, matching)
      page = pageOf(dependencies, by, place, seen.slice(0, query.limit ?? eventsPageSize))
    }
    return page
  }).pipe(Effect.scoped)

/** The access of a caller as they are now. */
const accessOf = (caller: Caller["Service"] | undefined): Effect.Effect<Access, NotFound | Unauthorized> =>
  caller === undefined ? Effect.fail(Unauthorized.generic) : Effect.provideService(anyRole, Caller, caller)

/** Whether an event matches, and has not been read out of turn. */
export const isNew = ({ seen }: Pick<ReadEvents, "seen">, filter: EventFilter, event: EventWithActor): boolean =>
  matches(filter, event) && !seen.some(({ id }) => id === event.id)

/** Those of the events that the caller may see now. Only events of teams cost a look-up, which those of a moment share. */
const visible = Effect.fnUntraced(function* (
  audience: EventAudience["Service"],
  access: Access,
  events: ReadonlyArray<EventWithActor>
) {
  if (events.every(({ teamIds }) => teamIds === null)) return events
  const teams = yield* audience.teamsSeenBy(access)
  return events.filter((event) => isSeenBy(teams, event))
})

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
