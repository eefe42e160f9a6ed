import { Event } from "@delivery/domain/events/Event"
import type { EventStreamQuery } from "@delivery/domain/events/EventsApi"
import type { InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { TeamId } from "@delivery/domain/Ids"
import { Cause, Clock, Context, Effect, Layer, Schedule, Schema, type Scope, Stream } from "effect"
import { Sse } from "effect/encoding"
import { type Access, anyRole, personOf } from "../access/Access.ts"
import { Settings } from "../Config.ts"
import { Stopping } from "../http/Stopping.ts"
import { Notices } from "../storage/Notices.ts"
import { background } from "../telemetry/Background.ts"
import { eventStreams, observe } from "../telemetry/Metrics.ts"
import { type Asked, CurrentCaller } from "./CurrentCaller.ts"
import { EventAudience } from "./EventAudience.ts"
import { EventFeed, type FollowsTooOften, type Watch } from "./EventFeed.ts"
import { filterOf, isNew, presentEvent, progressOf } from "./EventPages.ts"
import { cursorBehind, placeOf } from "./EventPlaces.ts"
import { type EventTurn, EventTurns } from "./EventTurns.ts"
import { readingOf } from "./Reading.ts"
import { type EventFilter, EventsRepo, type EventWithActor, isSeenBy, type ReadEvents } from "./EventsRepo.ts"

/** Milliseconds without a word after which a stream sends a comment: with the second until it is noticed, 15 s. */
const quietMillis = 14_000

/** Events of one read for a stream that is behind. */
const catchUpSize = 100

/** Follows the events of a workspace for clients that keep their connection (docs/contract.md, Events). */
export class EventStreams extends Context.Service<
  EventStreams,
  {
    /**
     * The text of a stream for the caller, who is looked up again every 1.5 s: it ends with the credential or the
     * membership, and when the caller no longer sees a team, and shows what the caller may see at that time. It is open
     * until the scope closes.
     */
    readonly follow: (
      query: EventStreamQuery,
      asked: Asked
    ) => Effect.Effect<Stream.Stream<string>, NotFound | InvalidInput | FollowsTooOften, Caller | Scope.Scope>
  }
>()("@delivery/server/events/EventStreams") {
  static readonly layer = Layer.effect(EventStreams, Effect.gen(make))
}

/** A stream that is open. */
interface Follower {
  access: Access
  /** The teams that the caller saw when it was last looked. */
  teams: "all" | ReadonlyArray<TeamId>
  /** The role of the caller is another one than then. */
  isChanged: boolean
  isOver: boolean
  /** Whether it tells when its person has marked notifications read or unread. */
  readonly tellsReading: boolean
  /** They have, and it has not told so yet. */
  isReading: boolean
  /** When it last sent something. */
  sentAt: number
  readonly wake: () => void
}

/** The streams of one credential, as it was shown, in one workspace: they are looked up together. */
interface Credential {
  readonly followers: Set<Follower>
  readonly asked: Asked
}

interface Dependencies {
  readonly baseUrl: string
  readonly repo: EventsRepo["Service"]
  readonly audience: EventAudience["Service"]
  readonly feed: EventFeed["Service"]
  readonly turns: EventTurns["Service"]
  readonly callers: CurrentCaller["Service"]
  readonly stopping: Stopping["Service"]
  readonly credentials: Map<string, Credential>
  /** What streams send of an event, made once for all of them; in a workspace that has this slug. */
  readonly texts: WeakMap<EventWithActor, { readonly slug: string; readonly text: string }>
  /** Whose they are: the same list until a stream comes or goes. */
  readonly asked: { all: ReadonlyArray<Asked> | undefined }
}

function* make() {
  const dependencies: Dependencies = {
    baseUrl: (yield* Settings).baseUrl,
    repo: yield* EventsRepo,
    audience: yield* EventAudience,
    feed: yield* EventFeed,
    turns: yield* EventTurns,
    callers: yield* CurrentCaller,
    stopping: yield* Stopping,
    credentials: new Map(),
    texts: new WeakMap(),
    asked: { all: undefined }
  }
  const { credentials } = dependencies
  yield* followReading(credentials)
  yield* observe(eventStreams, () => [...credentials.values()].reduce((sum, { followers }) => sum + followers.size, 0))
  const round = yield* background(
    "event_streams",
    "The callers of streams could not be looked up.",
    check(dependencies)
  )
  yield* round.pipe(Effect.repeat(Schedule.spaced("1500 millis")), Effect.forkScoped)
  yield* Effect.map(Clock.currentTimeMillis, (now) => wakeQuiet(credentials, now)).pipe(
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.forkScoped
  )
  return EventStreams.of({ follow: follow(dependencies) })
}

/** Wakes the streams of whoever has marked notifications read or unread; all of them where that may have been missed. */
const followReading = Effect.fnUntraced(function* (credentials: Dependencies["credentials"]) {
  const notices = yield* Notices
  const tell = (payload: string | undefined) => {
    for (const { followers } of credentials.values()) {
      for (const follower of followers) {
        const { access, tellsReading, wake } = follower
        const person = personOf(access.principal)
        if (!tellsReading || person === undefined) continue
        if (payload !== undefined && payload !== readingOf(access.workspace.id, person.id)) continue
        follower.isReading = true
        wake()
      }
    }
  }
  yield* notices.listen("reading", { onNotice: tell, onListening: () => tell(undefined) })
})

/** Wakes the streams whose comment is due: one timer for all costs far less than one for each. */
const wakeQuiet = (credentials: Dependencies["credentials"], now: number) => {
  const due = now - quietMillis
  for (const { followers } of credentials.values()) {
    for (const { sentAt, wake } of followers) if (sentAt <= due) wake()
  }
}

/**
 * Ends the streams of callers who have no access any more. While nothing changes, that is one statement for all. Each stream
 * is looked at by itself in the first round after it came.
 */
const check = ({ asked, callers, credentials }: Dependencies) => {
  let known: string | undefined
  return Effect.gen(function* () {
    if (credentials.size === 0) return
    const all = [...credentials.values()]
    if (asked.all === undefined) {
      asked.all = all.map(({ asked }) => asked)
      // One that joined was let in before this round, and what it was let in by may have ended since.
      known = undefined
    }
    const state = yield* callers.state(asked.all)
    if (state === known) return
    const update = ({ asked, followers }: Credential) =>
      Effect.map(callers.of(asked), (caller) => {
        for (const follower of followers) {
          if (caller?.membership?.id !== follower.access.workspace.id) {
            follower.isOver = true
            follower.wake()
          } else {
            const isChanged = caller.membership.role !== follower.access.workspace.role
            follower.access = { ...follower.access, workspace: caller.membership, principal: caller.principal }
            if (!isChanged) continue
            follower.isChanged = true
            follower.wake()
          }
        }
      })
    yield* Effect.forEach(all, update, { concurrency: "unbounded", discard: true })
    known = state
  })
}

const follow = (dependencies: Dependencies): EventStreams["Service"]["follow"] =>
  Effect.fnUntraced(function* (query, asked) {
    const { audience, feed, repo, turns } = dependencies
    const access = yield* anyRole
    // By its id: the slug of the path may come to belong to another workspace.
    const { id } = access.workspace
    const filter = filterOf(query)
    const teams = yield* audience.teamsSeenBy(access)
    const begin =
      query.after === undefined
        ? yield* fromNow(dependencies, access, teams, filter)
        : { from: progressOf(yield* placeOf(repo, id, "after", query.after)), id: query.after }
    const watch = yield* feed.watch(id, access.principal.id)
    const tellsReading = query.notifications === "true"
    const follower = yield* register(dependencies, { access, teams, tellsReading }, { ...asked, workspace: id }, watch)
    const turn = yield* turns.join(access.principal.id, watch.wake)
    return textOf(dependencies, follower, { watch, turn }, begin, filter)
  })

/** Where a stream begins, and the cursor that a client has until the first event. */
interface Beginning {
  readonly from: ReadEvents
  readonly id: string
}

/** The beginning of a stream that begins now. Its cursor is behind the newest event that its caller sees. */
const fromNow = Effect.fnUntraced(function* (
  { repo }: Dependencies,
  access: Access,
  teams: Follower["teams"],
  filter: EventFilter
): Effect.fn.Return<Beginning> {
  const { readable } = yield* repo.horizon
  const [newest] = yield* repo.newest(access.workspace.id, teams, 1, { ...filter, before: readable + 1 })
  return { from: { position: readable, seen: [] }, id: cursorBehind(newest) }
})

const register = (
  { asked: list, callers, credentials, stopping }: Dependencies,
  { access, teams, tellsReading }: Pick<Follower, "access" | "teams" | "tellsReading">,
  asked: Asked,
  { wake }: Watch
): Effect.Effect<Follower, never, Scope.Scope> =>
  Effect.gen(function* () {
    // By what was shown, not by its id: the token of a session is replaced, and another stream may have the next one.
    const key = `${callers.keyOf(asked)} ${access.workspace.id}`
    const sentAt = yield* Clock.currentTimeMillis
    const follower: Follower = {
      access,
      teams,
      tellsReading,
      isChanged: false,
      isOver: false,
      isReading: false,
      sentAt,
      wake
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const known = credentials.get(key) ?? { followers: new Set(), asked }
        known.followers.add(follower)
        credentials.set(key, known)
        list.all = undefined
      }),
      () =>
        Effect.sync(() => {
          const known = credentials.get(key)
          known?.followers.delete(follower)
          if (known?.followers.size === 0) credentials.delete(key)
          list.all = undefined
        })
    )
    yield* stopping.onBegin(wake)
    return follower
  })

