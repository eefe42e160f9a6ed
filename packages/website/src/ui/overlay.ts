/** What is shown over the page, and asked for from anywhere in it. */
export type Overlay = "palette" | "keys" | "ticket" | undefined

/** The frame of the page says how. */
export const overlay = { show: (_: Overlay): void => undefined }
