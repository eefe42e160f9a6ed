import { useRouterState } from "@tanstack/react-router"
import { type ReactNode, useEffect, useRef } from "react"
import { anchorOf } from "./anchors.ts"

/** What one does with a page oneself: from then on it stays where one has it. */
const acts = ["wheel", "touchmove", "pointerdown", "keydown"] as const

/** Keeps an element in view while what stands above it still comes. Answers what ends that. */
const holdInView = (element: HTMLElement): (() => void) => {
  const gone = new AbortController()
  const show = () => element.scrollIntoView({ block: "center" })
  const size = new ResizeObserver(show)
  for (let one = element.parentElement; one !== null && one.id !== "screen"; one = one.parentElement) size.observe(one)
  gone.signal.addEventListener("abort", () => size.disconnect())
  for (const act of acts) {
    addEventListener(act, () => gone.abort(), { capture: true, passive: true, signal: gone.signal })
  }
  show()
  element.focus({ preventScroll: true })
  return () => gone.abort()
}

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
  useEffect(() => (isMeant && element.current !== null ? holdInView(element.current) : undefined), [isMeant])
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
