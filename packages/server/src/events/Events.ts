import { type Change, type Event, eventsPageSize } from "@delivery/domain/events/Event"
import type { NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { EventId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { Settings } from "../Config.ts"
import { NextId } from "../ids/NextId.ts"
import { type ActorRef, anyRole } from "../access/Access.ts"
import { EventAudience } from "./EventAudience.ts"
import { EventsRepo, type StoredEvent } from "./EventsRepo.ts"

/** An event to be recorded. `path` is the subject's page below the workspace's, such as `products/shop`. */
export interface NewEvent {
  readonly kind: string
  readonly subject: {
    readonly type: string
    readonly id: string
    readonly label: string
    readonly path: string
  }
  readonly changes?: ReadonlyArray<Change>
  /** Visible only to those who see one of these teams; if absent, to the whole workspace. */
  readonly teams?: ReadonlyArray<TeamId>
}

/** What happened in a workspace (docs/contract.md, Events). */
export class Events extends Context.Service<
  Events,
  {
    /** A new event, for repositories that store it in the statement of the change. */
    readonly make: (
      by: { readonly workspace: { readonly id: WorkspaceId }; readonly actor: ActorRef },
      event: NewEvent
    ) => Effect.Effect<StoredEvent>
    /** Stores a new event. Called in the transaction of the change. */
    readonly record: (
      by: { readonly workspace: { readonly id: WorkspaceId }; readonly actor: ActorRef },
      event: NewEvent
    ) => Effect.Effect<void>
    readonly list: Effect.Effect<ReadonlyArray<Event>, NotFound, Caller>
  }
>()("@delivery/server/events/Events") {
  static readonly layer = Layer.effect(Events, Effect.gen(make))
}

interface Dependencies {
  readonly baseUrl: string
  readonly repo: EventsRepo["Service"]
  readonly audience: EventAudience["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    baseUrl: (yield* Settings).baseUrl,
    repo: yield* EventsRepo,
    audience: yield* EventAudience,
    nextId: yield* NextId
  }
  const makeOne = makeEvent(dependencies)
  return Events.of({
    make: makeOne,
    record: (by, event) => Effect.flatMap(makeOne(by, event), dependencies.repo.insert),
    list: list(dependencies)
  })
}

const makeEvent = ({ nextId }: Dependencies): Events["Service"]["make"] =>
  Effect.fnUntraced(function* (by, event) {
    return {
      id: yield* nextId<EventId>(),
      workspaceId: by.workspace.id,
      kind: event.kind,
      actor: by.actor,
      subjectType: event.subject.type,
      subjectId: event.subject.id,
      subjectLabel: event.subject.label,
      subjectPath: event.subject.path,
      changes: event.changes ?? [],
      teamIds: event.teams ?? null,
      createdAt: timestamp(yield* Clock.currentTimeMillis)
    }
  })

const list = ({ audience, baseUrl, repo }: Dependencies) =>
  Effect.gen(function* () {
    const access = yield* anyRole
    const { workspace } = access
    const events = yield* repo.newest(workspace.id, yield* audience.teamsSeenBy(access), eventsPageSize)
    return events.map((event) => ({
      id: event.id,
      kind: event.kind,
      actor: event.actor,
      subject: {
        type: event.subjectType,
        id: event.subjectId,
        label: event.subjectLabel,
        url: `${baseUrl}/w/${workspace.slug}/${event.subjectPath}`
      },
      changes: event.changes,
      createdAt: event.createdAt
    }))
  })

type Field = string | boolean | null

/** The fields that differ between two states of an object, as an event shows them. */
export const changesBetween = <A extends object>(
  from: A,
  to: A,
  ...fields: ReadonlyArray<keyof A & string>
): ReadonlyArray<Change> =>
  fields
    .filter((field) => from[field] !== to[field])
    .map((field) => ({ field, from: textOf(from[field] as Field), to: textOf(to[field] as Field) }))

const textOf = (value: Field): string | null => (value === null ? null : String(value))
