import type { CellState } from "./rows.ts"

/** What a secret is in an environment, in words. */
export const cellWords: Readonly<Record<CellState, string>> = {
  set: "has a value",
  cleared: "was cleared",
  missing: "is missing",
  none: "has no value"
}
