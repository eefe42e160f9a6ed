import type { Change } from "@delivery/domain/events/Event"
import type { EventKind } from "@delivery/domain/events/EventKinds"
import type { EventId, TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { NextId } from "../ids/NextId.ts"
import { ByItself } from "./ByItself.ts"
import { EventsRepo, type StoredEvent } from "./EventsRepo.ts"

/** An event to be recorded. `path` is the subject's page below the workspace's, such as `products/shop`. */
export interface NewEvent {
  readonly kind: EventKind
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

/** Writes what happened in a workspace (docs/contract.md, Events). */
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
  }
>()("@delivery/server/events/Events") {
  static readonly layer = Layer.effect(Events, Effect.gen(make))
}

function* make() {
  const { insert } = yield* EventsRepo
  const makeOne = makeEvent(yield* NextId)
  return Events.of({ make: makeOne, record: (by, event) => Effect.flatMap(makeOne(by, event), insert) })
}

const makeEvent = (nextId: NextId["Service"]): Events["Service"]["make"] =>
  Effect.fnUntraced(function* (by, event) {
    const byItself = yield* ByItself
    return {
      id: yield* nextId<EventId>(),
      workspaceId: by.workspace.id,
      kind: event.kind,
      actor: by.actor,
      subjectType: event.subject.type,
      subjectId: event.subject.id,
      subjectLabel: event.subject.label,
      subjectPath: event.subject.path,
      changes: [
        ...(event.changes ?? []),
        ...(byItself === undefined ? [] : [{ field: "by", from: null, to: byItself }])
      ],
      teamIds: event.teams ?? null,
      createdAt: timestamp(yield* Clock.currentTimeMillis)
    }
  })

type Field = string | number | boolean | null

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
