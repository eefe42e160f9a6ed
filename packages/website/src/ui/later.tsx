import { type ReactNode, useDeferredValue, useSyncExternalStore } from "react"

/**
 * Parts of a page that are not needed to show it. They are loaded once it has come to rest, or when they are shown before
 * that: a dialog then opens at once, also without a network.
 */

const waiting: Array<() => Promise<unknown>> = []
let isAtRest = false

/** Browsers remember of a module that it could not be loaded. So without a network nothing is asked for. */
const online = (): Promise<unknown> =>
  navigator.onLine ? Promise.resolve() : new Promise((resolve) => addEventListener("online", resolve, { once: true }))

/** In place of a part that could not be loaded: what stands around it, and was typed there, stays. */
const Unloaded = () => (
  <p className="bg-warning-soft text-warning fixed bottom-3 left-3 z-50 rounded-md px-3 py-2" role="alert">
    A part of this page could not be loaded. Load the page again when the server answers.
  </p>
)

type Component<Props> = (props: Props) => ReactNode

type Later<Props> = Component<Props> & {
  /** Asked by the router, before it shows a screen. */
  readonly preload: () => Promise<void>
}

const Nothing = () => null
/**
 * What a module exports by default, and until it is loaded `Fallback` in its place. Once it is loaded it is shown at once: with
 * Suspense, React would wait until 300 ms have passed since any part last had its fallback shown, again for each part within a part.
 */
export const later = <Props extends object>(
  load: () => Promise<{ readonly default: Component<Props> }>,
  Fallback: Component<Props> = Nothing
): Later<Props> => {
  let loading: Promise<Component<Props>> | undefined
  let loaded: Component<Props> | undefined
  const loadOnce = () =>
    (loading ??= online()
      .then(load)
      .then(
        (module) => (loaded = module.default),
        () => (loaded = Unloaded)
      ))
  if (isAtRest) setTimeout(loadOnce)
  else waiting.push(loadOnce)
  const subscribe = (onLoaded: () => void) => {
    void loadOnce().then(onLoaded)
    return () => {}
  }
  const look = () => {
    void loadOnce()
    return loaded
  }
  const Shown = (props: Props) => {
    // Drawn piece by piece where it comes after the page: a large part would else hold up what somebody does meanwhile.
    const Drawn = useDeferredValue(useSyncExternalStore(subscribe, look)) ?? Fallback
    return <Drawn {...props} />
  }
  return Object.assign(Shown, { preload: async () => void (await loadOnce()) })
}

/** How many are asked for in one go: to ask for all of them would hold up what somebody does meanwhile. */
const together = 8

/** The page is shown, and has time for what may be needed next. */
export const loadWaiting = (): void => {
  isAtRest = true
  for (const load of waiting.splice(0, together)) void load()
  if (waiting.length > 0) setTimeout(loadWaiting)
}
