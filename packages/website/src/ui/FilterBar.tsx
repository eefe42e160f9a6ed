import { type ReactNode, useId, useState } from "react"
import { buttonClass } from "./Button.tsx"
import { Icon } from "./Icon.tsx"

/** Filters as words in a row; on narrow screens one button shows them, and counts those that are set. */

interface ToggleProps {
  /** What it shows. */
  readonly controls: string
  readonly count: number
  readonly isOpen: boolean
  readonly onToggle: () => void
}

export const FilterToggle = ({ controls, count, isOpen, onToggle }: ToggleProps) => (
  <button
    aria-controls={controls}
    aria-expanded={isOpen}
    className={`${buttonClass(count === 0 ? "quiet" : "plain")} md:hidden`}
    onClick={onToggle}
    type="button"
  >
    Filter
    {count > 0 && <span className="text-accent tabular">{count}</span>}
    <Icon name="chevronDown" size={12} />
  </button>
)

/** What the filters stand in that the button shows. */
export const foldedClass = (isOpen: boolean) =>
  `gap-1 max-md:order-1 max-md:basis-full max-md:flex-wrap md:contents ${isOpen ? "flex" : "hidden"}`

interface Props {
  readonly label: string
  /** How many are set. */
  readonly count: number
  readonly children: ReactNode
  /** The field that finds by words, which stays in view. */
  readonly search?: ReactNode
  /** What stays in view behind the filters. */
  readonly end?: ReactNode
}

export const FilterBar = ({ children, count, end, label, search }: Props) => {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <search aria-label={label} className="border-border flex flex-wrap items-center gap-1 border-b px-3 py-1.5">
      <div className="contents max-md:*:min-w-24 max-md:*:basis-24">{search}</div>
      <FilterToggle controls={id} count={count} isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />
      <div className={foldedClass(isOpen)} id={id}>
        {children}
      </div>
      {end}
    </search>
  )
}
