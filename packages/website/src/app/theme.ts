import { useSyncExternalStore } from "react"

/** How the page looks here: kept in this browser, and the same in all of its pages. */

export type Theme = "system" | "light" | "dark"
export type Density = "default" | "compact" | "comfortable"

interface Looks {
  readonly theme: Theme
  readonly density: Density
  readonly isSidebarCollapsed: boolean
  /** The places of the sidebar as the person ordered them, the first one last: so those that came later are behind them. */
  readonly order?: ReadonlyArray<string>
}

const key = "delivery-looks"
const standard: Looks = { theme: "system", density: "default", isSidebarCollapsed: false }

const read = (): Looks => {
  try {
    return { ...standard, ...(JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<Looks>) }
  } catch {
    return standard
  }
}

let looks = read()
const listeners = new Set<() => void>()

const apply = (): void => {
  const { dataset } = document.documentElement
  if (looks.theme === "system") delete dataset["theme"]
  else dataset["theme"] = looks.theme
  if (looks.density === "default") delete dataset["density"]
  else dataset["density"] = looks.density
}

const changed = (): void => {
  apply()
  for (const listener of listeners) listener()
}

export const setLooks = (change: Partial<Looks>): void => {
  looks = { ...looks, ...change }
  try {
    localStorage.setItem(key, JSON.stringify(looks))
  } catch {
    // A browser that stores nothing keeps it for this page.
  }
  changed()
}

export const useLooks = (): Looks =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => looks
  )

/** Before the first thing is drawn. */
export const startLooks = (): void => {
  apply()
  addEventListener("storage", (event) => {
    if (event.key !== key) return
    looks = read()
    changed()
  })
}
