/** A text without the colours of a terminal. */
export const withoutColours = (text: string): string => text.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, "")