/** Without an id: who connects again goes on behind the last event. */
const reading = "event: notifications\ndata: {}\n\n"

/**
 * The parts of a stream: a comment at once, then events as they come, and comments while none comes. A cursor that is sent
 * tells of no events but those that the caller sees.
 */
const textOf = (
  dependencies: Dependencies,
  follower: Follower,
  { turn, watch }: { readonly watch: Watch; readonly turn: EventTurn },
  { from, id }: Beginning,
  filter: EventFilter
): Stream.Stream<string> => {
  const { audience, repo, stopping } = dependencies
  let cursor = from
  let isFirst = true
  const next = Effect.gen(function* () {
    if (isFirst) {
      isFirst = false
      return `:\nid: ${id}\n\n`
    }
    follower.sentAt = yield* Clock.currentTimeMillis
    while (true) {
      if (follower.isOver || stopping.hasBegun()) return yield* Cause.done()
      watch.listen()
      if (follower.isReading) {
        follower.isReading = false
        turn.end()
        return reading
      }
      const recent = watch.since(cursor.position)
      const isTurn = recent === undefined && turn.ask()
      let isFull = false
      if (recent !== undefined || isTurn) {
        const { events, upTo } = recent ?? (yield* stored(repo, follower.access, cursor))
        const matching = events.filter((event) => isNew(cursor, filter, event))
        const seen = yield* seenNow(audience, follower, events, matching)
        const begun = cursor
        cursor = { position: Math.max(cursor.position, upTo), seen: cursor.seen }
        const text = seen.map(sent(dependencies, follower.access.workspace.slug, begun)).join("")
        isFull = isTurn && events.length === catchUpSize
        // Others are answered between two pages, and what the client is slow to read keeps no turn.
        if (isTurn) yield* Effect.yieldNow
        turn.end()
        if (text !== "") return text
        if (follower.isOver) continue
      }
      if ((yield* Clock.currentTimeMillis) - follower.sentAt >= quietMillis) {
        turn.end()
        return ":\n\n"
      }
      if (!isFull) yield* watch.changed
    }
  })
  return Stream.fromPull(Effect.succeed(Effect.map(next, (text) => [text] as const)))
}

