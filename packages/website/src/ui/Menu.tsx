import { lazy, type ReactNode, Suspense, useRef, useState } from "react"
import type { IconName } from "./Icon.tsx"

/** A menu of what can be done or chosen. Its popup is loaded when the pointer or the keyboard comes near. */

export interface MenuItem {
  readonly label: string
  readonly icon?: IconName | undefined
  readonly shortcut?: string | undefined
  readonly hint?: string | undefined
  readonly isDangerous?: boolean
  /** Of a choice: whether it is the chosen one. Its items are then radio items. */
  readonly isChosen?: boolean
  readonly onSelect: () => void
}

export interface MenuGroup {
  readonly label?: string
  readonly items: ReadonlyArray<MenuItem>
}

const load = () => import("./MenuPopup.tsx")
const Popup = lazy(load)

/** What the button of a menu must have. */
export interface TriggerProps {
  readonly ref: (element: HTMLElement | null) => void
  readonly "aria-haspopup": "menu"
  readonly "aria-expanded": boolean
  readonly onClick: () => void
  readonly onFocus: () => void
  readonly onPointerEnter: () => void
}

interface Props {
  readonly label: string
  readonly groups: ReadonlyArray<MenuGroup>
  readonly side?: "bottom" | "top" | "right"
  readonly trigger: (props: TriggerProps) => ReactNode
}

export const Menu = ({ groups, label, side = "bottom", trigger }: Props) => {
  const [state, setState] = useState<"never" | "closed" | "open">("never")
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
        onFocus: load,
        onPointerEnter: load
      })}
      {state !== "never" && (
        <Suspense fallback={null}>
          <Popup
            anchor={anchor}
            groups={groups}
            isOpen={state === "open"}
            label={label}
            onOpenChange={(isOpen) => setState(isOpen ? "open" : "closed")}
            side={side}
          />
        </Suspense>
      )}
    </>
  )
}
