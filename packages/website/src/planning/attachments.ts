import type { Attachment } from "@delivery/domain/planning/Attachment"

/** Where the files on a ticket are, and how texts refer to them. Pure. */

/** The address of the files of a ticket. */
export const attachmentsUrl = (slug: string, ticket: string): string =>
  `/v1/workspaces/${encodeURIComponent(slug)}/tickets/${encodeURIComponent(ticket)}/attachments`

/** The address of a file, which the browser opens or shows by itself. */
export const attachmentUrl = (slug: string, ticket: string, id: string): string =>
  `${attachmentsUrl(slug, ticket)}/${encodeURIComponent(id)}`

/** Whether the service lets a browser show it as a picture. */
export const isPicture = ({ contentType }: Pick<Attachment, "contentType">): boolean =>
  /^image\/(?:avif|gif|jpeg|png|webp)[\t ]*(?:;|$)/i.test(contentType)

/** What stands for a file in Markdown: a picture, or a link. */
export const referenceTo = (attachment: Pick<Attachment, "contentType" | "id" | "name">): string =>
  `${isPicture(attachment) ? "!" : ""}[${attachment.name.replaceAll(/[\\`*_~[\]<>&!|]/g, "\\$&")}](attachment:${attachment.id})`

/** The text with a reference at the caret, apart from what stands around it: a picture has a line of its own. */
export const withReference = (
  text: string,
  caret: number,
  attachment: Pick<Attachment, "contentType" | "id" | "name">
): { readonly text: string; readonly caret: number } => {
  const [before, after] = [text.slice(0, caret), text.slice(caret)]
  const isOwnLine = isPicture(attachment)
  const start = before === "" || before.endsWith("\n") ? "" : isOwnLine ? "\n" : /\s$/.test(before) ? "" : " "
  const end = isOwnLine ? (after.startsWith("\n") ? "" : "\n") : /^\s/.test(after) ? "" : " "
  const inserted = start + referenceTo(attachment) + end
  return { text: before + inserted + after, caret: caret + inserted.length + (end === "" ? 1 : 0) }
}
