import type { ListedMute } from "@delivery/domain/flow/Mute"
import type { ProductId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { OwnerRef, StoredMute } from "../planning/TicketsRepo.ts"
import type { Viewer } from "../planning/Viewer.ts"

/** What a ticket mutes that is in force: the ticket is open, its owner is there, and `until` is to come. */
export interface FoundMute {
  readonly ticketId: TicketId
  readonly mute: StoredMute
}

/** A ticket with its workspace. */
export interface MutingTicket {
  readonly id: TicketId
  readonly workspaceId: WorkspaceId
}

/** An open ticket about tests. */
export interface TicketAbout {
  readonly id: TicketId
  readonly identifier: string
  readonly title: string
  readonly caseIds: ReadonlyArray<string>
}

/** What an open ticket mutes, or has muted until a time that has passed. */
export interface FoundListedMute {
  readonly productId: ProductId
  readonly product: string
  readonly cases: ReadonlyArray<string>
  readonly until: Timestamp
  /** Null where the viewer does not see it. */
  readonly ticket: ListedMute["ticket"]
}

/** Finds what tickets mute, and what they are about. The tickets themselves are planning's. */
export class MutesRepo extends Context.Service<
  MutesRepo,
  {
    /** What is in force at `now`, in no order. */
    readonly ofProduct: (
      workspaceId: WorkspaceId,
      productId: ProductId,
      now: Timestamp
    ) => Effect.Effect<ReadonlyArray<FoundMute>>
    /** How many tests other open tickets mute, also past their time; one that two of them mute counts twice. */
    readonly countOthers: (workspaceId: WorkspaceId, productId: ProductId, except: TicketId) => Effect.Effect<number>
    /** What is in force at `now` or overdue, of the product or of all; what ended or ends first at the front. */
    readonly list: (
      viewer: Viewer,
      product: ProductId | undefined,
      now: Timestamp
    ) => Effect.Effect<ReadonlyArray<FoundListedMute>>
    /** Tickets, of any workspace, of which a mute is stored that is no longer in force; at most `limit`. */
    readonly over: (now: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<MutingTicket>>
    /** Whether the mute of the ticket is in force at `now`. */
    readonly isInForce: (ticket: TicketId, now: Timestamp) => Effect.Effect<boolean>
    /** The tickets of the owners that mute something. */
    readonly ofOwners: (
      workspaceId: WorkspaceId,
      owners: ReadonlyArray<OwnerRef>
    ) => Effect.Effect<ReadonlyArray<MutingTicket>>
    /** The identifiers of those of the tickets that the viewer sees. */
    readonly identifiers: (
      viewer: Viewer,
      tickets: ReadonlyArray<TicketId>
    ) => Effect.Effect<ReadonlyMap<TicketId, string>>
    /** The open tickets that the viewer sees about one of the cases, oldest first. */
    readonly about: (
      viewer: Viewer,
      productId: ProductId,
      caseIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<TicketAbout>>
  }
>()("@delivery/server/flow/MutesRepo") {}
