/** The workspace that was looked at last in this browser. */

const key = "delivery-workspace"

export const lastWorkspace = (): string | null => {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

export const keepWorkspace = (slug: string): void => {
  try {
    localStorage.setItem(key, slug)
  } catch {
    // A browser that stores nothing begins with the first workspace.
  }
}
