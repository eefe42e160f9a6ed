/** Whether a text has all words that were typed, in any order, whatever the case. */
export const matches = (typed: string, text: string): boolean => {
  const lower = text.toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word))
}
