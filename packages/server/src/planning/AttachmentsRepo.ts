import type { Actor } from "@delivery/domain/identity/Actor"
import type { FileId, TicketId, WorkspaceId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { ActorRef } from "../access/Access.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import type { WorkspaceBlob } from "../files/PendingBlobsRepo.ts"
import { instant, integer, type Row, table, text, uuid } from "../storage/Table.ts"
import type { Viewer } from "./Viewer.ts"

/** The files on tickets. The id of one is that of its blob, whose owner is the ticket. */
export const ticketAttachments = table("ticket_attachments", {
  id: uuid<FileId>(),
  workspaceId: uuid<WorkspaceId>(),
  ticketId: uuid<TicketId>(),
  name: text(),
  size: integer(),
  contentType: text(),
  sha256: text(),
  authorKind: text<ActorRef["kind"]>(),
  authorId: uuid<ActorRef["id"]>(),
  createdAt: instant()
})

export type AttachmentRow = Row<typeof ticketAttachments>

/** An attachment with the name of who attached it. */
export interface AttachmentDetails extends AttachmentRow {
  readonly author: Actor
}

/**
 * Stores the files on tickets. A blob is visible once an attachment has it, and pending before (`PendingBlobsRepo`). Those of
 * attachments that are gone, also with their ticket, are pending and lapsed.
 */
export class AttachmentsRepo extends Context.Service<
  AttachmentsRepo,
  {
    /** Oldest first; undefined where the viewer sees no such ticket. */
    readonly list: (viewer: Viewer, ticketRef: string) => Effect.Effect<ReadonlyArray<AttachmentDetails> | undefined>
    /** Undefined where the viewer sees no such ticket, null where it has no such attachment. */
    readonly find: (
      viewer: Viewer,
      ticketRef: string,
      id: FileId
    ) => Effect.Effect<AttachmentDetails | null | undefined>
    /** How many the ticket has. Who holds its lock is the only one who adds any. */
    readonly count: (ticketId: TicketId) => Effect.Effect<number>
    /** Makes the attachment visible and its blob no longer pending. False where the blob had lapsed and is gone. */
    readonly insert: (attachment: AttachmentRow, event: StoredEvent) => Effect.Effect<boolean>
    /** Whether an attachment has the blob. */
    readonly isStored: (id: FileId) => Effect.Effect<boolean>
    readonly delete: (id: FileId, event: StoredEvent) => Effect.Effect<void>
  }
>()("@delivery/server/planning/AttachmentsRepo") {}

export const blobOf = ({
  id,
  ticketId,
  workspaceId
}: Pick<AttachmentRow, "id" | "ticketId" | "workspaceId">): WorkspaceBlob => ({ id, ownerId: ticketId, workspaceId })
