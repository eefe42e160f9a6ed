import { Conflict, Forbidden, type InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { FileId } from "@delivery/domain/Ids"
import type { Attachment } from "@delivery/domain/planning/Attachment"
import { maxAttachmentBytes, maxAttachments } from "@delivery/domain/planning/AttachmentLimits"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer, type Stream } from "effect"
import { type Access, type ActorRef, anyRole, atLeast } from "../access/Access.ts"
import { Events } from "../events/Events.ts"
import { FileStore } from "../files/FileStore.ts"
import { Uploads } from "../files/Uploads.ts"
import { contentDisposition } from "../http/ContentDisposition.ts"
import type { OpenFile } from "../http/Downloads.ts"
import { declaredSize, ofSize, storableType } from "../http/UploadedBody.ts"
import { NextId } from "../ids/NextId.ts"
import { Storage } from "../storage/Storage.ts"
import { type AttachmentDetails, type AttachmentRow, AttachmentsRepo, blobOf } from "./AttachmentsRepo.ts"
import { about } from "./TicketEvents.ts"
import { isAnswerableFor } from "./TicketRules.ts"
import { type TicketDetails, TicketsRepo } from "./TicketsRepo.ts"
import { onTicket } from "./TicketTransactions.ts"
import { viewerOf } from "./Viewer.ts"

export interface AttachmentUpload<E> {
  readonly ticket: string
  readonly name: string
  /** As the request's header says it; what is no media type becomes the default. */
  readonly contentType: string | undefined
  /** As the request's header says it. */
  readonly contentLength: string | undefined
  /** Its chunks are taken over and must not be used again. A failure is an upload that was broken off. */
  readonly body: Stream.Stream<Uint8Array, E>
}

type Refused = NotFound | Forbidden | Conflict

/** Files on tickets (docs/contract.md, Attachments). */
export class Attachments extends Context.Service<
  Attachments,
  {
    readonly list: (ticket: string) => Effect.Effect<ReadonlyArray<Attachment>, NotFound, Caller>
    /**
     * Stores a file on a ticket. It is there for good once this succeeds; after a failure or an interruption nothing of it is
     * left.
     */
    readonly upload: <E>(upload: AttachmentUpload<E>) => Effect.Effect<Attachment, InvalidInput | Refused, Caller>
    readonly open: (ticket: string, attachment: string) => Effect.Effect<OpenFile, NotFound, Caller>
    readonly delete: (ticket: string, attachment: string) => Effect.Effect<void, Refused, Caller>
  }
>()("@delivery/server/planning/Attachments") {
  static readonly layer = Layer.effect(Attachments, Effect.gen(make))
}

interface Dependencies {
  readonly repo: AttachmentsRepo["Service"]
  readonly tickets: TicketsRepo["Service"]
  readonly storage: Storage["Service"]
  readonly store: FileStore["Service"]
  readonly uploads: Uploads["Service"]
  readonly events: Events["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* AttachmentsRepo,
    tickets: yield* TicketsRepo,
    storage: yield* Storage,
    store: yield* FileStore,
    uploads: yield* Uploads,
    events: yield* Events,
    nextId: yield* NextId
  }
  return Attachments.of({
    list: list(dependencies),
    upload: upload(dependencies),
    open: open(dependencies),
    delete: remove(dependencies)
  })
}

const list = ({ repo }: Dependencies) =>
  Effect.fn("Attachments.list")(function* (ticketRef: string) {
    const access = yield* anyRole
    const attachments = yield* repo.list(viewerOf(access), ticketRef)
    return attachments === undefined ? yield* NotFound.of("ticket", ticketRef) : attachments.map(present)
  })

const upload = (dependencies: Dependencies) => {
  const { nextId, repo, uploads } = dependencies
  const change = onTicket(dependencies)
  const add = insertOn(dependencies)
  return Effect.fn("Attachments.upload")(function* <E>(upload: AttachmentUpload<E>) {
    const size = yield* declaredSize(upload.contentLength, maxAttachmentBytes)
    const by = yield* atLeast("member")
    // What can be refused is refused before the body is read.
    const ticketId = yield* change(by, upload.ticket, (ticket, isArchived) =>
      Effect.as(checkRoom(dependencies, ticket, isArchived), ticket.id)
    )
    const id = yield* nextId<FileId>()
    const ids = { id, workspaceId: by.workspace.id, ticketId }
    return yield* uploads.store({
      blob: blobOf(ids),
      body: ofSize(upload.body, size),
      size,
      commit: (sha256) =>
        add(by, {
          ...ids,
          name: upload.name,
          size,
          contentType: storableType(upload.contentType),
          sha256,
          authorKind: by.actor.kind,
          authorId: by.actor.id
        }),
      isStored: repo.isStored(id)
    })
  })
}

