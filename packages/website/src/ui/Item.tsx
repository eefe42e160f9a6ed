import { type ReactNode, useEffect, useRef } from "react"

/** A thing with a name, a line about it, some facts and what can be done: a row of a list that wraps on narrow screens. */

interface Props {
  readonly name: ReactNode
  readonly badges?: ReactNode
  readonly detail?: ReactNode
  readonly isFaded?: boolean
  /** Facts, in cells. */
  readonly children?: ReactNode
  readonly actions?: ReactNode
  /** More about it, below the row. */
  readonly more?: ReactNode
}

/** When the row goes that has the keyboard, also by a dialog of it, the one in its place gets it. */
const useFocusKept = () => {
  const row = useRef<HTMLLIElement>(null)
  const hasFocus = useRef(false)
  useEffect(() => {
    const { current } = row
    const list = current?.parentElement
    return () => {
      if (!hasFocus.current || current === null) return
      const place = list === null || list === undefined ? -1 : [...list.children].indexOf(current)
      // By then the row is gone, and its dialog has given the keyboard back to nobody.
      setTimeout(() => {
        if (document.activeElement !== null && document.activeElement !== document.body) return
        const next = list?.isConnected === true ? (list.children[place] ?? list.lastElementChild) : null
        const button = next?.querySelector<HTMLElement>("button, a")
        ;(button ?? document.querySelector<HTMLElement>("#screen"))?.focus()
      }, 0)
    }
  }, [])
  return {
    ref: row,
    onFocus: () => {
      hasFocus.current = true
    },
    onBlur: () => {
      hasFocus.current = false
    }
  }
}

export const Item = ({ actions, badges, children, detail, isFaded = false, more, name }: Props) => (
  <li
    {...useFocusKept()}
    className="border-border flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-1.5"
  >
    <span className="min-w-40 flex-1 max-lg:basis-full">
      <span className="flex items-center gap-2">
        <span className={`foreign min-w-0 truncate font-medium ${isFaded ? "text-muted" : ""}`}>{name}</span>
        {badges}
      </span>
      {detail !== undefined && <span className="text-muted foreign block truncate text-xs">{detail}</span>}
    </span>
    {children}
    {actions !== undefined && (
      <span className="-mr-2.5 ml-auto flex items-center justify-end gap-1 lg:min-w-36">{actions}</span>
    )}
    {more !== undefined && <div className="basis-full">{more}</div>}
  </li>
)

const widths = { narrow: "lg:w-28", usual: "lg:w-36", wide: "lg:w-60" }

/** A fact of a row. On wide screens those of all rows stand below each other. */
export const Cell = ({
  children,
  tone = "muted",
  width = "usual"
}: {
  readonly children: ReactNode
  readonly tone?: "muted" | "warning"
  readonly width?: keyof typeof widths
}) => (
  <span
    className={`foreign max-w-full min-w-0 truncate max-lg:empty:hidden ${widths[width]} ${tone === "warning" ? "text-warning" : "text-muted"}`}
  >
    {children}
  </span>
)
