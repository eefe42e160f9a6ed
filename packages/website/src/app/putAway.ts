/** Whether the first steps of a workspace were put away in this browser. */

const nameOf = (slug: string): string => `delivery-first-steps-${slug}`

export const isPutAway = (slug: string): boolean => {
  try {
    return localStorage.getItem(nameOf(slug)) !== null
  } catch {
    return false
  }
}

export const putAway = (slug: string, isAway: boolean): void => {
  try {
    if (isAway) localStorage.setItem(nameOf(slug), "away")
    else localStorage.removeItem(nameOf(slug))
  } catch {
    // A browser that stores nothing shows them again.
  }
}
