import type { ReactNode } from "react"
import { visible } from "./format.ts"

/** A thing with a name, a line about it, some facts and what can be done: a row of a list that wraps on narrow screens. */

interface Props {
  readonly name: ReactNode
  readonly badges?: ReactNode
  readonly detail?: ReactNode
  readonly isFaded?: boolean
  /** Facts, in cells. */
  readonly children?: ReactNode
  readonly actions?: ReactNode
}

const shown = (text: ReactNode): ReactNode => (typeof text === "string" ? visible(text) : text)

export const Item = ({ actions, badges, children, detail, isFaded = false, name }: Props) => (
  <li className="border-border flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-1.5">
    <span className="min-w-40 flex-1 max-md:basis-full">
      <span className="flex items-center gap-2">
        <span className={`foreign min-w-0 truncate font-medium ${isFaded ? "text-muted" : ""}`}>{shown(name)}</span>
        {badges}
      </span>
      {detail !== undefined && <span className="text-muted foreign block truncate text-xs">{shown(detail)}</span>}
    </span>
    {children}
    {actions !== undefined && (
      <span className="-mr-2.5 ml-auto flex items-center justify-end gap-1 md:min-w-36">{actions}</span>
    )}
  </li>
)

const widths = { narrow: "md:w-28", usual: "md:w-36", wide: "md:w-60" }

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
    className={`foreign max-w-full min-w-0 truncate ${widths[width]} ${tone === "warning" ? "text-warning" : "text-muted"}`}
  >
    {typeof children === "string" ? visible(children) : children}
  </span>
)
