/** The time zone that times are shown and typed in: that of the browser. */
export const inYourTime = (): string => `in your time (${new Intl.DateTimeFormat().resolvedOptions().timeZone})`
