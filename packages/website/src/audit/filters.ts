import { type Address, oneAt, withoutUndefined, textAt } from "../ui/address.ts"

/** The filters of the audit, as they stand in the address. */

export interface AuditFilters {
  readonly action?: string
  /** The id of a person, an agent, a key or a token. */
  readonly actor?: string
  readonly outcome?: "allowed" | "refused"
  /** The id of what something was done to. */
  readonly subject?: string
}

/** Reads them from whatever stands there: what is none is left out. */
export const readAuditFilters = (address: Address): AuditFilters =>
  withoutUndefined({
    action: textAt(address, "action"),
    actor: textAt(address, "actor"),
    outcome: oneAt(address, "outcome", ["allowed", "refused"]),
    subject: textAt(address, "subject")
  })

export const isFiltered = (filters: AuditFilters): boolean => Object.keys(filters).length > 0
