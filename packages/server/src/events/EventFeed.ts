import { maxFollowed } from "@delivery/domain/events/Event"
import type { WorkspaceId } from "@delivery/domain/Ids"
import { Clock, Context, Data, Effect, Latch, Layer, type Scope } from "effect"
import { Notices } from "../storage/Notices.ts"
import { background } from "../telemetry/Background.ts"
import { EventsRepo, type EventWithActor } from "./EventsRepo.ts"

/** Milliseconds after which it is looked for events, though no notice has come: one may be lost. */
const fallback = 1_000

/** Milliseconds between two looks while a transaction holds events back, or after a notice. */
const pause = 50

/** Milliseconds after a notice in which others may have been left out (migration 0088), with some to spare. */
const quiet = 200

/** Events of one read, and those of a workspace that are kept for whoever follows it. */
const most = 500

/** The caller has as many streams and waiting calls open as anybody may have (`maxFollowed`). */
export class FollowsTooOften extends Data.TaggedError("FollowsTooOften") {}

/** The events of a workspace up to a position, for whoever follows it. */
export interface Watch {
  /** From here on, whatever comes ends the next wait. Called before the events are read, so that none is missed. */
  readonly listen: () => void
  /** What comes after a position, without regard to who sees it; undefined where only the storage knows it. */
  readonly since: (
    position: number
  ) => { readonly events: ReadonlyArray<EventWithActor>; readonly upTo: number } | undefined
  /** Waits until there may be more. */
  readonly changed: Effect.Effect<void>
  readonly wake: () => void
}

/**
 * Reads new events once for all calls and streams of this process that follow them. While nobody does, it reads nothing.
 * Notices wake it.
 */
export class EventFeed extends Context.Service<
  EventFeed,
  {
    /** Follows a workspace until the scope closes, for a caller: the id of a person, or of an account API key. */
    readonly watch: (workspaceId: WorkspaceId, caller: string) => Effect.Effect<Watch, FollowsTooOften, Scope.Scope>
  }
>()("@delivery/server/events/EventFeed") {
  static readonly layer = Layer.effect(EventFeed, Effect.gen(make))
}

/** A workspace that is followed. */
interface Followed {
  readonly latches: Set<Latch.Latch>
  /** The events after `from`, up to `upTo` of the feed; undefined until the feed has read once for it. */
  from: number | undefined
  recent: ReadonlyArray<EventWithActor>
}

interface State {
  /** How often each caller follows a workspace. */
  readonly callers: Map<string, number>
  readonly workspaces: Map<WorkspaceId, Followed>
  readonly wake: Latch.Latch
  upTo: number
  noticedAt: number
  isHeldBack: boolean
}

function* make() {
  const repo = yield* EventsRepo
  const notices = yield* Notices
  const clock = yield* Clock.Clock
  const state: State = {
    callers: new Map(),
    workspaces: new Map(),
    wake: Latch.makeUnsafe(false),
    upTo: 0,
    noticedAt: Number.NEGATIVE_INFINITY,
    isHeldBack: false
  }
  const notice = () => {
    state.noticedAt = clock.currentTimeMillisUnsafe()
    state.wake.openUnsafe()
  }
  yield* notices.listen("events", { onNotice: notice, onListening: notice })
  const round = yield* background("event_feed", "New events could not be read.", look(state, repo))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(untilNext(state), round)))
  return EventFeed.of({ watch: watch(state) })
}

/** Waits until it is time to look: at once for a notice, and soon where more is expected. */
const untilNext = (state: State): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (state.workspaces.size === 0) yield* state.wake.await
    else if (state.isHeldBack || (yield* Clock.currentTimeMillis) - state.noticedAt < quiet) {
      yield* Effect.sleep(pause)
    } else yield* Effect.timeoutOption(state.wake.await, fallback)
    state.wake.closeUnsafe()
  })

/** Reads what is new in the workspaces that are followed, all of them up to the same position. */
const look = (state: State, repo: EventsRepo["Service"]) =>
  Effect.gen(function* () {
    const followed = [...state.workspaces]
    state.isHeldBack = false
    if (followed.length === 0) return
    const { last, readable } = yield* repo.horizon
    const known = followed.filter(([, { from }]) => from !== undefined)
    const found =
      known.length === 0 || readable <= state.upTo
        ? []
        : yield* repo.ofAll(
            known.map(([id]) => id),
            most,
            { after: state.upTo, upTo: readable }
          )
    const isCut = found.length === most
    const upTo = isCut ? found.at(-1)!.position : Math.max(state.upTo, readable)
    const woken: Array<Followed> = []
    for (const [id, workspace] of followed) {
      const events = found.filter(({ workspaceId }) => workspaceId === id)
      if (workspace.from === undefined) workspace.from = upTo
      else if (events.length === 0) continue
      keep(workspace, events)
      woken.push(workspace)
    }
    state.upTo = upTo
    state.isHeldBack = isCut || last > readable
    // Who is woken goes on at once, in the middle of this loop.
    for (const { latches } of woken) for (const latch of latches) latch.openUnsafe()
  })

const keep = (workspace: Followed, events: ReadonlyArray<EventWithActor>) => {
  const all = [...workspace.recent, ...events]
  const dropped = all.length - most
  if (dropped > 0) workspace.from = all[dropped - 1]!.position
  workspace.recent = all.slice(Math.max(0, dropped))
}

const watch =
  (state: State): EventFeed["Service"]["watch"] =>
  (id, caller) =>
    Effect.gen(function* () {
      yield* Effect.acquireRelease(
        Effect.suspend(() => admit(state.callers, caller)),
        () => Effect.sync(() => dismiss(state.callers, caller))
      )
      const latch = Latch.makeUnsafe(false)
      const workspace = yield* Effect.acquireRelease(
        Effect.sync(() => follow(state, id, latch)),
        (workspace) =>
          Effect.sync(() => {
            workspace.latches.delete(latch)
            if (workspace.latches.size === 0) state.workspaces.delete(id)
          })
      )
      return {
        listen: () => latch.closeUnsafe(),
        since: (position) => {
          const { from, recent } = workspace
          if (from === undefined || position < from) return undefined
          return { events: recent.filter((event) => event.position > position), upTo: state.upTo }
        },
        changed: Effect.asVoid(latch.await),
        wake: () => latch.openUnsafe()
      }
    })

const admit = (callers: State["callers"], caller: string): Effect.Effect<void, FollowsTooOften> => {
  const open = callers.get(caller) ?? 0
  if (open >= maxFollowed) return Effect.fail(new FollowsTooOften())
  callers.set(caller, open + 1)
  return Effect.void
}

const dismiss = (callers: State["callers"], caller: string): void => {
  const open = callers.get(caller)! - 1
  if (open === 0) callers.delete(caller)
  else callers.set(caller, open)
}

const follow = (state: State, id: WorkspaceId, latch: Latch.Latch): Followed => {
  const workspace: Followed = state.workspaces.get(id) ?? { latches: new Set(), from: undefined, recent: [] }
  workspace.latches.add(latch)
  state.workspaces.set(id, workspace)
  state.wake.openUnsafe()
  return workspace
}
