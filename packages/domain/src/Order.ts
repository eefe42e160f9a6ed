const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" })

/**
 * The one order "by name" of the service (docs/contract.md, Conventions): by the collator, then by code units, then by id.
 * It is computed here and not in SQL, so that every storage gives the same order.
 */
export const byName = (a: { readonly name: string; readonly id: string }, b: typeof a): number =>
  collator.compare(a.name, b.name) || compare(a.name, b.name) || compare(a.id, b.id)

/** Code unit order. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
