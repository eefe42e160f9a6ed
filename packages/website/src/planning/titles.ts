/** How long the title of a ticket may be: its field takes no more. */
export const mostTitle = 200

/** Said where the field has taken all that it takes. */
export const titleIsFull = `A title has at most ${mostTitle} letters: what you type or paste behind them is left out.`
