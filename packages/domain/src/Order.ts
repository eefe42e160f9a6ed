const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" })

/**
 * The one order "by name" of the service (docs/contract.md, Conventions): the collator, then code units, then id, so that every
 * storage gives the same total order.
 */
export const byName = (a: { readonly name: string; readonly id: string }, b: typeof a): number =>
  collator.compare(a.name, b.name) || compare(a.name, b.name) || compare(a.id, b.id)

/** Code unit order. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
