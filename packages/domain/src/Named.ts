/** Whether a slug or an id names this product, environment or workspace (docs/contract.md, References). */
export const isNamed = ({ id, slug }: { readonly id: string; readonly slug: string }, named: string): boolean =>
  slug === named || id === named
