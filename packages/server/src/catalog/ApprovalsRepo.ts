import type { ApprovalState } from "@delivery/domain/catalog/Approval"
import type { EnvironmentRef } from "@delivery/domain/catalog/Environment"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { ApprovalId, EnvironmentId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { instant, integer, nullable, type Row, table, text, uuid, uuids } from "../storage/Table.ts"

/** The approvals that were asked for. What became of one is decided when it is read: `stateOf`. */
export const approvals = table("approvals", {
  id: uuid<ApprovalId>(),
  workspaceId: uuid<WorkspaceId>(),
  environmentId: uuid<EnvironmentId>(),
  reason: text(),
  minutes: integer(),
  requestedByKind: text<ActorRef["kind"]>(),
  requestedById: uuid<ActorRef["id"]>(),
  /** The persons behind who asked, who may not approve: themselves, or who made the key, and the keys that it was made with. */
  requesterPersons: uuids<PersonId>(),
  /** The credential that it was asked for with, without which it counts no more. */
  requesterCredentialId: uuid(),
  requestedAt: instant(),
  /** Null until somebody decides. */
  decision: nullable(text<"approved" | "rejected">()),
  decidedByKind: nullable(text<ActorRef["kind"]>()),
  decidedById: nullable(uuid<PersonId>()),
  /** The credential that it was decided with, without which it counts no more. */
  deciderCredentialId: nullable(uuid()),
  decidedAt: nullable(instant()),
  decisionReason: nullable(text()),
  /** Until when it may be decided; of an approved one, until when it counts. */
  expiresAt: instant(),
  /** Who withdrew or ended it. */
  endedByKind: nullable(text<ActorRef["kind"]>()),
  endedById: nullable(uuid<ActorRef["id"]>()),
  endedAt: nullable(instant())
})

export type ApprovalRow = Row<typeof approvals>

/** An approval as it is at a time. */
export interface FoundApproval extends ApprovalRow {
  readonly state: ApprovalState
  readonly environment: Omit<EnvironmentRef, "archived"> & { readonly archivedAt: Timestamp | null }
  readonly requestedBy: Actor
  readonly decidedBy: Actor | null
  readonly endedBy: Actor | null
}

/** A time, and by which times sessions must have begun and been seen last that last then. */
export interface Moment {
  readonly now: Timestamp
  readonly beganAfter: Timestamp
  readonly seenAfter: Timestamp
}

/** Which approvals of a workspace. */
export interface ApprovalFilter {
  readonly environmentId?: EnvironmentId | undefined
  readonly state?: ApprovalState | undefined
  /** Only those that are older than this one. */
  readonly cursor?: string | undefined
}

/** Stores approvals. */
export class ApprovalsRepo extends Context.Service<
  ApprovalsRepo,
  {
    readonly insert: (approval: ApprovalRow) => Effect.Effect<void>
    /** Stores what somebody decided, or that somebody ended it. The transaction has it locked. */
    readonly update: (approval: ApprovalRow) => Effect.Effect<void>
    readonly find: (workspaceId: WorkspaceId, id: string, at: Moment) => Effect.Effect<FoundApproval | undefined>
    /** The same, locked until the transaction ends. Whoever writes with it holds it (`hold`). */
    readonly lock: (workspaceId: WorkspaceId, id: string, at: Moment) => Effect.Effect<FoundApproval | undefined>
    /** Newest first. */
    readonly list: (
      workspaceId: WorkspaceId,
      filter: ApprovalFilter,
      at: Moment,
      limit: number
    ) => Effect.Effect<ReadonlyArray<FoundApproval>>
    /** Whether the actor has one in this environment that is pending. */
    readonly hasPending: (environmentId: EnvironmentId, actor: ActorRef, at: Moment) => Effect.Effect<boolean>
    /**
     * The approvals with which the actor may write in these environments. They count until the transaction ends: whoever ends
     * one waits. Called after the environments and secrets were locked.
     */
    readonly hold: (
      environments: ReadonlyArray<EnvironmentId>,
      actor: ActorRef,
      at: Moment
    ) => Effect.Effect<ReadonlyArray<Pick<ApprovalRow, "id" | "environmentId">>>
    /** The persons behind an actor: of a key, who made it, and who made the keys that it was made with. */
    readonly personsBehind: (actor: ActorRef) => Effect.Effect<ReadonlyArray<PersonId>>
  }
>()("@delivery/server/catalog/ApprovalsRepo") {}
