/** Whether the first steps of a workspace were put away in this browser: all of them, or the passkey alone. */

export type PutAway = "steps" | "passkey"

const nameOf = (slug: string, what: PutAway): string => `delivery-first-${what}-${slug}`

export const isPutAway = (slug: string, what: PutAway): boolean => {
  try {
    return [what, "steps" as const].some((one) => localStorage.getItem(nameOf(slug, one)) !== null)
  } catch {
    return false
  }
}

export const putAway = (slug: string, what: PutAway, isAway: boolean): void => {
  try {
    if (isAway) localStorage.setItem(nameOf(slug, what), "away")
    else localStorage.removeItem(nameOf(slug, what))
  } catch {
    // A browser that stores nothing shows them again.
  }
}
