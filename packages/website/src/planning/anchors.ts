/** Parts of the page of a ticket that an address leads to. Pure. */

/** Of something that was said, by its id: what stands behind the `#`. */
export const anchorOf = (id: string): string => `said-${id}`

/** The id of the reply to a message. */
export const replyId = (message: string): string => `${message}-reply`