/**
 * Those of the events that the caller may see now. Where the caller no longer sees a team that they saw, the stream is over:
 * the event that hides a team is not for them, and what they have read of it is to be read again.
 */
const seenNow = (
  audience: EventAudience["Service"],
  follower: Follower,
  events: ReadonlyArray<EventWithActor>,
  matching: ReadonlyArray<EventWithActor>
) =>
  Effect.gen(function* () {
    const mayHide = follower.isChanged || events.some(({ subjectType }) => subjectType === "team")
    if (!mayHide && matching.every(({ teamIds }) => teamIds === null)) return matching
    follower.isChanged = false
    const teams = yield* audience.teamsSeenBy(follower.access)
    if (isFewer(follower.teams, teams)) follower.isOver = true
    follower.teams = teams
    return matching.filter((event) => isSeenBy(teams, event))
  })

/** Whether a team that was seen is seen no more. */
const isFewer = (before: Follower["teams"], now: Follower["teams"]): boolean => {
  if (now === "all") return false
  if (before === "all") return true
  const seen = new Set(now)
  return before.some((id) => !seen.has(id))
}

/** The next events of a stream that is behind what the feed keeps. */
const stored = (repo: EventsRepo["Service"], access: Access, after: ReadEvents) =>
  Effect.gen(function* () {
    const { readable } = yield* repo.horizon
    const events = yield* repo.between(access.workspace.id, "all", catchUpSize, { after, upTo: readable })
    return { events, upTo: events.length === catchUpSize ? events.at(-1)!.position : readable }
  })

const sent = (dependencies: Dependencies, slug: string, { seen }: ReadEvents) => {
  const textOfEvent = encoded(dependencies, slug)
  return (event: EventWithActor): string =>
    Sse.encoder.write({ _tag: "Event", event: "message", id: cursorBehind(event, seen), data: textOfEvent(event) })
}

const encode = Schema.encodeSync(Schema.fromJsonString(Event))

const encoded = ({ baseUrl, texts }: Dependencies, slug: string) => {
  const present = presentEvent(baseUrl, slug)
  return (event: EventWithActor): string => {
    const known = texts.get(event)
    if (known?.slug === slug) return known.text
    const text = encode(present(event))
    texts.set(event, { slug, text })
    return text
  }
}
