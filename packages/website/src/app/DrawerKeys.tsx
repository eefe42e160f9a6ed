import { type RefObject, useEffect } from "react"

interface Props {
  readonly drawer: RefObject<HTMLElement | null>
  readonly onClose: () => void
}

/** What is beside the drawer is dark. The drawer has the keyboard while it is open, Escape closes it, and what had the keyboard before gets it back. */
const DrawerKeys = ({ drawer, onClose }: Props) => {
  useEffect(() => {
    const before = document.activeElement
    const { current } = drawer
    current?.querySelector<HTMLElement>("button, a")?.focus()
    const close = (event: KeyboardEvent) => event.key === "Escape" && onClose()
    document.addEventListener("keydown", close)
    return () => {
      document.removeEventListener("keydown", close)
      // Unless the keyboard has gone on to another screen.
      const { activeElement } = document
      const isLost = activeElement === document.body || current?.contains(activeElement) === true
      if (isLost && before instanceof HTMLElement) before.focus()
    }
  }, [drawer, onClose])
  return <div aria-hidden="true" className="fixed inset-0 z-20 bg-[oklch(0_0_0/0.45)] md:hidden" onClick={onClose} />
}

export default DrawerKeys
