import { Tooltip } from "@base-ui/react/tooltip"
import { useEffect, useState } from "react"
import { Kbd } from "./Kbd.tsx"

/**
 * The tooltips of all elements with `data-tip`, `Collapse the sidebar|[`: what it is, and its key. They show what the
 * name of the element says anyway, so a screen reader misses nothing.
 */
const Tips = () => {
  const [anchor, setAnchor] = useState<HTMLElement>()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const find = ({ target }: Event) => (target instanceof Element ? target.closest<HTMLElement>("[data-tip]") : null)
    const show = (event: Event) => {
      clearTimeout(timer)
      const found = find(event)
      if (found === null) return setAnchor(undefined)
      if (event.type === "focusin" && !found.matches(":focus-visible")) return
      timer = setTimeout(() => setAnchor(found), event.type === "focusin" ? 0 : 400)
    }
    const hide = () => {
      clearTimeout(timer)
      setAnchor(undefined)
    }
    const hideOnEscape = (event: KeyboardEvent) => event.key === "Escape" && hide()
    document.addEventListener("pointerover", show)
    document.addEventListener("focusin", show)
    document.addEventListener("pointerdown", hide)
    document.addEventListener("keydown", hideOnEscape)
    return () => {
      clearTimeout(timer)
      document.removeEventListener("pointerover", show)
      document.removeEventListener("focusin", show)
      document.removeEventListener("pointerdown", hide)
      document.removeEventListener("keydown", hideOnEscape)
    }
  }, [])
  const [text, keys] = (anchor?.dataset["tip"] ?? "").split("|")
  return (
    <Tooltip.Root open={anchor?.isConnected === true}>
      <Tooltip.Portal>
        <Tooltip.Positioner anchor={anchor ?? null} className="pointer-events-none z-50" side="bottom" sideOffset={6}>
          <Tooltip.Popup
            aria-hidden="true"
            className="bg-raised shadow-overlay animate-appear flex items-center gap-2 rounded-md px-2 py-1 text-xs"
          >
            {text}
            {keys !== undefined && <Kbd keys={keys} />}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}

export default Tips
