import { useRouterState } from "@tanstack/react-router"
import { type ReactNode, useEffect, useRef } from "react"
import { anchorOf } from "./anchors.ts"
import { holdInView } from "./holdInView.ts"

interface Props {
  readonly id: string
  readonly label: string
  readonly isSunken?: boolean
  readonly children: ReactNode
}

/** Something that was said about a ticket. The address may lead to it: then it is in view, and stands out. */
export const SaidItem = ({ children, id, isSunken = false, label }: Props) => {
  const anchor = anchorOf(id)
  const isMeant = useRouterState({ select: ({ location }) => location.hash === anchor })
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (!isMeant || element.current === null) return undefined
    const end = holdInView(element.current, "center")
    element.current.focus({ preventScroll: true })
    return end
  }, [isMeant])
  const look = isMeant ? "bg-selected shadow-[inset_3px_0_var(--accent)]" : isSunken ? "bg-sunken" : ""
  return (
    <li
      aria-current={isMeant || undefined}
      aria-label={label}
      className={`border-border border-b px-4 py-3 outline-none ${look}`}
      id={anchor}
      ref={element}
      tabIndex={-1}
    >
      {children}
    </li>
  )
}
