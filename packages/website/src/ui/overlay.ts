/** What is shown over the page, and asked for from anywhere in it. */
export type Overlay = "palette" | "keys" | "ticket" | "order" | undefined

/** The frame of the page says how. */
export const overlay = { show: (_: Overlay): void => undefined }

/** The place that is marked beside the one of the address: what is shown is of it, and has another address. */
export const sidebar = { mark: (_: string | undefined): void => undefined }
