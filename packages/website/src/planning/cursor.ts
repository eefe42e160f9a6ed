/** The ticket that the keyboard was at, for each entry of the history of this page: whoever comes back is there again. */

const cursors = new Map<unknown, string>()

/** The router's name of the entry. */
const entry = (): unknown => (history.state as { readonly __TSR_key?: unknown } | null)?.__TSR_key

export const cursorHere = (): string | undefined => cursors.get(entry())

export const keepCursor = (id: string): void => void cursors.set(entry(), id)
