import { type ReactNode, Suspense, use } from "react"

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
 * What a module exports by default, and until it is loaded `Fallback` in its place. Once it is loaded it is shown at once: React's
 * own `lazy` would wait for a moment the first time.
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
  const Part = (props: Props) => {
    const Loaded = loaded ?? use(loadOnce())
    return <Loaded {...props} />
  }
  const Shown = (props: Props) => (
    <Suspense fallback={<Fallback {...props} />}>
      <Part {...props} />
    </Suspense>
  )
  return Object.assign(Shown, { preload: async () => void (await loadOnce()) })
}

/** The page is shown, and has time for what may be needed next. */
export const loadWaiting = (): void => {
  isAtRest = true
  for (const load of waiting.splice(0)) void load()
}
