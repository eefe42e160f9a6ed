import type { Conflict, Forbidden } from "@delivery/domain/Errors"
import type { Change } from "@delivery/domain/events/Event"
import type { ProjectId, TeamId, TicketStatusId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { Access } from "../access/Access.ts"
import type { NewEvent } from "../events/Events.ts"
import type { TicketDetails } from "./TicketsRepo.ts"

/** Whose tickets are meant. */
export type TicketsOf = { readonly projectId: ProjectId } | { readonly teamId: TeamId }

/** A ticket that is about to be stored, and what else happens with it. */
export interface GuardedTicket {
  readonly ticket: TicketDetails
  readonly events: ReadonlyArray<NewEvent>
  /** What its own event says beside the fields that were changed. */
  readonly changes: ReadonlyArray<Change>
}

/**
 * What a change of a ticket does to what depends on the ticket (docs/contract.md, Muting). The room `flow` supplies it.
 */
export class TicketGuards extends Context.Service<
  TicketGuards,
  {
    /**
     * Called in the transaction that stores a ticket, new or changed, which holds it. Answers what to store.
     *
     * @param change.before Undefined for a new ticket.
     * @param change.override Why the ticket is completed without evidence.
     */
    readonly changing: (
      by: Access,
      change: {
        readonly before: TicketDetails | undefined
        readonly after: TicketDetails
        readonly override: string | undefined
      }
    ) => Effect.Effect<GuardedTicket, Conflict>
    /**
     * Called in the transaction that moves all tickets of a status to another, with the team held: fails where one of them needs evidence
     * and may not be moved so, as `changing` does of one.
     */
    readonly moving: (
      by: Access,
      status: TicketStatusId,
      target: TicketDetails["status"]
    ) => Effect.Effect<void, Conflict | Forbidden>
    /**
     * Called in the transaction that takes all tickets of a project or a team from what they block, with that held: fails where one of
     * them needs evidence and it is no person who does so. Tells of each what has changed.
     */
    readonly releasing: (by: Access, from: TicketsOf, change: Change) => Effect.Effect<void, Forbidden>
    /** Called in the transaction that deletes a ticket, which holds it. Answers what else has happened. */
    readonly deleting: (by: Access, ticket: TicketDetails) => Effect.Effect<ReadonlyArray<NewEvent>>
  }
>()("@delivery/server/planning/TicketGuards") {}
