import { type ComponentType, lazy, type LazyExoticComponent } from "react"

/**
 * Parts of a page that are not needed to show it. They are loaded once it has come to rest, or when they are shown before
 * that: a dialog then opens at once, also without a network.
 */

const waiting: Array<() => Promise<unknown>> = []
let isAtRest = false

/** Browsers remember of a module that it could not be loaded. So without a network nothing is asked for. */
const online = (): Promise<unknown> =>
  navigator.onLine ? Promise.resolve() : new Promise((resolve) => addEventListener("online", resolve, { once: true }))

const loadEarly = (load: () => Promise<unknown>): void => {
  // Whoever shows it says what is wrong.
  load().catch(() => {})
}

/** What a module exports by default. */
export const later = <Props>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>
): LazyExoticComponent<ComponentType<Props>> => {
  let loading: ReturnType<typeof load> | undefined
  const loadOnce = () => (loading ??= online().then(load))
  if (isAtRest) setTimeout(loadEarly, 0, loadOnce)
  else waiting.push(loadOnce)
  return lazy(loadOnce)
}

/** The page is shown, and has time for what may be needed next. */
export const loadWaiting = (): void => {
  isAtRest = true
  waiting.splice(0).forEach(loadEarly)
}
