import type { FileId, TicketId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { resolveActor } from "../access/Actors.ts"
import { storeEvent, type StoredEvent } from "../events/EventsRepo.ts"
import { pendingBlobs } from "../files/PendingBlobsRepo.ts"
import { type MemoryDatabase, MemoryStorage } from "../storage/MemoryStorage.ts"
import { type AttachmentDetails, type AttachmentRow, AttachmentsRepo, ticketAttachments } from "./AttachmentsRepo.ts"
import { findTicketInMemory } from "./TicketRefs.ts"

export const layer = Layer.effect(
  AttachmentsRepo,
  Effect.map(MemoryStorage, (memory) =>
    AttachmentsRepo.of({
      list: list(memory),
      find: find(memory),
      count: (ticketId) => memory.read((database) => ofTicket(database, ticketId).length),
      insert: insert(memory),
      isStored: (id) => memory.read((database) => database.table(ticketAttachments).get(id) !== undefined),
      delete: remove(memory)
    })
  )
)

type Memory = MemoryStorage["Service"]
type Repo = AttachmentsRepo["Service"]

const ofTicket = (database: MemoryDatabase, ticketId: TicketId): ReadonlyArray<AttachmentRow> =>
  database.table(ticketAttachments).filter((attachment) => attachment.ticketId === ticketId)

const list =
  (memory: Memory): Repo["list"] =>
  (viewer, ticketRef) =>
    memory.read((database) => {
      const ticket = findTicketInMemory(database, viewer, ticketRef)
      return (
        ticket &&
        ofTicket(database, ticket.id)
          .toSorted((a, b) => compare(a.createdAt, b.createdAt) || compare(a.id, b.id))
          .map((attachment) => detailsIn(database, attachment))
      )
    })

const find =
  (memory: Memory): Repo["find"] =>
  (viewer, ticketRef, id) =>
    memory.read((database) => {
      const ticket = findTicketInMemory(database, viewer, ticketRef)
      if (ticket === undefined) return undefined
      const attachment = database.table(ticketAttachments).get(id)
      return attachment?.ticketId === ticket.id ? detailsIn(database, attachment) : null
    })

const insert = (memory: Memory) => (attachment: AttachmentRow, event: StoredEvent) =>
  memory.write((database) =>
    Effect.sync(() => {
      const blobs = database.table(pendingBlobs)
      if (blobs.get(attachment.id) === undefined) return false
      blobs.delete(attachment.id)
      database.table(ticketAttachments).set(attachment.id, attachment)
      storeEvent(database, event)
      return true
    })
  )

const remove = (memory: Memory) => (id: FileId, event: StoredEvent) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    memory.write((database) =>
      Effect.sync(() => {
        deleteIn(database, now, database.table(ticketAttachments).get(id)!)
        storeEvent(database, event)
      })
    )
  )

/** Its blob lapses at once: what deletes lapsed uploads deletes it. */
const deleteIn = (database: MemoryDatabase, now: number, { id, ticketId, workspaceId }: AttachmentRow): void => {
  database.table(ticketAttachments).delete(id)
  database.table(pendingBlobs).set(id, { id, workspaceId, runId: ticketId, lapsesAt: timestamp(now) })
}

/** Deletes the attachments of a ticket that goes. */
export const deleteAttachmentsInMemory = (database: MemoryDatabase, now: number, ticketId: TicketId): void => {
  for (const attachment of ofTicket(database, ticketId)) deleteIn(database, now, attachment)
}

const detailsIn = (database: MemoryDatabase, attachment: AttachmentRow): AttachmentDetails => ({
  ...attachment,
  author: resolveActor(database, { kind: attachment.authorKind, id: attachment.authorId } as ActorRef)
})
