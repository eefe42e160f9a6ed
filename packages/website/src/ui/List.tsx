import { type ReactNode, useRef } from "react"
import { useKeys } from "./keys.ts"

/** A list whose rows differ in height, which the keyboard walks: `j` and `k` move from row to row, Enter opens the row. */

interface Props {
  readonly label: string
  /** What a row is, for the list of keys. */
  readonly noun: string
  readonly isOrdered?: boolean
  /** Elements `li`. */
  readonly children: ReactNode
}

export const List = ({ children, isOrdered = false, label, noun }: Props) => {
  const list = useRef<HTMLElement>(null)
  const rows = () => [...(list.current?.children ?? [])].filter((row) => row instanceof HTMLElement)
  const current = () => rows().findIndex((row) => row.contains(document.activeElement))
  const move = (step: 1 | -1) => {
    const all = rows()
    const row = all[Math.max(0, Math.min(all.length - 1, current() + step))]
    if (row === undefined) return
    row.tabIndex = -1
    row.focus()
    row.scrollIntoView({ block: "nearest" })
  }
  const open = () => {
    const { activeElement } = document
    if (!(activeElement instanceof HTMLElement)) return
    // What else has the keyboard does its own.
    if (!rows().includes(activeElement)) return activeElement.click()
    const within = (selector: string) => activeElement.querySelector<HTMLElement>(selector)
    ;(within("[aria-expanded]") ?? within("a, button"))?.click()
  }
  useKeys([
    { keys: "j", label: `Next ${noun}`, group: "List", run: () => move(1) },
    { keys: "k", label: `Previous ${noun}`, group: "List", run: () => move(-1) },
    { keys: "Enter", label: `Open the ${noun}`, group: "List", run: open }
  ])
  const Element = isOrdered ? "ol" : "ul"
  return (
    <Element
      aria-label={label}
      className="*:-outline-offset-2"
      ref={(element) => {
        list.current = element
      }}
    >
      {children}
    </Element>
  )
}
