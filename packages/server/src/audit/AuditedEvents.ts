import { Context, Effect, Layer } from "effect"
import { Events, type NewEvent } from "../events/Events.ts"
import { Audit, type AuditedBy, type NewAuditEntry } from "./Audit.ts"

/** An event that is an entry of the audit too. */
export type AuditedEvent = NewEvent & { readonly kind: NewAuditEntry["action"] }

/**
 * Events that are entries of the audit too: whatever happens to credentials, members and roles is recorded here, once, so
 * that neither is forgotten. The action of the entry is the kind of the event.
 */
export class AuditedEvents extends Context.Service<
  AuditedEvents,
  {
    /** Stores a new event and its entry, which may tell more of it. Called in the transaction of the change. */
    readonly record: (
      by: AuditedBy,
      event: AuditedEvent,
      more?: Pick<NewAuditEntry, "changes" | "credential">
    ) => Effect.Effect<void>
  }
>()("@delivery/server/audit/AuditedEvents") {
  static readonly layer = Layer.effect(
    AuditedEvents,
    Effect.gen(function* () {
      const events = yield* Events
      const audit = yield* Audit
      return AuditedEvents.of({
        record: (by, event, { changes = [], ...more } = {}) =>
          Effect.andThen(
            events.record(by, event),
            audit.record(by, {
              action: event.kind,
              subject: event.subject,
              changes: [...(event.changes ?? []), ...changes],
              ...more
            })
          )
      })
    })
  )
}
