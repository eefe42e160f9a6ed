import { Schema } from "effect"
import { Actor } from "../identity/Actor.ts"
import { FileId, PersonId } from "../Ids.ts"
import { atLeast, atMost, isVisible, undocumented } from "../Text.ts"
import { Timestamp } from "../Timestamp.ts"

/** The name of a file, as its owner has it: it is shown and offered, and names nothing on a disk. */
export const AttachmentName = Schema.String.check(
  Schema.isPattern(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u, {
    message: "Expected a name on one line, without control characters",
    toJsonSchema: undocumented
  }),
  atLeast(1),
  atMost(255),
  isVisible
).annotate({
  description: "The name of the file: 1 to 255 characters on one line.",
  examples: ["checkout.png"]
})

/** A file on a ticket (docs/contract.md, Attachments). */
export const Attachment = Schema.Struct({
  id: FileId.annotate({ description: "The id of the attachment, by which texts refer to it: `attachment:ID`." }),
  name: Schema.String.annotate({ description: "The name of the file." }),
  size: Schema.Int.annotate({ description: "The size in bytes." }),
  contentType: Schema.String.annotate({
    description: "The content type of the upload; `application/octet-stream` if it was missing or malformed."
  }),
  sha256: Schema.String.annotate({ description: "The SHA-256 of the content, in hexadecimal." }),
  /** Who attached it. */
  createdBy: Actor,
  createdAt: Timestamp
}).annotate({
  identifier: "Attachment",
  description: "A file on a ticket.",
  examples: [
    {
      id: FileId.make("0197a1b2-0000-7000-8000-000000000f01"),
      name: "checkout.png",
      size: 48_213,
      contentType: "image/png",
      sha256: "a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447",
      createdBy: {
        kind: "user",
        id: PersonId.make("0197a1b2-0000-7000-8000-000000000001"),
        name: "Ana Diaz",
        email: "ana@example.com"
      },
      createdAt: "2026-11-21T10:00:00.000Z"
    }
  ]
})
export type Attachment = typeof Attachment.Type
