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
/** Beside the names of its places, lists would have less room than on a window on which it is a drawer. */
const tight = matchMedia("(width < 64rem)")

/** What was chosen here. */
const read = (): Partial<Looks> => {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<Looks>
  } catch {
    return {}
  }
}

let chosen = read()
let looks: Looks
const listeners = new Set<() => void>()

const apply = (): void => {
  looks = { theme: "system", density: "default", isSidebarCollapsed: tight.matches, ...chosen }
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
  chosen = { ...chosen, ...change }
  try {
    localStorage.setItem(key, JSON.stringify(chosen))
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
    chosen = read()
    changed()
  })
  tight.addEventListener("change", changed)
}
