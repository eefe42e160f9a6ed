/** The order in which environments stand everywhere: by name, with production last. Pure. */
export const environmentOrder = (
  a: { readonly class: string; readonly name: string },
  b: { readonly class: string; readonly name: string }
): number => Number(a.class === "production") - Number(b.class === "production") || a.name.localeCompare(b.name)
