import { Effect, Layer } from "effect"
import { Audit } from "../audit/Audit.ts"
import { ByItself } from "../events/ByItself.ts"
import { TicketGuards } from "../planning/TicketGuards.ts"
import { TicketsRepo } from "../planning/TicketsRepo.ts"
import { checkEvidence, checkMoving, releaseAll, tellDeleting, withAskedAt } from "./Evidence.ts"
import { EvidenceRepo } from "./EvidenceRepo.ts"
import { unmuted } from "./Mutes.ts"
import { withoutEnded } from "./MutesPorts.ts"
import { OverdueMutes } from "./OverdueMutes.ts"

/** Planning's `TicketGuards`: evidence before a ticket is completed, and the end of its mute with it. */
export const layer = Layer.effect(
  TicketGuards,
  Effect.gen(function* () {
    const dependencies = { repo: yield* EvidenceRepo, tickets: yield* TicketsRepo, audit: yield* Audit }
    const check = checkEvidence(dependencies)
    const overdue = yield* OverdueMutes
    return TicketGuards.of({
      changing: (by, change) =>
        Effect.flatMap(check(by, change), (changes) =>
          Effect.gen(function* () {
            const cases = withAskedAt(change.before, change.after)
            const guarded = yield* withoutEnded(overdue, by, { ...change.after, cases })
            // What a rule does by itself is an event alone.
            if ((yield* ByItself) === undefined) {
              for (const { changes: told, kind, subject } of guarded.events) {
                yield* dependencies.audit.record(by, { action: kind, subject, changes: told })
              }
            }
            return { ...guarded, changes }
          })
        ),
      moving: checkMoving(dependencies),
      releasing: releaseAll(dependencies),
      deleting: (by, ticket) =>
        Effect.as(tellDeleting(dependencies)(by, ticket), ticket.mute === null ? [] : [unmuted(ticket, ticket.mute)])
    })
  })
)
