import { useLayoutEffect } from "react"

/** Keys of the page: single ones, `g r` one after the other, `Mod+k` with ⌘ or Ctrl. */

export interface Key {
  readonly keys: string
  /** What it does, for the list of keys. */
  readonly label: string
  /** Where it works, such as "Runs". */
  readonly group: string
  /** What it is done to, such as `ENG-12`: the palette says so. */
  readonly about?: string
  readonly run: () => void
}

/** The group of the keys that work unless what is shown takes them for itself. */
export const everywhere = "Everywhere"

const registered = new Set<Key>()

/** All keys that work now. */
export const currentKeys = (): ReadonlyArray<Key> => [...registered]

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

/** A key as people read it: `⌘ K` or `Ctrl K`. */
export const shownKeys = (keys: string): string =>
  keys === " "
    ? "Space"
    : keys
        .replace("Mod+", isApple ? "⌘ " : "Ctrl ")
        .replace(/(?<= |^)k$/, isApple || !keys.includes("Mod") ? "$&" : "K")

/** A slider or a checkbox takes no letters and digits. */
const takesText = (target: HTMLElement): boolean =>
  !(target instanceof HTMLInputElement && ["range", "checkbox", "radio"].includes(target.type))

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  takesText(target) &&
  (target.isContentEditable ||
    /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    target.closest("[role=menu],[role=listbox]") !== null)

/** Space presses what has the keyboard. */
const isPressing = ({ key, target }: KeyboardEvent): boolean =>
  key === " " && target instanceof HTMLElement && target.closest("button, summary, video, audio, [role=tab]") !== null

/** What is typed while the part that takes it comes: its keys are nobody else's. */
let held: string | undefined

export const holdKeys = (): void => {
  held = ""
}

export const takeHeldKeys = (): string => {
  const taken = held ?? ""
  held = undefined
  return taken
}

let first: { readonly key: string; readonly at: number } | undefined
const sequenceMillis = 1_200

const nameOf = (event: KeyboardEvent): string =>
  event.metaKey || event.ctrlKey ? `Mod+${event.key.toLowerCase()}` : event.key

const onKeyDown = (event: KeyboardEvent): void => {
  if (event.defaultPrevented || event.altKey || event.isComposing) return
  const name = nameOf(event)
  if (held !== undefined && name.length === 1) {
    held += name
    return event.preventDefault()
  }
  // What was typed is undone by the field that it was typed into.
  const isCombined = name.startsWith("Mod+") && name !== "Mod+z"
  if (
    !isCombined &&
    (isTyping(event.target) ||
      isPressing(event) ||
      document.querySelector("[role=dialog]:not([aria-modal=false])") !== null)
  )
    return
  const sequence =
    first !== undefined && event.timeStamp - first.at < sequenceMillis ? `${first.key} ${name}` : undefined
  const all = [...registered].toReversed()
  const named = (asked: string | undefined) => {
    const those = all.filter(({ keys }) => keys === asked)
    return those.find(({ group }) => group !== everywhere) ?? those[0]
  }
  const found = named(sequence) ?? named(name)
  first = undefined
  if (found !== undefined) {
    event.preventDefault()
    return found.run()
  }
  if (all.some(({ keys }) => keys.startsWith(`${name} `))) first = { key: name, at: event.timeStamp }
}

let listeners = 0

/** Keys that work while the component is shown. Later ones win, and those of everywhere lose. */
export const useKeys = (keys: ReadonlyArray<Key>): void => {
  // In the commit that shows the component: whoever sees it can press its keys.
  useLayoutEffect(() => {
    if (listeners++ === 0) document.addEventListener("keydown", onKeyDown)
    for (const key of keys) registered.add(key)
    return () => {
      for (const key of keys) registered.delete(key)
      if (--listeners === 0) document.removeEventListener("keydown", onKeyDown)
    }
  })
}
