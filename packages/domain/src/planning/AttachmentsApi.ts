import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { downloadAnswers, downloadHeaders, etagHeader } from "../Downloads.ts"
import { AnswersFile, Streams } from "../Endpoint.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { Attachment, AttachmentName } from "./Attachment.ts"
import { maxAttachments } from "./AttachmentLimits.ts"
import { TicketPathRef } from "./TicketsApi.ts"

const path = `${workspacePath}/tickets/:ticket/attachments` as const
const one = `${path}/:attachment` as const
const params = { slug: WorkspaceRef, ticket: TicketPathRef }
const paramsOfOne = {
  ...params,
  attachment: PathRef.annotate({
    description: "The id of the attachment.",
    examples: ["0197a1b2-0000-7000-8000-000000000f01"]
  })
}
const archived = "The team is archived."

/** Files on tickets (docs/contract.md, Attachments). Writing requires a member. */
export class AttachmentsApi extends HttpApiGroup.make("attachments")
  .add(
    HttpApiEndpoint.get("list", path, {
      params,
      success: Schema.Struct({ attachments: Schema.Array(Attachment) }).annotate({
        identifier: "Attachments",
        description: "The attachments of a ticket, oldest first."
      }),
      error: NotFound
    }).annotateMerge(
      doc("read", "List attachments", "Lists all attachments of the ticket, oldest first. Any role may call this.")
    ),
    HttpApiEndpoint.post("upload", path, {
      params,
      query: { name: AttachmentName },
      payload: HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" }),
      success: Attachment.pipe(HttpApiSchema.status(201)),
      error: [Forbidden, NotFound, Conflict]
    })
      .annotate(Streams, true)
      .annotateMerge(
        doc(
          "write",
          "Attach a file",
          `Stores the body as a file on the ticket. Send the content type of the file: downloads will have it. A content type that is missing, malformed (RFC 9110, section 8.3.1) or longer than 255 characters becomes \`application/octet-stream\`. \`Content-Length\` is required and at most 25 MiB (400). If the body is shorter, the answer is 400 and nothing is kept. Several attachments may have the same name. A ticket has at most ${maxAttachments} (409 \`too_many_attachments\`). Returns 409 \`archived\` if the team of the ticket is archived. Texts of the ticket show it by \`![text](attachment:ID)\`. Requires the role \`member\` or higher.`,
          {
            conflicts: {
              archived,
              too_many_attachments: `The ticket has ${maxAttachments} attachments, which is the limit. Delete one first.`
            },
            responses: { 201: { description: "The file is on the ticket.", headers: etagHeader } }
          }
        )
      ),
    HttpApiEndpoint.get("download", one, {
      params: paramsOfOne,
      headers: downloadHeaders,
      success: HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" }),
      error: NotFound
    })
      .annotate(AnswersFile, true)
      .annotateMerge(
        doc(
          "read",
          "Download an attachment",
          "Returns the file with its own content type. One `Range` is answered with 206 and `Content-Range`, or with 416 if it lies beyond the end. `If-None-Match` with the current `ETag` is answered with 304. Browsers run no file (`Content-Security-Policy: sandbox; default-src 'none'`), and show only PNG, JPEG, GIF, WebP and AVIF images and video: `Content-Disposition` is `attachment` for all others. It has the name of the file. `HEAD` answers with the headers only. Any role may call this.",
          {
            responses: downloadAnswers(
              "It has the name of the file, and is `inline` for images and video.",
              "inline; filename=\"checkout.png\"; filename*=UTF-8''checkout.png"
            )
          }
        )
      ),
    HttpApiEndpoint.delete("delete", one, {
      params: paramsOfOne,
      success: HttpApiSchema.NoContent.annotate({ description: "Deleted." }),
      error: [Forbidden, NotFound, Conflict]
    }).annotateMerge(
      doc(
        "write",
        "Delete an attachment",
        "Deletes the file, for good. Texts that show it have its name in its place. Returns 409 `archived` if the team of the ticket is archived. Only who attached it, the creator of the ticket, the person whose agent was either, an admin or an owner can delete an attachment (403 `not_author`).",
        { conflicts: { archived } }
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(OpenApi.annotations({ title: "Attachments", description: "Files on tickets." })) {}
