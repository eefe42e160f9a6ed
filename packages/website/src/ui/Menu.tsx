import { type ReactNode, type RefObject, useDeferredValue, useRef, useState } from "react"
import type { IconName } from "./Icon.tsx"
import { later } from "./later.tsx"

/** A menu of what can be done or chosen. Its popup is loaded when the pointer or the keyboard comes near. */

export interface MenuItem {
  readonly label: string
  readonly icon?: IconName | undefined
  readonly shortcut?: string | undefined
  readonly hint?: string | undefined
  readonly isDangerous?: boolean
  /** Of a choice: whether it is the chosen one. Its items are then radio items. */
  readonly isChosen?: boolean
  /** Of one that holds or not, beside others: whether it does. The menu stays open. */
  readonly isChecked?: boolean
  readonly onSelect: () => void
}

export interface MenuGroup {
  readonly label?: string
  /** Its menu has a field that finds items by what their names contain. */
  readonly isSearched?: boolean
  readonly items: ReadonlyArray<MenuItem>
}

const Popup = later(() => import("./MenuPopup.tsx"))

/** What the button of a menu must have. */
export interface TriggerProps {
  readonly ref: (element: HTMLElement | null) => void
  readonly "aria-haspopup": "menu"
  readonly "aria-expanded": boolean
  readonly onClick: () => void
  readonly onFocus: () => void
  readonly onPointerEnter: () => void
}

/** What the popup of a menu is told. */
export interface OpenMenu {
  readonly anchor: RefObject<HTMLElement | null>
  readonly isOpen: boolean
  readonly onOpenChange: (isOpen: boolean) => void
  readonly side: "bottom" | "top" | "right"
}

interface ButtonProps {
  readonly side?: OpenMenu["side"]
  readonly menu: (open: OpenMenu) => ReactNode
  readonly trigger: (props: TriggerProps) => ReactNode
}

/** A button with a popup of its own. */
export const MenuButton = ({ menu, side = "bottom", trigger }: ButtonProps) => {
  const [state, setState] = useState<"never" | "closed" | "open">("never")
  // The button answers at once, and the popup follows; it closes at once, before what takes the keyboard next.
  const deferred = useDeferredValue(state)
  const anchor = useRef<HTMLElement | null>(null)
  return (
    <>
      {trigger({
        ref: (element) => {
          anchor.current = element
        },
        "aria-haspopup": "menu",
        "aria-expanded": state === "open",
        onClick: () => setState((current) => (current === "open" ? "closed" : "open")),
        onFocus: Popup.preload,
        onPointerEnter: Popup.preload
      })}
      {deferred !== "never" &&
        menu({
          anchor,
          isOpen: state === "open" && deferred === "open",
          onOpenChange: (isOpen) => setState(isOpen ? "open" : "closed"),
          side
        })}
    </>
  )
}

interface Props extends Omit<ButtonProps, "menu"> {
  readonly label: string
  readonly groups: ReadonlyArray<MenuGroup>
}

export const Menu = ({ groups, label, ...rest }: Props) => (
  <MenuButton {...rest} menu={(open) => <Popup {...open} groups={groups} label={label} />} />
)
