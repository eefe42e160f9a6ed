/** The team that was chosen last for a ticket in this browser. */

const nameOf = (slug: string): string => `delivery-team-${slug}`

export const lastTeam = (slug: string): string | null => {
  try {
    return localStorage.getItem(nameOf(slug))
  } catch {
    return null
  }
}

export const keepTeam = (slug: string, team: string): void => {
  try {
    localStorage.setItem(nameOf(slug), team)
  } catch {
    // A browser that stores nothing asks each time.
  }
}