/** Makes an attachment visible, if its ticket is still there and still has room for it. */
const insertOn = (dependencies: Dependencies) => {
  const { events, repo, tickets } = dependencies
  const change = onTicket(dependencies)
  return (by: Access, stored: Omit<AttachmentRow, "createdAt">) =>
    change(
      by,
      stored.ticketId,
      Effect.fnUntraced(function* (ticket, isArchived) {
        yield* tickets.lock(ticket.id)
        yield* checkRoom(dependencies, ticket, isArchived)
        const row = { ...stored, createdAt: timestamp(yield* Clock.currentTimeMillis) }
        const changes = [{ field: "attachment", from: null, to: row.name }]
        const event = yield* events.make(by, { kind: "attachment_added", ...about(ticket), changes })
        if (!(yield* repo.insert(row, event))) {
          return yield* Effect.die(new Error("The upload was not renewed in time."))
        }
        return present((yield* repo.find(viewerOf(by), ticket.id, row.id))!)
      })
    )
}

/** Whether a ticket may have one more attachment. */
const checkRoom = Effect.fnUntraced(function* ({ repo }: Dependencies, ticket: TicketDetails, isArchived: boolean) {
  if (isArchived) return yield* Conflict.archived("team")
  if ((yield* repo.count(ticket.id)) >= maxAttachments) {
    return yield* new Conflict({
      message: `The ticket has ${maxAttachments} attachments, which is the limit. Delete one first.`,
      reason: "too_many_attachments"
    })
  }
})

const open = (dependencies: Dependencies) => {
  const { store } = dependencies
  const find = findOn(dependencies)
  return Effect.fn("Attachments.open")(function* (ticketRef: string, id: string) {
    const attachment = yield* find(yield* anyRole, ticketRef, id)
    const { contentType, createdAt, name, sha256, size } = attachment
    return {
      file: { contentType, createdAt, sha256, size },
      etag: `"${sha256}"`,
      disposition: contentDisposition(shown.test(contentType) ? "inline" : "attachment", name),
      read: (offset: number, length: number) => store.read(blobOf(attachment), { offset, length })
    }
  })
}

/**
 * Types that a browser may show in its window. Others are harmless, too, but few: whoever opens an attachment expects a picture, or a
 * file to save. A comma would let a browser read another type.
 */
const shown = /^(?:image\/(?:avif|gif|jpeg|png|webp)|video\/[\w.-]+)[\t ]*(?:;[^,]*)?$/i

const remove = (dependencies: Dependencies) => {
  const { events, repo, tickets, uploads } = dependencies
  const change = onTicket(dependencies)
  const find = findOn(dependencies)
  return Effect.fn("Attachments.delete")(function* (ticketRef: string, id: string) {
    const by = yield* atLeast("member")
    const gone = yield* change(
      by,
      ticketRef,
      Effect.fnUntraced(function* (ticket, isArchived) {
        yield* tickets.lock(ticket.id)
        const attachment = yield* find(by, ticket.id, id)
        const mayDelete =
          isAnswerableFor(by, authorOf(attachment), attachment.author) ||
          isAnswerableFor(by, ticket.creator, ticket.createdBy)
        if (!mayDelete) {
          return yield* new Forbidden({
            message:
              "Only who attached a file, the creator of its ticket, or an admin or owner of the workspace, can delete it.",
            reason: "not_author"
          })
        }
        if (isArchived) return yield* Conflict.archived("team")
        const changes = [{ field: "attachment", from: attachment.name, to: null }]
        yield* repo.delete(
          attachment.id,
          yield* events.make(by, { kind: "attachment_deleted", ...about(ticket), changes })
        )
        return attachment
      })
    )
    yield* uploads.discard(blobOf(gone))
  })
}

/** The attachment that a path names. */
const findOn = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (access: Access, ticketRef: string, id: string) {
    // An id of nothing stands for a text that is none, so that the ticket is looked for first.
    const found = yield* repo.find(viewerOf(access), ticketRef, isId(id) ? (id as FileId) : nothing)
    if (found === undefined) return yield* NotFound.of("ticket", ticketRef)
    return found ?? (yield* NotFound.of("attachment", id))
  })

const nothing = "00000000-0000-0000-0000-000000000000" as FileId

const authorOf = ({ authorId, authorKind }: AttachmentRow): ActorRef => ({ kind: authorKind, id: authorId }) as ActorRef

const present = (attachment: AttachmentDetails): Attachment => ({
  id: attachment.id,
  name: attachment.name,
  size: attachment.size,
  contentType: attachment.contentType,
  sha256: attachment.sha256,
  createdBy: attachment.author,
  createdAt: attachment.createdAt
})
