/** What becomes of values that are pasted. Pure. */

/** What a paste would do to a name. `unknown`: it has a value that may not be read, which would be replaced. */
export type Change = "added" | "changed" | "same" | "unknown"

/** What is there now: the value where it may be read, whether there is one, and its version. */
export interface Present {
  readonly hasValue: boolean
  readonly value: string | null
  readonly version: number
}

export const changeOf = (next: string, present: Present | undefined): Change => {
  if (present === undefined || !present.hasValue) return "added"
  if (present.value === null) return "unknown"
  return present.value === next ? "same" : "changed"
}
