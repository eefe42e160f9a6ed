import { changesProcesses } from "@delivery/domain/vault/ProcessNames"

/** What becomes of values that are pasted. Pure. */

/**
 * What a paste would do to a name. `unknown`: it has a value that may not be read, which would be replaced. `refused`: no secret
 * can have this name.
 */
export type Change = "added" | "changed" | "same" | "unknown" | "refused"

/** Whether it is a change that is written. */
export const isWritten = (change: Change): boolean => change !== "same" && change !== "refused"

/** Why a secret cannot have this name; undefined where it can. */
export const refusalOf = (name: string): string | undefined => {
  if (changesProcesses(name)) return "no secret has this name: it changes which code a process runs"
  if (name === "." || name === "..") return "no secret has this name"
  return name.length > 255 ? "a name has 255 characters at most" : undefined
}

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
