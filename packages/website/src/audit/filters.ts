/** The filters of the audit, as they stand in the address. */

export interface AuditFilters {
  readonly action?: string
  /** The id of a person, an agent, a key or a token. */
  readonly actor?: string
  readonly outcome?: "allowed" | "refused"
  /** The id of what something was done to. */
  readonly subject?: string
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= 200 ? value : undefined

/** Reads them from whatever stands there: what is none is left out. */
export const readAuditFilters = (search: Readonly<Record<string, unknown>>): AuditFilters => {
  const [action, actor, subject] = [textOf(search["action"]), textOf(search["actor"]), textOf(search["subject"])]
  const outcome = (["allowed", "refused"] as const).find((one) => one === search["outcome"])
  return {
    ...(action === undefined ? {} : { action }),
    ...(actor === undefined ? {} : { actor }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(subject === undefined ? {} : { subject })
  }
}

export const isFiltered = (filters: AuditFilters): boolean => Object.keys(filters).length > 0
