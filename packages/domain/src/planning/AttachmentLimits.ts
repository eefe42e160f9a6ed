/** What attachments are limited to (docs/contract.md, Attachments). It imports nothing: pages take it, too. */

/** The largest attachment, in bytes: 25 MiB. */
export const maxAttachmentBytes = 26_214_400

/** How many attachments a ticket can have. */
export const maxAttachments = 100
